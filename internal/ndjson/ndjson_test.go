package ndjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func read(r *Reader) (lines []string, err error) {
	for {
		l, err := r.Next()
		if err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("%d@%d%v %s", l.Number, l.Offset, l.Ended, l.Bytes))
	}
}

func TestNext(t *testing.T) {
	for in, want := range map[string][]string{
		"":           nil,
		"\n":         {"1@0true "},
		"a\n\nb\r\n": {"1@0true a", "2@2true ", "3@3true b\r"},
		"a\nb":       {"1@0true a", "2@2false b"},
	} {
		for name, src := range map[string]io.Reader{
			"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "data and error": iotest.DataErrReader(strings.NewReader(in)),
		} {
			r := NewReader(src, 10)
			got, err := read(r)
			if err != io.EOF || strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%q, %s: got %q, %v, want %q", in, name, got, err, want)
			}
			if _, err := r.Next(); err != io.EOF {
				t.Errorf("%q: read on after the end: %v", in, err)
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	for _, n := range []int{readSize - 1, readSize, readSize + 1, 3 * readSize, keepLarge + 1} {
		long := strings.Repeat("x", n)
		for _, end := range []string{"", "\n", "\nshort\n"} {
			got, err := read(NewReader(strings.NewReader(long+end), n))
			if err != io.EOF || !strings.HasSuffix(got[0], " "+long) {
				t.Errorf("%d bytes: %v", n, err)
			}
			if end == "\nshort\n" && got[1] != fmt.Sprintf("2@%dtrue short", n+1) {
				t.Errorf("%d bytes: then %s", n, got[1])
			}
			_, err = read(NewReader(strings.NewReader("a\n"+long+end), n-1))
			var tooLong *TooLongError
			if !errors.As(err, &tooLong) || *tooLong != (TooLongError{Number: 2, Offset: 2, Max: n - 1}) {
				t.Errorf("%d bytes: got %v, want a TooLongError", n, err)
			}
		}
	}
}

// An endless line is refused without being kept.
func TestEndlessLine(t *testing.T) {
	r := NewReader(endless{}, 1<<20)
	if _, err := r.Next(); err == nil || err.Error() != "line 1 (byte 0) is longer than 1048576 bytes" {
		t.Errorf("got %v", err)
	}
	if cap(r.spill) > 4<<20 {
		t.Errorf("%d bytes were kept", cap(r.spill))
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, bytes.Repeat([]byte{'x'}, len(b))), nil }

func TestStreamError(t *testing.T) {
	broken := errors.New("broken")
	got, err := read(NewReader(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)), 10))
	if err != broken || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
}
