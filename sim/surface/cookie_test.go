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
	{"sid=\xe9", "sid", "é", true},
	{"\xe9=1", "é", "1", true},
}

func TestCookie(t *testing.T) {
	for _, tc := range cookies {
		got := cookieValues([]string{tc.headers}, tc.name)
		if (len(got) > 0) != tc.ok || tc.ok && got[0] != tc.want {
			t.Errorf("cookieValues(%q, %q) = %q; want %q first, %v", tc.headers, tc.name, got, tc.want, tc.ok)
		}
	}
}

func FuzzCookie(f *testing.F) {
	for _, tc := range cookies {
		f.Add(tc.headers, tc.name)
	}
	f.Fuzz(func(t *testing.T, header, name string) {
		for _, got := range cookieValues([]string{header}, name) {
			if !strings.Contains(header, toLatin1(got)) {
				t.Fatalf("cookieValues(%q, %q) has %q, which the header does not have", header, name, got)
			}
		}
	})
}
