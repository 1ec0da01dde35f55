package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/wholefile"
)

// writeTo runs fill on a file, which appears whole or not at all, or on standard
// output for "" and "-".
func writeTo(s cli.Streams, file string, fill func(w io.Writer) error) error {
	if file == "" || file == "-" {
		out := newOutput(s.Out)
		if err := fill(out); err != nil {
			out.Flush()
			return err
		}
		return out.Flush()
	}
	var set wholefile.Set
	defer removeOnSignal(s, &set)()
	return set.Write(file, func(w io.Writer) error { return compressed(w, file, fill) })
}

// compressed compresses what fill writes, as the name of the file says. The same
// text gives the same bytes.
func compressed(w io.Writer, file string, fill func(w io.Writer) error) error {
	var z io.WriteCloser
	switch filepath.Ext(file) {
	case ".gz":
		z = gzip.NewWriter(w)
	case ".zst":
		var err error
		if z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	default:
		return fill(w)
	}
	if err := fill(z); err != nil {
		return err
	}
	return z.Close()
}

// removeOnSignal sees to it that a signal leaves no half-written file behind. The
// process ends at once: a read of a terminal or a pipe could not be woken. What
// it returns puts the signals back.
func removeOnSignal(s cli.Streams, set *wholefile.Set) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case <-signals:
			set.Remove()
			fmt.Fprintln(s.Err, "anvil-trace: interrupted")
			os.Exit(cli.CodeError)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// A stdout is standard output, buffered. Its errors say so.
type stdout struct{ *bufio.Writer }

func newOutput(w io.Writer) stdout { return stdout{bufio.NewWriterSize(w, 64<<10)} }

func (o stdout) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	return n, outputError(err)
}

// Flush writes out what is buffered.
func (o stdout) Flush() error { return outputError(o.Writer.Flush()) }

func outputError(err error) error {
	if err != nil {
		return fmt.Errorf("standard output cannot be written: %w", err)
	}
	return nil
}
