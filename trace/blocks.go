package trace

import (
	"bytes"
	"io"
	"slices"
)

// blockSize is how much of a trace one worker reads at once, in bytes: it fits
// into a processor's own cache.
const blockSize = 256 << 10

// blockTail is how much is read behind a block to find the end of its last line,
// doubled as often as needed.
const blockTail = 4 << 10

// sizes are how a trace is cut into blocks, and how long a line may be, in bytes.
type sizes struct {
	block int64
	line  int
}

func usualSizes() sizes { return sizes{blockSize, MaxLine} }

// A block is a part of a trace that consists of whole lines.
type block struct {
	offset, end int64
	line        int // lines of the trace before it
}

// A textLines gives the lines of a text in memory.
type textLines struct {
	name   string
	text   []byte
	at     int
	offset int64 // of the text in the trace
	number int   // lines before
}

// read returns the next line that is not blank, or io.EOF.
func (t *textLines) read() (line, error) {
	for t.at < len(t.text) {
		rest := t.text[t.at:]
		n, br := bytes.IndexByte(rest, '\n'), 1
		if n < 0 {
			n, br = len(rest), 0
		}
		t.number++
		ln := line{text: rest[:n], offset: t.offset + int64(t.at), number: t.number, ended: br > 0}
		t.at += n + br
		if keep, err := ln.trim(t.name); keep || err != nil {
			return ln, err
		}
	}
	return line{}, io.EOF
}

// A blockReader reads blocks, one after the other, into one buffer.
type blockReader struct {
	src   *source
	limit int // of a line, in bytes
	buf   []byte
}

// read returns a block's lines, valid until the next block is read.
func (r *blockReader) read(b block) (textLines, error) {
	r.grow(0, int(b.end-b.offset))
	_, err := r.src.fill(r.buf, b.offset, b.end)
	return textLines{name: r.src.name, text: r.buf, offset: b.offset, number: b.line}, err
}

// find returns the lines that begin behind a line break between two offsets,
// and of the start of the trace the first one. They are numbered from 1. Beside
// an error stand the lines before it.
func (r *blockReader) find(from, to int64) (textLines, error) {
	t := textLines{name: r.src.name}
	r.grow(0, int(to-from))
	if _, err := r.src.fill(r.buf, from, r.src.size); err != nil {
		return t, err
	}
	first := 0
	if from > 0 {
		if first = bytes.IndexByte(r.buf, '\n') + 1; first == 0 {
			return t, nil // inside of a line that began before
		}
	}
	t.offset = from + int64(first)
	last, err := r.finish(from, first, bytes.LastIndexByte(r.buf, '\n')+1)
	t.text = r.buf[first:]
	if err != nil {
		t.text = r.buf[first:last]
	}
	return t, err
}

// finish reads on to the end of the line that begins at last in the buffer, which
// ends with it then. first is where the block's first line begins.
func (r *blockReader) finish(from int64, first, last int) (int, error) {
	for step := blockTail; ; step *= 2 {
		have := len(r.buf)
		room := min(int64(step), r.src.size-from-int64(have))
		if size := len(bytes.TrimSuffix(r.buf[last:], []byte{'\n'})); size > r.limit {
			before := bytes.Count(r.buf[first:last], []byte{'\n'})
			return last, tooLong(r.src.name, before+1, from+int64(last), r.limit)
		}
		if room == 0 {
			return last, nil
		}
		r.grow(have, int(room))
		if _, err := r.src.fill(r.buf[have:], from+int64(have), r.src.size); err != nil {
			return last, err
		}
		if i := bytes.IndexByte(r.buf[have:], '\n'); i >= 0 {
			if r.buf = r.buf[:have+i+1]; have+i-last <= r.limit {
				return last, nil
			}
		}
	}
}

// grow keeps the first bytes of the buffer and makes room for more.
func (r *blockReader) grow(keep, more int) {
	r.buf = slices.Grow(r.buf[:keep], more)[:keep+more]
}
