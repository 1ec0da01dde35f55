package near_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/internal/near"
)

func TestNames(t *testing.T) {
	known := []string{"serve", "server", "replay", "record", "redact", "--seed", "--slow-ms", "Größe"}
	for _, tc := range []struct{ name, want string }{
		{"serev", "serve server"}, {"serve", "serve server"}, {"ser", "serve server"}, {"SERVE", "serve server"}, {"--sed", "--seed"},
		{"xyzzy", ""}, {"", ""}, {"r", ""}, {"Grösse", "Größe"}, {strings.Repeat("serve", 100), ""},
	} {
		if got := strings.Join(near.Names(tc.name, known), " "); got != tc.want {
			t.Errorf("Names(%.20q) = %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := near.Name("recrod", known); got != "record" {
		t.Errorf("Name(recrod) = %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ö", "o", 1}} {
		if got := near.Distance(tc.a, tc.b); got != tc.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func FuzzDistance(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add("", "ö")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 100 || len(b) > 100 {
			return
		}
		d := near.Distance(a, b)
		if d != near.Distance(b, a) || (d == 0) != slices.Equal([]rune(a), []rune(b)) && a != b {
			t.Fatalf("Distance(%q, %q) = %d, the other way %d", a, b, d, near.Distance(b, a))
		}
	})
}
