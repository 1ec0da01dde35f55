package compile

import "github.com/anvil-sim/anvil/internal/near"

func didYouMean(name string, candidates []string) string {
	if c := near.Name(name, candidates); c != "" {
		return " (did you mean " + c + "?)"
	}
	return ""
}
