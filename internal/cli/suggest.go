package cli

import (
	"strings"

	"github.com/anvil-sim/anvil/internal/near"
)

// DidYouMean makes a hint of what a mistyped name may mean, "" when nothing is
// close.
func DidYouMean(name string, candidates []string) string {
	if names := near.Names(name, candidates); len(names) > 0 {
		return "did you mean " + strings.Join(names, " or ") + "?"
	}
	return ""
}
