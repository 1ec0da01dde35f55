package tape

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// same compares two trees; lines count for mappings, which entries are.
func same(at string, a, b *node) string {
	switch {
	case a == nil || b == nil:
		if a != b {
			return at + ": one is missing"
		}
		return ""
	case a.kind != b.kind || a.str() != b.str() || a.tag != b.tag:
		return fmt.Sprintf("%s: kind %d tag %q %q and kind %d tag %q %q", at, a.kind, a.tag, a.str(), b.kind, b.tag, b.str())
	case a.kind == mapNode && len(a.keys) > 0 && a.line != b.line:
		return fmt.Sprintf("%s: line %d and %d", at, a.line, b.line)
	case len(a.elems) != len(b.elems) || strings.Join(a.keys, "\x00") != strings.Join(b.keys, "\x00"):
		return fmt.Sprintf("%s: keys %q and %q", at, a.keys, b.keys)
	}
	for i := range a.elems {
		if bad := same(fmt.Sprintf("%s/%d", at, i), a.elems[i], b.elems[i]); bad != "" {
			return bad
		}
	}
	return ""
}

// check compares the fast reader with the full one, when the fast one reads.
func check(t *testing.T, data []byte) (read bool) {
	t.Helper()
	quick, ok := fastYAML(data)
	if !ok {
		return false
	}
	full, err := fullYAML(data)
	if err != nil {
		t.Fatalf("the fast reader reads what the full one refuses: %v\n%.300q", err, data)
	}
	if full == nil {
		full = &node{}
	}
	if bad := same("", quick, full); bad != "" {
		t.Fatalf("%s\n%.300q", bad, data)
	}
	return true
}

func TestFastReaderAgrees(t *testing.T) {
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
		if check(t, data) {
			read++
		} else {
			t.Logf("left to the full reader: %s", file)
		}
	}
	if read < len(files)-4 {
		t.Errorf("the fast reader read %d of %d", read, len(files))
	}
}

func TestFastReaderOnCorners(t *testing.T) {
	for _, text := range []string{
		"a: |\n  x\n\n\n  y\n\n\nb: 1\n", "a: |-\n  x\n\nb: 1\n", "a: |+\n  x\n\n\nb: 1\n", "a: |2-\n    x\n   y\nb:\n", "a: |\nb: 1\n", "a: |\n\n  x\nb: 1\n",
		"a: 'x\n\n\n  y\n\n  '\nb: ''\n", "a: 'it''s\n  ''here'\n", "a: \"x\\n\\\n  \\ y\\u00e9 \\x41 \\U0001F451  \n   z\"\n", "a: \"\"\n", "a: \"tail \\\n   x\"\n",
		"a: x y\n  z\n\n  w\nb: 1\n", "a:\n- x\n- y\nb:\n  - c: 1\n    d:\n      - 2\n", "a:\n  - - x\n", "a: {}\nb: []\nc: null\nd: ~\ne:\n", "a: 5\nb: true\nc: 0777\n",
		"- a: 1\n  b: 2\n-\n  a: 3\n- x\n", "a: !!binary |\n  AAEC\n  AwQ=\nb: !binary |-\n  AA==\n", "a: !!binary AAEC\n", "'a': 1\n\"b\": 2\n", "a: http://x/y?z=1\n",
		"a: -1\nb: -x\n", "a:   spaced   \n", "---\na: 1\n", "a: 1\n...\n", "# c\na: 1\n", "a: 1 # c\n", "a: [1, 2]\n", "a: &x 1\nb: *x\n", "a: >\n  x\n  y\n", "a: b: c\n",
		"", "\n\n", "a", "- a\n -b\n", "a:\n   b: 1\n  c: 2\n", "a: |\n  x", "a: |-\n  x", "a: |\n   \n  x\n", "a: x\n\n", "y: 1\nn: 2\n", "a: 'x' y\n", "a: \"x\ny\"\n", "a: ''\n  b\n",
		"a: 1\n#..\nb: 2\n...\nc: 3\n", "a:\n#..\n- b\n#..\n- c\n", "a: |\n  x\n#..\nb: 1\n", "a: x\n#..\n  y\n", "a: 'x\n#..\n  y'\n", "#..\na: 1\n", "a:\n#..\nb: 1\n", "a: |\n#..\nb: 1\n", "a:\n - b\n#..\n", "a: \"x\n...\n y\"\n", "a: |\n  x\n...\n", "...\n", "a: |\n  x\n ", "a: |+\n  x\n ", "a: |\n\n\n", "a: |+\n\n\nb: 1\n", "a: |-\n  \n   x\nb: 1", "a: 'x", "a: \"x", "a:\n- |\n  x\n- 'y\n\n  z'\n", "a:\n  'x': |\n    y\n  z: 1\n",
	} {
		check(t, []byte(text))
	}
}

func FuzzFast(f *testing.F) {
	for _, seed := range []string{
		"version: 1\ninteractions:\n- request:\n    body: \"\"\n    form: {}\n    headers:\n      A:\n      - b\n    url: http://a/\n    method: GET\n  response:\n    body: |\n      {\"a\": 1}\n\n    code: 200\n",
		"a: 'x\n\n  y'\nb: \"x\\\n  \\ y\"\n", "a: !!binary |\n  AAEC\n", "- a\n- b: |+\n    x\n\n- c\n", "a: x y\n  z\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}

// bigCassette is a go-vcr cassette of n interactions, some 2 KB each.
func bigCassette(n int) []byte {
	var b bytes.Buffer
	b.WriteString("---\nversion: 1\ninteractions:\n")
	for i := range n {
		fmt.Fprintf(&b, "- request:\n    body: '{\"n\":%d,\"title\":\"ticket\"}'\n    form: {}\n    headers:\n      Accept:\n      - application/json\n      Content-Type:\n      - application/json\n    url: https://api.example.com/v1/tickets/%d?expand=all\n    method: PUT\n", i, i)
		b.WriteString("  response:\n")
		if i%3 == 0 {
			b.WriteString("    body: |\n")
			for k := range 30 {
				fmt.Fprintf(&b, "      {\"id\": %d, \"line\": %d, \"text\": \"the quick brown fox\"}\n", i, k)
			}
		} else {
			fmt.Fprintf(&b, "    body: '{\"id\":%d,\"text\":\"%s\"}'\n", i, strings.Repeat("the lazy dog, ", 110))
		}
		b.WriteString("    headers:\n      Content-Type:\n      - application/json\n      Date:\n      - Mon, 23 Jun 2025 19:41:18 GMT\n    status: 200 OK\n    code: 200\n    duration: \"12ms\"\n")
	}
	return b.Bytes()
}

func BenchmarkLoad(b *testing.B) {
	data := bigCassette(10000)
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			t, err := Parse("big", data)
			if err != nil || len(t.Interactions) != 10000 {
				b.Fatal(err)
			}
		}
	})
	b.Run("yaml.v3 into a node", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var n yaml.Node
			if err := yaml.Unmarshal(data, &n); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Each byte counts, wherever it stands among others.
func TestPlainText(t *testing.T) {
	for at := range 20 {
		for c := range 256 {
			data := bytes.Repeat([]byte("x~ "), 10)
			data[at] = byte(c)
			want := c >= 0x20 && c < 0x7F || c == '\n'
			if got := plainText(data); got != want {
				t.Errorf("byte %#x at %d: %v", c, at, got)
			}
		}
		data := bytes.Repeat([]byte("x~ "), 10)
		if copy(data[at:], "é"); !plainText(data) {
			t.Errorf("é at %d is refused", at)
		}
		if copy(data[at:], "\u0085"); plainText(data) {
			t.Errorf("a next line at %d is taken", at)
		}
	}
}
