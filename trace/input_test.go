package trace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// broken gives some text, then an error.
type broken struct {
	text io.Reader
	err  error
}

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err == io.EOF {
		err = b.err
	}
	return n, err
}

func TestStreamsLargerThanMemory(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	const memory = 64 << 10
	a := call(1, "GET", "/1", `"`+strings.Repeat("x", 2*memory)+`"`) + call(2, "GET", "/2", "1")
	b := a[:len(a)-3] + "2}\n"
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := diffInputs(context.Background(), text("a", a), Input{Name: "b", Reader: bytes.NewReader(packed.Bytes())}, nil, memory)
	if err != nil || outline(r) != "changed 2>2 (shaping) changed /response 1>2\n" {
		t.Errorf("%v %s", err, outline(r))
	}
	_, err = diffInputs(context.Background(), text("a", a), Input{Name: "b", Reader: bytes.NewReader(packed.Bytes()[:packed.Len()/2])}, nil, memory)
	if err == nil || !strings.Contains(err.Error(), "b: the gzip stream is cut or damaged after") {
		t.Errorf("cut: %v", err)
	}
	gone := errors.New("connection reset")
	_, err = diffInputs(context.Background(), text("a", a), Input{Name: "b", Reader: &broken{strings.NewReader(a), gone}}, nil, memory)
	if !errors.Is(err, gone) || !strings.Contains(err.Error(), "cannot be read beyond byte") {
		t.Errorf("broken: %v", err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(temp, "none"))
	if _, err = diffInputs(context.Background(), text("a", a), text("b", a), nil, memory); err == nil || !strings.Contains(err.Error(), "needs a temporary file") {
		t.Errorf("no folder for temporary files: %v", err)
	}
}

func TestLineReaderNumbersAndOffsets(t *testing.T) {
	const data = "\xEF\xBB\xBF{\"a\":1}\r\n\n  \n{\"b\":2}\n{\"c\":3}"
	src := &source{name: "x", r: strings.NewReader(data), size: int64(len(data))}
	lines := newLineReader(src, 0, src.size, 0)
	want := []line{{[]byte(`{"a":1}`), 3, 1, true, 0}, {[]byte(`{"b":2}`), 16, 4, true, 0}, {[]byte(`{"c":3}`), 24, 5, false, 0}}
	for _, w := range want {
		got, err := lines.read()
		if err != nil || string(got.text) != string(w.text) || got.offset != w.offset || got.number != w.number || got.ended != w.ended {
			t.Errorf("got %s %+v (%v), want %s %+v", got.text, got, err, w.text, w)
		}
	}
	if _, err := lines.read(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestFileThatShrinksIsAnError(t *testing.T) {
	data := gets("/1", "/2")
	src := &source{name: "x", r: strings.NewReader(data), size: int64(len(data)) + 10}
	if _, err := scanRuns(context.Background(), src, usualSizes()); err == nil || !strings.Contains(err.Error(), "x: became shorter than") {
		t.Errorf("got %v", err)
	}
}

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"/a", []string{"/a"}, []string{"/b", "/a/b", "/aa"}},
		{"/a/*", []string{"/a/b", "/a/0", "/a/"}, []string{"/a", "/a/b/c"}},
		{"/a/**", []string{"/a", "/a/b", "/a/b/c"}, []string{"/b/a"}},
		{"/**/id", []string{"/id", "/a/id", "/a/0/id"}, []string{"/a/id/x", "/ids"}},
		{"/**/items/*/id", []string{"/items/0/id", "/a/b/items/1/id"}, []string{"/items/id", "/items/0/0/id"}},
		{"/**", []string{"/a", "/a/b"}, nil},
		{"/a~1b/c~0d", []string{"/a~1b/c~0d"}, []string{"/a/b/c~0d"}},
		{"/", []string{"/"}, []string{"/a"}},
		{"/~01", []string{"/~01"}, []string{"/~1"}},
	}
	for _, tt := range tests {
		p, err := compilePatterns("--ignore", []string{tt.pattern})
		if err != nil {
			t.Fatal(err)
		}
		match := func(path string) bool {
			s := p.start
			for seg := range strings.SplitSeq(path[1:], "/") {
				s = p.name(s, strings.NewReplacer("~1", "/", "~0", "~").Replace(seg))
			}
			return p.match(s) == 0
		}
		for _, path := range tt.yes {
			if !match(path) {
				t.Errorf("%s does not match %s", tt.pattern, path)
			}
		}
		for _, path := range tt.no {
			if match(path) {
				t.Errorf("%s matches %s", tt.pattern, path)
			}
		}
	}
}
