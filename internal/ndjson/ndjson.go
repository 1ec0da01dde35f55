// Package ndjson reads text line by line with a bound: lines may be long, but
// never longer than the caller allows, and each knows where it stood.
package ndjson

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A Line is one line of a stream.
type Line struct {
	// Bytes is the line without its \n, valid until the next call of Next.
	Bytes  []byte
	Number int   // 1 for the first line
	Offset int64 // bytes before the line
	Ended  bool  // false for a last line that the stream's end cut off
}

// A TooLongError says that a line is longer than the reader allows. The stream
// cannot be read on.
type TooLongError struct {
	Number int   // of the line, from 1
	Offset int64 // of its first byte
	Max    int   // what is allowed, in bytes
}

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("line %d (byte %d) is longer than %d bytes", e.Number, e.Offset, e.Max)
}

const (
	readSize  = 64 << 10
	keepLarge = 1 << 20 // a spill buffer over this is not kept for the next line
)

// A Reader reads lines. It is not safe for concurrent use.
type Reader struct {
	src    *bufio.Reader
	max    int
	line   Line
	spill  []byte // a line that did not fit the read buffer
	offset int64
	err    error
}

// NewReader returns a reader of src that refuses lines longer than max bytes
// (their \n not counted).
func NewReader(src io.Reader, max int) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, readSize), max: max}
}

// Next returns the next line, blank ones too; io.EOF after the last one, a
// *[TooLongError], or the error of the stream. What was read of a line before
// another error than io.EOF is dropped. Once it fails it keeps failing.
func (r *Reader) Next() (Line, error) {
	if r.err != nil {
		return Line{}, r.err
	}
	r.line = Line{Number: r.line.Number + 1, Offset: r.offset}
	text, err := r.read()
	r.offset += int64(len(text))
	switch {
	case err == nil:
		r.line.Ended = true
		text = text[:len(text)-1]
	case errors.Is(err, io.EOF) && len(text) > 0:
		r.err = err
	default:
		r.err = err
		return Line{}, err
	}
	if len(text) > r.max {
		r.err = r.tooLong()
		return Line{}, r.err
	}
	r.line.Bytes = text
	return r.line, nil
}

func (r *Reader) tooLong() error {
	return &TooLongError{Number: r.line.Number, Offset: r.line.Offset, Max: r.max}
}

// read returns the bytes up to and with the next \n.
func (r *Reader) read() ([]byte, error) {
	part, err := r.src.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	if cap(r.spill) > keepLarge {
		r.spill = nil
	}
	r.spill = append(r.spill[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(r.spill) > r.max {
			return nil, r.tooLong()
		}
		part, err = r.src.ReadSlice('\n')
		r.spill = append(r.spill, part...)
	}
	return r.spill, err
}
