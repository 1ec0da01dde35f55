package surface

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

var targets = []struct{ raw, path, query string }{
	{"/users/7", "/users/7", ""},
	{"/users/%zz", "/users/%zz", ""},
	{"/a%2Fb;x=1?q=1", "/a%2Fb;x=1", "q=[1]"},
	{"/users/..", "/", ""},
	{"/users/./7", "/users/7", ""},
	{"/users/x/../7", "/users/7", ""},
	{"/users/%2e%2E/7", "/7", ""},
	{"/../../etc/passwd", "/etc/passwd", ""},
	{"/a/.", "/a/", ""},
	{"/a/b/..", "/a/", ""},
	{"//users/7", "/7", ""},
	{"//users", "/", ""},
	{"http://host/x?y=1", "/x", "y=[1]"},
	{"http://host", "/", ""},
	{"*", "/*", ""},
	{`/a\b`, "/a/b", ""},
	{"/caf\xc3\xa9 \"<>`{}^", "/caf%C3%A9%20%22%3C%3E%60%7B%7D%5E", ""},
	{"/x#frag?no", "/x", ""},
	{"/x?a=1&b=%20+&a=2&&c&=v", "/x", "a=[1 2] b=[  ] c=[] =[v]"},
	{"/x?%zz=%E2%9C%93&y=%ff", "/x", "%zz=[\u2713] y=[\uFFFD]"},
	{"/x?f[a]=1;2", "/x", "f[a]=[1;2]"},
}

func TestParseTarget(t *testing.T) {
	for _, tc := range targets {
		got := parseTarget(tc.raw)
		var query []string
		for _, q := range got.query {
			query = append(query, fmt.Sprintf("%s=%v", q.name, q.values))
		}
		if got.path != tc.path || strings.Join(query, " ") != tc.query {
			t.Errorf("parseTarget(%q) = %q, %q; want %q, %q", tc.raw, got.path, strings.Join(query, " "), tc.path, tc.query)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, tc := range targets {
		f.Add(tc.raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := parseTarget(raw)
		if !strings.HasPrefix(got.path, "/") {
			t.Fatalf("path %q of %q does not begin with /", got.path, raw)
		}
		for s := range strings.SplitSeq(got.path, "/") {
			if dots(s) != 0 {
				t.Fatalf("path %q of %q keeps a dot segment", got.path, raw)
			}
		}
		for i := range len(got.path) {
			if inPathSet(got.path[i]) {
				t.Fatalf("path %q of %q keeps byte %q", got.path, raw, got.path[i])
			}
		}
		for _, q := range got.query {
			if !utf8.ValidString(q.name) || len(q.values) == 0 || len(q.values) != len(q.raws) {
				t.Fatalf("query %+v of %q", q, raw)
			}
		}
		// A rebuilt query reads back as the same names and values.
		again := parseTarget("/x?" + withQuery(got.raw, "\x00cursor", "v", ""))
		if len(again.query) != len(got.query)+1 {
			t.Fatalf("query of %q: %d names, rebuilt %d", raw, len(got.query), len(again.query))
		}
	})
}

func TestWithQuery(t *testing.T) {
	for _, tc := range []struct{ raw, name, value, without, want string }{
		{"", "c", "2", "", "c=2"},
		{"q=a%20b", "startAt", "2", "", "q=a+b&startAt=2"},
		{"a=1&c=1&b=2&c=3", "c", "9", "", "a=1&c=9&b=2"},
		{"$top=2&$skip=4", "$skiptoken", "t", "$skip", "%24top=2&%24skiptoken=t"},
		{"x=~!'()*-._", "c", "a b/\u2713", "", "x=%7E%21%27%28%29*-._&c=a+b%2F%E2%9C%93"},
	} {
		if got := withQuery(tc.raw, tc.name, tc.value, tc.without); got != tc.want {
			t.Errorf("withQuery(%q, %q, %q, %q) = %q, want %q", tc.raw, tc.name, tc.value, tc.without, got, tc.want)
		}
	}
}

func TestManyNames(t *testing.T) {
	var raw strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&raw, "&a%d=%d&b=%d", i, i, i)
	}
	got := parseTarget("/x?" + raw.String())
	if len(got.query) != 5001 || len(got.find("b").values) != 5000 || got.query[1].name != "b" || got.find("a4999").values[0] != "4999" {
		t.Errorf("%d names, %d values of b", len(got.query), len(got.find("b").values))
	}
}
