package vcr

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/google/go-cmp/cmp"
)

func load(t testing.TB, path string) []*cassette.Interaction {
	t.Helper()
	c, err := cassette.Load(strings.TrimSuffix(path, ".yaml"))
	if err != nil {
		t.Fatalf("go-vcr does not load %s: %v", path, err)
	}
	if c.Version != 1 {
		t.Fatalf("version %d", c.Version)
	}
	return c.Interactions
}

func exchange(url, body string) *Interaction {
	return &Interaction{
		Request:  Request{Method: "GET", URL: url, Header: http.Header{"Accept": {"*/*"}}},
		Response: Response{Code: 200, Status: "200 OK", Header: http.Header{"Content-Type": {"text/plain"}}, Body: Bytes(body)},
	}
}

// bodies are texts that YAML has surprises for.
func bodies() []string {
	return []string{
		"", " ", "\n", "\n\n", "a", "it's", `{"a":"b\n"}`, "a\nb", "a\nb\n", "a\nb\n\n", "\na", "  a\nb", "a\n  b", "a\n\tb", "\ta", "a\t", "a \nb ",
		"a\r\nb\r\n", "# no comment", "- a", "a: b", "true", "null", "~", "1.0", "0x10", "...", "a\n...\nb", "---\na", "#..\n", "\xff\xfe", "\x00", "a\x00b",
		"\u0085", "\u2028", "\ufeff", "\ufffd", "é日本\U0001f600", "a\n\xff", strings.Repeat("x", 5000) + "\n" + strings.Repeat("é", 5000),
		"!!binary YQ==", "%", "@", "`", "&a", "*a", "a #b", "a\n \n  \nb", "a\n   ", "\u00a0", "\ud7ff", "\x7f\x1b[0m", "2001-01-01", "<<",
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.yaml")
	f, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	var want []*cassette.Interaction
	for i, body := range bodies() {
		it := exchange(fmt.Sprintf("https://api.test/%d?q=%s", i, url.QueryEscape(body)), body)
		it.Request.Body = Bytes(body)
		it.Request.Form = url.Values{"k " + body: {body, ""}}
		it.Request.Header = http.Header{"X-Text": {body, "two"}, "Empty": {}, "True": {"yes"}}
		it.Response.Duration = time.Duration(i) * time.Millisecond
		it.Response.Notes = Notes{Encoding: []string{"gzip", "br"}, Names: []string{"x-ODD"}, Trailer: http.Header{"Sum": {"1"}}, Cut: "client left"}
		it.Response.Transfer, it.Response.Failure = "sse", "timeout"
		it.Response.Informational = []Informational{{103, http.Header{"Link": {"</a>"}}}, {102, nil}}
		if err := f.Write(it); err != nil {
			t.Fatal(err)
		}
		want = append(want, &cassette.Interaction{
			Request:  cassette.Request{Body: body, Form: it.Request.Form, Headers: it.Request.Header, URL: it.Request.URL, Method: "GET"},
			Response: cassette.Response{Body: body, Headers: it.Response.Header, Status: "200 OK", Code: 200, Duration: it.Response.Duration},
		})
		if diff := cmp.Diff(want, load(t, path), cmp.Comparer(sameInteraction)); diff != "" {
			t.Fatalf("body %q, while recording:\n%s", body, diff)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, load(t, path), cmp.Comparer(sameInteraction)); diff != "" {
		t.Errorf("after the end:\n%s", diff)
	}
	if data, _ := os.ReadFile(path); strings.Contains(string(data), "\n"+retired) && strings.Count(string(data), "\n"+retired) > 0 {
		t.Error("a marker is left")
	}
}

func sameInteraction(a, b *cassette.Interaction) bool {
	return cmp.Equal(a.Request, b.Request) && a.Response.Body == b.Response.Body && cmp.Equal(a.Response.Headers, b.Response.Headers) &&
		a.Status == b.Status && a.Code == b.Code && a.Duration == b.Duration
}

func FuzzBody(f *testing.F) {
	for _, b := range bodies() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, body string) {
		path := filepath.Join(t.TempDir(), "tape.yaml")
		file, err := Create(path, false)
		if err != nil {
			t.Fatal(err)
		}
		it := exchange("https://api.test/", body)
		it.Request.Header.Set("X", body)
		if err := errors.Join(file.Write(it), file.Write(it), file.Close()); err != nil {
			t.Fatal(err)
		}
		for _, got := range load(t, path) {
			if got.Response.Body != body || got.Request.Headers.Get("X") != body {
				t.Fatalf("%q came back as %q and %q", body, got.Response.Body, got.Request.Headers.Get("X"))
			}
		}
	})
}

// A kill leaves a beginning of what was being written.
func TestTornWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.yaml")
	f, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(exchange("https://api.test/1", "one")); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	second := exchange("https://api.test/2", "'zwölf' Boxkämpfer\n"+strings.Repeat("日本", 3000))
	second.Response.Header.Set("X-Text", "ünder \"quotes\"\x01")
	if err := f.Write(second); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(path)
	torn := filepath.Join(t.TempDir(), "torn.yaml")
	for n := len(before); n <= len(after); n++ {
		if n < len(after) && after[n]&0xc0 == 0x80 && n < len(before)+1024 {
			continue // such a piece is never written
		}
		if n > len(before)+700 && n < len(after)-20 && n%997 != 0 {
			continue
		}
		data := append(append([]byte{}, before...), after[len(before):n]...)
		if err := os.WriteFile(torn, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := load(t, torn); len(got) != 1 || got[0].Response.Body != "one" {
			t.Fatalf("after %d bytes of the second write: %d interactions", n-len(before), len(got))
		}
		if n%211 != 0 {
			continue
		}
		a, err := Append(torn)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.Write(second), a.Close()); err != nil {
			t.Fatal(err)
		}
		if got := load(t, torn); len(got) != 2 {
			t.Fatalf("append after a kill: %d interactions", len(got))
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.yaml")
	f, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(exchange("https://api.test/1", "one")), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, false); !errors.Is(err, ErrExists) {
		t.Errorf("got %v", err)
	}
	if f, err = Create(path, true); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := load(t, path); len(got) != 0 {
		t.Errorf("%d interactions are left", len(got))
	}
}

func TestAppend(t *testing.T) {
	goVCR := func(t *testing.T, path string) {
		c := cassette.New(strings.TrimSuffix(path, ".yaml"))
		c.AddInteraction(&cassette.Interaction{Request: cassette.Request{URL: "https://api.test/1", Method: "GET", Body: "a\nb"}, Response: cassette.Response{Body: "one", Code: 200}})
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name  string
		write func(*testing.T, string)
		had   int
		err   string
	}{
		{"missing", func(*testing.T, string) {}, 0, ""},
		{"empty file", text(""), 0, ""},
		{"no interactions", text("version: 1\ninteractions: []\n"), 0, ""},
		{"go-vcr's own", goVCR, 1, ""},
		{"older indent, no line end", text("version: 1\ninteractions:\n- request:\n    url: https://api.test/1\n  response:\n    body: one"), 1, ""},
		{"document end", text("version: 1\ninteractions:\n- request: {}\n  response: {body: one}\n..."), 1, ""},
		{"format 2", text("version: 2\ninteractions: []\n"), 0, `found version "2"`},
		{"flow style", text("{version: 1, interactions: [{request: {}, response: {}}]}"), 0, "flow style"},
		{"key behind", text("version: 1\ninteractions:\n- request: {}\nmore: 1\n"), 0, `the key "more"`},
		{"no YAML", text("version: 1\ninteractions:\n- 'a"), 0, "does not load"},
		{"a list", text("- 1"), 0, "no mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tape.yaml")
			tt.write(t, path)
			f, err := Append(path)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				if err := f.Write(exchange("https://api.test/2", "two\n")); err != nil {
					t.Fatal(err)
				}
				if got := load(t, path); len(got) != tt.had+i+1 {
					t.Fatalf("while recording: %d", len(got))
				}
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			got := load(t, path)
			if len(got) != tt.had+2 || got[tt.had].Response.Body != "two\n" || tt.had > 0 && got[0].Response.Body != "one" {
				t.Errorf("got %v", got)
			}
		})
	}
}

// Parallel calls come in any order; the tape is the same.
func TestCanonicalOrder(t *testing.T) {
	write := func(order []int) string {
		path := filepath.Join(t.TempDir(), "tape.yaml")
		f, err := Create(path, false)
		if err != nil {
			t.Fatal(err)
		}
		first, last := exchange("https://api.test/z", "first"), exchange("https://api.test/a", "last")
		first.Begin, first.End, last.Begin, last.End = 1, 2, 100, 101
		items := []*Interaction{first, last}
		for n, k := range order {
			it := exchange(fmt.Sprintf("https://api.test/%d", k), fmt.Sprintf("token %s%d", Placeholder, n+1))
			it.Begin, it.End = uint64(10+n), uint64(60+n)
			items = append(items, it)
		}
		var wg sync.WaitGroup
		for _, it := range items {
			wg.Go(func() {
				if err := f.Write(it); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := write([]int{3, 1, 2, 0}), write([]int{0, 2, 1, 3}); a != b {
		t.Error(cmp.Diff(a, b))
	}
}

func TestNumbererSplit(t *testing.T) {
	text := "a ANVIL-SECRET-0017 b ANVIL-SECRET-0002, ANVIL-SECRET-0017 ANVIL-SEC ANVIL-SECRET- x ANVIL-SECRET-0003"
	want := "a ANVIL-SECRET-0001 b ANVIL-SECRET-0002, ANVIL-SECRET-0001 ANVIL-SEC ANVIL-SECRET- x ANVIL-SECRET-0003"
	for size := 1; size < len(text); size++ {
		var b strings.Builder
		n := NewNumberer(&b)
		if _, err := io.CopyBuffer(struct{ io.Writer }{n}, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := n.Flush(); err != nil || b.String() != want {
			t.Fatalf("in pieces of %d: %q (%v)", size, b.String(), err)
		}
	}
}

func TestCausesStayFirst(t *testing.T) {
	at := func(n int, method, path string) item {
		return item{begin: uint64(2 * n), end: uint64(2*n + 1), key: path + "\x00" + method, method: method, path: "h" + path}
	}
	names := func(items []item) string {
		var list []string
		for _, it := range canonicalOrder(items) {
			list = append(list, it.method+" "+it.path[1:])
		}
		return strings.Join(list, ", ")
	}
	sequence := []item{at(1, "GET", "/z"), at(2, "GET", "/b/1"), at(3, "PATCH", "/b/1"), at(4, "GET", "/b"), at(5, "GET", "/b/1"), at(6, "GET", "/a"), at(7, "DELETE", "/b/1"), at(8, "GET", "/b")}
	if got, want := names(sequence), "GET /z, GET /b/1, PATCH /b/1, GET /b, GET /b/1, GET /a, DELETE /b/1, GET /b"; got != want {
		t.Errorf("one after the other: got %s", got)
	}
	sequence[0].end = 5 // overlaps
	if got, want := names(sequence), "GET /a, GET /b/1, PATCH /b/1, GET /b, GET /b/1, DELETE /b/1, GET /b, GET /z"; got != want {
		t.Errorf("in parallel:\n got %s\nwant %s", got, want)
	}
}
