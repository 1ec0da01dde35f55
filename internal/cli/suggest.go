package cli

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Closest returns the candidates that a mistyped name may mean, best first: at
// most three, each within a third of the name's length of it (two edits at
// least), or beginning with it.
func Closest(name string, candidates []string) []string {
	type scored struct {
		name string
		dist int
	}
	limit := max(2, utf8.RuneCountInString(name)/3)
	var close []scored
	for _, c := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if strings.HasPrefix(c, name) && len(name) > 1 {
			d = min(d, 1)
		}
		if d <= limit && d < max(utf8.RuneCountInString(name), utf8.RuneCountInString(c)) {
			close = append(close, scored{c, d})
		}
	}
	slices.SortFunc(close, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range close[:min(3, len(close))] {
		names = append(names, c.name)
	}
	return slices.Compact(names)
}

// DidYouMean turns [Closest] into a hint, "" when nothing is close.
func DidYouMean(name string, candidates []string) string {
	if names := Closest(name, candidates); len(names) > 0 {
		return "did you mean " + strings.Join(names, " or ") + "?"
	}
	return ""
}

// distance is the Levenshtein distance of two strings, in characters, with two
// swapped neighbours counted as one edit.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before, prev, row = prev, row, before
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(prev[j]+cost, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(y)]
}
