package main

import (
	"bufio"
	"fmt"
	"io"
)

// An output is standard output, buffered. Its errors say so.
type output struct{ *bufio.Writer }

func newOutput(w io.Writer) output { return output{bufio.NewWriterSize(w, 64<<10)} }

func (o output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	return n, outputError(err)
}

// Flush writes out what is buffered.
func (o output) Flush() error { return outputError(o.Writer.Flush()) }

func outputError(err error) error {
	if err != nil {
		return fmt.Errorf("standard output cannot be written: %w", err)
	}
	return nil
}
