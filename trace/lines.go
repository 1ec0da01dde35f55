package trace

import (
	"bytes"
	"fmt"
	"io"
)

// MaxLine is the longest line that is read, in bytes: 128 MiB. A longer one is
// an error with its place.
const MaxLine = 128 << 20

// readBlock is how much is read at once, in bytes.
const readBlock = 256 << 10

// A line is one non-blank line without its line break, as it stands in the
// trace otherwise.
type line struct {
	text   []byte // valid until the next line is read
	offset int64
	number int  // 1-based
	ended  bool // by a line break; the last line of a cut file is not
	index  int  // among the calls that are compared, from 0; set where lines are paired
}

// A lineReader reads the lines of a part of a source.
type lineReader struct {
	src    *source
	next   int64 // offset of what is not read yet
	end    int64
	buf    []byte
	from   int // buf[from:to] is read and not given yet
	to     int
	number int // lines before
	limit  int
}

// newLineReader reads from offset, which begins line number+1, to end.
func newLineReader(src *source, offset, end int64, number int) *lineReader {
	return &lineReader{src: src, next: offset, end: end, number: number, limit: MaxLine}
}

// read returns the next line that is not blank, or io.EOF.
func (l *lineReader) read() (line, error) {
	for {
		ln, err := l.raw()
		if err != nil {
			return line{}, err
		}
		if keep, err := ln.trim(l.src.name); keep || err != nil {
			return ln, err
		}
	}
}

// trim takes a byte order mark and a carriage return off; a blank line is not
// kept.
func (ln *line) trim(name string) (keep bool, err error) {
	if ln.offset == 0 {
		if err := ln.startOfFile(name); err != nil {
			return false, err
		}
	}
	if n := len(ln.text); n > 0 && ln.text[n-1] == '\r' {
		ln.text = ln.text[:n-1]
	}
	return len(ln.text) > 0 && (ln.text[0] == '{' || len(bytes.Trim(ln.text, " \t\r")) > 0), nil
}

func (ln *line) startOfFile(name string) error {
	if rest, ok := bytes.CutPrefix(ln.text, []byte("\xEF\xBB\xBF")); ok {
		ln.text, ln.offset = rest, 3
	}
	if bytes.HasPrefix(ln.text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(ln.text, []byte{0xFE, 0xFF}) {
		return &InputError{Name: name, Line: 1, Msg: "the text is UTF-16, want UTF-8"}
	}
	return nil
}

// raw returns the next line, blank ones too.
func (l *lineReader) raw() (line, error) {
	searched := 0
	for {
		have := l.buf[l.from:l.to]
		if i := bytes.IndexByte(have[searched:], '\n'); i >= 0 {
			return l.give(searched+i, 1), nil
		}
		searched = len(have)
		if searched > l.limit {
			return line{}, tooLong(l.src.name, l.number+1, l.next-int64(searched), l.limit)
		}
		if l.next >= l.end {
			if searched == 0 {
				return line{}, io.EOF
			}
			return l.give(searched, 0), nil
		}
		if err := l.fill(); err != nil {
			return line{}, err
		}
	}
}

// give takes a line of n bytes and its line break of br bytes from the buffer.
func (l *lineReader) give(n, br int) line {
	l.number++
	ln := line{text: l.buf[l.from : l.from+n], offset: l.next - int64(l.to-l.from), number: l.number, ended: br > 0}
	l.from += n + br
	return ln
}

func (l *lineReader) fill() error {
	if l.from > 0 {
		l.to = copy(l.buf, l.buf[l.from:l.to])
		l.from = 0
	}
	if room := len(l.buf) - l.to; room < readBlock/4 {
		l.buf = append(l.buf[:l.to], make([]byte, max(readBlock, l.to))...)
		l.buf = l.buf[:cap(l.buf)]
	}
	want := min(int64(len(l.buf)-l.to), l.end-l.next)
	n, err := l.src.fill(l.buf[l.to:l.to+int(want)], l.next, l.end)
	l.to += n
	l.next += int64(n)
	return err
}

func tooLong(name string, number int, offset int64, limit int) error {
	return &InputError{Name: name, Line: number, Offset: offset,
		Msg: fmt.Sprintf("the line is longer than %d bytes", limit), Next: "check that the file is a trace of JSON lines"}
}

// fill reads the bytes from an offset on, of a source that is taken to be so long.
func (s *source) fill(buf []byte, offset, size int64) (n int, err error) {
	n, err = s.r.ReadAt(buf, offset)
	if n == len(buf) {
		return n, nil
	}
	if err == io.EOF || err == nil {
		return n, &InputError{Name: s.name, Msg: fmt.Sprintf("became shorter than %d bytes while it was read", size), Next: "compare it when nothing writes it"}
	}
	return n, &InputError{Name: s.name, Msg: fmt.Sprintf("cannot be read at byte %d", offset+int64(n)), Err: err}
}
