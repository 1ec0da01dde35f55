package tape

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every real recording is cut, put together again byte for byte, and turned
// around.
func TestCutRealRecordings(t *testing.T) {
	cut := 0
	err := filepath.WalkDir("../testdata/real", func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(extensions, filepath.Ext(file)) {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
		p, err := Cut(file, data)
		if err != nil {
			if strings.Contains(err.Error(), "cut") {
				t.Error(err)
			}
			return nil // no recording
		}
		cut++
		if whole, err := p.Select(p.all()); err != nil || !strings.HasPrefix(string(data), strings.TrimSuffix(string(whole), "\n")) {
			t.Errorf("%s: put together again it is another text: %v", file, err)
		}
		back := p.all()
		slices.Reverse(back)
		if _, err := p.Select(back); err != nil {
			t.Error(err)
		}
		if len(back) > 1 {
			if one, err := p.Select(back[:1]); err != nil || len(one) >= len(data) {
				t.Errorf("%s: %v", file, err)
			}
		}
		return nil
	})
	if err != nil || cut < 30 {
		t.Errorf("%d recordings were cut: %v", cut, err)
	}
}

func TestCut(t *testing.T) {
	const entry = "request: {url: /%, method: GET}\n  response: {code: 200, body: '%'}\n"
	one := func(n string) string { return strings.ReplaceAll(entry, "%", n) }
	for _, c := range []struct {
		name, text string
		take       []int
		want       string
	}{
		{"marks of a kill", "---\nversion: 1\ninteractions:\n- " + one("1") + "#..\n- " + one("2") + "...\n- requ", []int{1, 0},
			"---\nversion: 1\ninteractions:\n- " + one("2") + "- " + one("1")},
		{"comments and a tail", "interactions:\n# first\n- " + one("1") + "# second\n-\n  " + one("2") + "version: 1\n", []int{1},
			"interactions:\n# second\n-\n  " + one("2") + "version: 1\n"},
		{"none", "version: 1\ninteractions:\n- " + one("1"), nil, "version: 1\ninteractions: []\n"},
		{"empty", "version: 1\ninteractions: []\n", nil, "version: 1\ninteractions: []\n"},
		{"JSON", `{"log": {"entries": [ {"request": {"method":"GET","url":"/a"}, "response": {"status": 200}},` + "\n" +
			` {"request": {"method":"GET","url":"/b"}, "response": {"status": 204}}], "pages": []}}`, []int{1},
			`{"log": {"entries": [` + "\n" + ` {"request": {"method":"GET","url":"/b"}, "response": {"status": 204}}], "pages": []}}`},
	} {
		p, err := Cut("t", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := p.Select(c.take); err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
}

func TestCutRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"version: 1\ninteractions: [{request: {url: /, method: GET}, response: {code: 200}}]\n", "not in block style"},
		{"", "the file is empty"},
	} {
		if _, err := Cut("t", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	p, err := Cut("t", []byte("version: 1\ninteractions:\n- request: &r {url: /, method: GET}\n  response: {code: 200}\n- request: *r\n  response: {code: 201}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Select([]int{1}); err == nil || !strings.Contains(err.Error(), "lean on each other") {
		t.Errorf("an alias without its anchor: %v", err)
	}
}

// Whatever is cut is whole again, and any entry can stand alone.
func FuzzCut(f *testing.F) {
	for _, s := range []string{
		"version: 1\ninteractions:\n- request: {url: /, method: GET}\n  response: {code: 200}\n",
		"interactions:\n  # c\n  -\n    request: {uri: /, method: GET}\n    response: {status: {code: 200}}\nversion: 1\n",
		`{"log":{"entries":[{"request":{"method":"GET","url":"/"},"response":{"status":200}}]}}`,
		`[{"request":{"method":"GET","uri":"/"},"response":{"status":{"code":200}}}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Cut("t", data)
		if err != nil {
			return
		}
		whole, err := p.Select(p.all())
		if err != nil {
			t.Fatal(err)
		}
		again, err := Cut("t", whole)
		if err != nil {
			t.Fatalf("%v\n%s", err, whole)
		}
		if len(again.entries) != len(p.entries) {
			t.Fatalf("%d entries, then %d", len(p.entries), len(again.entries))
		}
	})
}
