package stdio

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// tailChars is how much of the provider's stderr an error shows.
const tailChars = 2048

// A tail remembers the end of what was written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write implements io.Writer; it never fails.
func (t *tail) Write(b []byte) (int, error) {
	const keep = tailChars * utf8.UTFMax
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b[max(0, len(b)-keep):]...)
	if len(t.buf) > 4*keep {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-keep:]...)
	}
	return len(b), nil
}

// String is the last characters, without white space around them.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := len(t.buf)
	for range tailChars {
		if at == 0 {
			break
		}
		_, size := utf8.DecodeLastRune(t.buf[:at])
		at -= size
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(t.buf[at:])), "\uFFFD")
}

// firstRunes is the first n characters of a line.
func firstRunes(line []byte, n int) string {
	at := 0
	for range n {
		if at == len(line) {
			break
		}
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return strings.ToValidUTF8(string(line[:at]), "\uFFFD")
}

// A lossy writer drops everything after its receiver failed.
type lossy struct {
	to     io.Writer
	failed bool
}

func (l *lossy) Write(b []byte) (int, error) {
	if !l.failed {
		_, err := l.to.Write(b)
		l.failed = err != nil
	}
	return len(b), nil
}
