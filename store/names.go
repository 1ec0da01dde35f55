package store

import (
	"github.com/anvil-sim/anvil/internal/near"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// normal brings names of one thing to one form; see [naming.Plain].
func normal(name string) string { return naming.Plain(name) }

// singular is the singular of a normal noun; see [naming.Singular].
func singular(norm string) string { return naming.Singular(norm) }

// sameThing tells whether two normal names are one noun, in any number.
func sameThing(a, b string) bool { return a == b || singular(a) == singular(b) }

// nearest returns the candidate that was probably meant, "" when none is near.
func nearest(name string, candidates []string) string {
	best, bestAt := "", 0
	n := normal(name)
	for _, c := range candidates {
		d := near.Distance(n, normal(c))
		if d <= max(1, min(len(n), len(c))/3) && (best == "" || d < bestAt) {
			best, bestAt = c, d
		}
	}
	return best
}
