package tape

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// quotedTape has n entries of 2 KB, with doubled quotes in quotes and without; one of
// them cannot be replayed.
func quotedTape(n int) []byte {
	var b bytes.Buffer
	b.WriteString("---\nversion: 1\ninteractions:\n")
	for i := range n {
		code := 200
		if i == n/2 {
			code = 101
		}
		fmt.Fprintf(&b, "    - request:\n        url: /tickets/%d\n        method: PUT\n        body: '%s it''s %d'\n", i, long, i)
		fmt.Fprintf(&b, "      response:\n        body: |\n            %s\n\n            - request: %d\n        code: %d\n", strings.Repeat(long, 18), i, code)
	}
	return b.Bytes()
}

// saved loads what a file holds.
func saved(t *testing.T, data []byte) *Tape {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tape.yaml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// sameTape compares two tapes; a difference is worked out where there is one.
func sameTape(t *testing.T, name string, want, got *Tape) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%s: %.2000s", name, cmp.Diff(want, got))
	}
}

// A tape of several parts is what the full reader makes of it, also when the
// document ends in the middle of a part, and when the last entry is for that reader,
// after texts were decoded where they stand.
func TestLargeTapes(t *testing.T) {
	text := quotedTape(1100)
	if len(text) < 2*partSize {
		t.Fatalf("%d bytes are no tape of several parts", len(text))
	}
	for name, end := range map[string]string{
		"whole":    "",
		"ended":    "...\n    - request: [\n" + string(text[:partSize+partSize/2]),
		"anchored": "    - request: &x\n        url: /a\n      response:\n        code: 200\n        body: &y it's\n",
		"listed":   "more:\n    - a: 'it''s'\n    - b\n",
	} {
		data := append(bytes.Clone(text), end...)
		root, err := fullYAML(data)
		if err != nil {
			t.Fatal(name, err)
		}
		got := saved(t, data)
		want := &Tape{Name: got.Name}
		if err := want.readRoot(root); err != nil {
			t.Fatal(name, err)
		}
		sameTape(t, name, want, got)
		if len(got.Skipped) != 1 || got.Skipped[0].Position != 550 {
			t.Errorf("%s: skipped are %v", name, got.Skipped)
		}
	}
}

// A pipe gives its bytes once, so they stay as they are until the full reader had
// them.
func TestTapeOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		_, _ = w.WriteString("version: 1\ninteractions:\n- request:\n    url: /a\n    body: '" + long + "it''s'\n  response:\n    code: 200\n    body: &x it's\n")
	}()
	got, err := LoadFile(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Interactions) != 1 || string(got.Interactions[0].Request.Body) != long+"it's" {
		t.Errorf("the pipe is read as %+v", got.Interactions)
	}
}

// A file that became shorter is read to where it ends.
func TestReadPieces(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), partSize/4)
	data := make([]byte, len(text))
	if !readPieces(bytes.NewReader(text), data) || !bytes.Equal(data, text) {
		t.Error("the pieces are not the text")
	}
	if readPieces(bytes.NewReader(text[1:]), data) {
		t.Error("a text that is too short fills its pieces")
	}
}
