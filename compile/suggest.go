package compile

import "strings"

// closest is the candidate that a mistyped name is nearest to, "" when none is
// near.
func closest(name string, candidates []string) string {
	best, near := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if len(c) > len(name)+near || len(name) > len(c)+near {
			continue
		}
		if d := edits(strings.ToLower(name), strings.ToLower(c)); d < near {
			best, near = c, d
		}
	}
	return best
}

// edits counts the single-byte edits between two words.
func edits(a, b string) int {
	prev, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, prev[j]+cost)
		}
		prev, row = row, prev
	}
	return prev[len(b)]
}

func didYouMean(name string, candidates []string) string {
	if c := closest(name, candidates); c != "" {
		return " (did you mean " + c + "?)"
	}
	return ""
}
