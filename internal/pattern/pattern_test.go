package pattern_test

import (
	"testing"

	"github.com/anvil-sim/anvil/internal/pattern"
)

// A pattern is compiled once, and not before it is used.
func TestOf(t *testing.T) {
	digits := pattern.Of(`^\d+$`)
	first, again := digits(), digits()
	if !first.MatchString("42") || first.MatchString("4x") || first != again {
		t.Error("a pattern does not match what it says, or is compiled twice")
	}
	broken := pattern.Of("(")
	defer func() {
		if recover() == nil {
			t.Error("a pattern that does not compile matches something")
		}
	}()
	broken()
}
