package replayer

import (
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

func TestUnquoted(t *testing.T) {
	for _, text := range []string{"", "a", "it's", `"`, `\`, "tab\t", "é", "\x7f", "~ ", "a\"b", "line\nline"} {
		if got := unquoted(string(canon.AppendString(nil, text))); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
	for _, value := range []string{`"`, `"a","b"`, `"a" "name.txt"`, `12`, `["a"]`, "\"\t\"", "\"\xff\"", `sha256:00`} {
		if got := unquoted(value); got != value {
			t.Errorf("%q, which is no string, becomes %q", value, got)
		}
	}
}
