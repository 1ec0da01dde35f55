package surface

import (
	"strings"
	"testing"
)

var cookies = []struct {
	headers, name, want string
	ok                  bool
}{
	{"sid=1", "sid", "1", true},
	{"a=b; sid=1; c=d", "sid", "1", true},
	{`sid="quoted; no"`, "sid", `"quoted`, true},
	{`sid="q"`, "sid", "q", true},
	{"sid=a=b", "sid", "a=b", true},
	{"sid=%20", "sid", "%20", true},
	{"sid=", "sid", "", true},
	{"sid", "sid", "", false},
	{"SID=1", "sid", "", false},
	{" sid = 1 ", "sid", "1", true},
	{"sid=1; sid=2", "sid", "1", true},
	{"", "sid", "", false},
	{`sid="`, "sid", `"`, true},
}

func TestCookie(t *testing.T) {
	for _, tc := range cookies {
		if got, ok := cookie([]string{tc.headers}, tc.name); got != tc.want || ok != tc.ok {
			t.Errorf("cookie(%q, %q) = %q, %v; want %q, %v", tc.headers, tc.name, got, ok, tc.want, tc.ok)
		}
	}
}

func FuzzCookie(f *testing.F) {
	for _, tc := range cookies {
		f.Add(tc.headers, tc.name)
	}
	f.Fuzz(func(t *testing.T, header, name string) {
		if got, ok := cookie([]string{header}, name); ok && !strings.Contains(header, got) {
			t.Fatalf("cookie(%q, %q) = %q, which the header does not have", header, name, got)
		}
	})
}
