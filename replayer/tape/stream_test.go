package tape

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/google/go-cmp/cmp"
)

// streamed compares what is read entry by entry with what the full reader makes of
// the same bytes, when the first reads them.
func streamed(t *testing.T, data []byte) (read bool) {
	t.Helper()
	quick := &Tape{Name: "t"}
	before := bytes.Clone(data)
	ok, wrote := quick.stream(data, false)
	if wrote || !bytes.Equal(before, data) {
		t.Fatal("the data was changed")
	}
	over(t, quick, ok, data)
	if !ok {
		if diff := cmp.Diff(&Tape{Name: "t"}, quick); diff != "" {
			t.Fatalf("a reader that gave up left something: %s", diff)
		}
		return false
	}
	root, err := fullYAML(data)
	if err != nil {
		t.Fatalf("read what the full reader refuses: %v\n%.300q", err, data)
	}
	full := &Tape{Name: "t"}
	if err := full.readRoot(root); err != nil {
		t.Fatalf("read what the full reader refuses: %v\n%.300q", err, data)
	}
	sameTape(t, fmt.Sprintf("%.300q", data), full, quick)
	return true
}

// over compares what is read in one go with what is read where it stands, whole and
// with each entry as a part of its own.
func over(t *testing.T, want *Tape, ok bool, data []byte) {
	t.Helper()
	for _, size := range []int{partSize, 0} {
		own := bytes.Clone(data)
		s := stream{f: newFast(own), tape: Tape{Name: "t"}, own: true, size: size}
		read := s.root() && s.f.over()
		if !s.f.wrote && !bytes.Equal(own, data) {
			t.Fatalf("the data was changed and nobody was told\n%.300q", data)
		}
		// Cut so small, a list behind the entries looks as if it were theirs.
		if read && !ok || !read && ok && size > 0 {
			t.Fatalf("read %v in parts of %d, want %v\n%.300q", read, size, ok, data)
		}
		if read {
			sameTape(t, fmt.Sprintf("in parts of %d: %.300q", size, data), want, &s.tape)
		}
	}
}

func TestStreamAgrees(t *testing.T) {
	files, err := filepath.Glob("../testdata/real/*/*.y*ml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	read := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if streamed(t, data) {
			read++
		} else {
			t.Logf("left to the full reader: %s", file)
		}
	}
	if read < len(files)-6 {
		t.Errorf("%d of %d are read entry by entry", read, len(files))
	}
}

const entry = "- request:\n    body: ''\n    headers: {}\n    url: /a\n    method: GET\n  response:\n    body: x\n    headers:\n      A:\n      - b\n    code: 200\n"

func TestStreamOnCorners(t *testing.T) {
	for text, want := range map[string]bool{
		"version: 1\ninteractions:\n" + entry:                                                                              true,
		"version: 2\nmore:\n  a: 1\ninteractions:\n" + entry + entry + "rest: 1\n":                                         true,
		"interactions:\n" + entry + "version: 1\n":                                                                         false, // the version comes too late
		"interactions:\n- request: {}\n  response: {}\n":                                                                   false,
		"version: 3\ninteractions:\n" + entry:                                                                              false,
		"version: 1\ninteractions: []\n":                                                                                   false,
		"version: 1\ninteractions:\n":                                                                                      false,
		"version: 1\ninteractions:\n" + entry + "interactions:\n" + entry:                                                  false,
		"version: 1\ninteractions:\n" + entry + "- &a x\n":                                                                 false,
		"version: 1\ninteractions:\n" + entry + "  x: 1\n":                                                                 true,
		"version: 1\ninteractions:\n" + entry + "- x\n":                                                                    false,
		"version: 1\ninteractions:\n" + entry + " - x\n":                                                                   false,
		"version: 1\ninteractions:\n" + entry + "...\nversion: [\n":                                                        true,
		"http_interactions:\n" + entry + "recorded_with: VCR 6\n":                                                          true,
		"interactions:\n- request:\n    uri: /a\n    method: GET\n  response:\n    status:\n      code: 200\nversion: 1\n": true,
		"version: 1\ninteractions:\n- request:\n    uri: /a\n    method: GET\n  response:\n    status:\n      code: 200\n": true,
	} {
		if got := streamed(t, []byte(text)); got != want {
			t.Errorf("%v, want %v: %q", got, want, text)
		}
	}
}

// long is longer than what is kept as a word.
var long = strings.Repeat("a long text, ", 8)

func FuzzStream(f *testing.F) {
	f.Add([]byte("version: 1\ninteractions:\n" + entry + entry))
	f.Add([]byte("---\nversion: 2\ninteractions:\n- request:\n    url: /a\n    body: !!binary |\n      AAEC\n      AwQ=\n    headers:\n      X: 'it''s\n\n        two'\n  response:\n    code: 200\n    body: \"a\\\n      \\ b\\u00e9\"\n"))
	f.Add([]byte("http_interactions:\n- request:\n    method: get\n    uri: http://a/b\n    body:\n      encoding: UTF-8\n      string: ''\n  response:\n    status:\n      code: 200\n      message: OK\n    body:\n      base64_string: |\n        AAEC\nrecorded_with: VCR\n"))
	f.Add([]byte("interactions:\n- request:\n    body: null\n    uri: http://a/b\n    method: GET\n  response:\n    body:\n      string: |-\n        a\n\n         b\n    status:\n      code: 200\n      message: OK\n"))
	for _, body := range []string{
		"'" + long + "''s and ''s'", "'" + long + "\n\n\n      it''s folded \n      twice'", "\"" + long + "\\\"\\u00e9\\\n      \\  \\U0001F451\\x80\"", long + "\n      and\n\n      more",
		"|\n      " + long + "\n\n        deeper\n\n", "|+\n\n      " + long + "\n\n", "|-\n      " + long, "|", "|+", "'" + long + "\t''", "'" + long + "''\r\n      x'",
	} {
		odd := "- request:\n    url: /a\n  response:\n    code: 200\n    body: " + body + "\n"
		f.Add([]byte("version: 1\ninteractions:\n" + odd + odd + odd + "...\nrest"))
		f.Add([]byte("\xEF\xBB\xBFversion: 1\ninteractions:\n" + odd + entry + odd + "more:\n- a\n- b\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) { streamed(t, data) })
}

// Bodies of every kind come through go-vcr's own writer, the fast reader and the
// full one alike.
func TestBodiesThatGoVCRWrites(t *testing.T) {
	long := bytes.Repeat([]byte("word 'quoted' \"twice\" "), 400)
	bodies := []string{
		"", " ", "x", "true", "12", "null", "~", "- a", "a: b", "#", "'", `"`, "it's", "a\nb", "a\n\n\nb\n\n", " a\n  b\n", "\ttab", "a\r\nb", "é 👑\u2028", "\x00\xff", "{\"a\": 1}\n", "...", "---",
		string(long), string(long) + "\n", " " + string(long), string(bytes.ReplaceAll(long, []byte(" "), []byte("\n"))), string(bytes.Repeat([]byte{0, 255, 7}, 3000)), "a\\b \\n " + string(long) + "\x07",
	}
	c := cassette.New(filepath.Join(t.TempDir(), "tape"))
	for _, body := range bodies {
		c.AddInteraction(&cassette.Interaction{Request: cassette.Request{URL: "/a", Method: "POST", Body: body}, Response: cassette.Response{Code: 200, Body: body}})
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	got, err := LoadFile(c.File)
	if err != nil || len(got.Interactions) != len(bodies) {
		t.Fatal(len(got.Interactions), err)
	}
	for i, it := range got.Interactions {
		if string(it.Request.Body) != bodies[i] || string(it.Response.Body) != bodies[i] {
			t.Errorf("%.80q is read as %.80q", bodies[i], it.Response.Body)
		}
	}
}
