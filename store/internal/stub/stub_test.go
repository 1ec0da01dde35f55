package stub

import (
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"object","description":"A 'simple-user' object; nested one level deep to keep this small"}`:                    "simple-user",
		`{"type":"object","description":"A 'simple-user' object; nested one level deep","properties":{"id":{"type":"string"}}}`: "",
		`{"type":"object","description":"A 'simple-user' object; nested"}`:                                                      "",
		`{"description":"A user"}`: "",
		`true`:                     "",
	} {
		v, err := canon.Parse([]byte(text), canon.Strict)
		if err != nil {
			t.Fatal(err)
		}
		if got := Name(v); got != want {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
}
