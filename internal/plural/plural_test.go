package plural_test

import (
	"testing"

	"github.com/anvil-sim/anvil/internal/plural"
)

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 calls", 1: "1 call", 2: "2 calls", -1: "-1 calls"} {
		if got := plural.Of(n, "call"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
