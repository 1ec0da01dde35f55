// Package near finds what a mistyped name may have meant.
package near

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLength is the longest name that is compared: comparing takes time with the
// square of it.
const maxLength = 64

// Names returns the candidates that a mistyped name may mean, best first: at
// most three, each within a third of the name's length of it (two edits at
// least), or beginning with it. Letter case is no edit.
func Names(name string, candidates []string) []string {
	type scored struct {
		name string
		dist int
	}
	length := utf8.RuneCountInString(name)
	limit := max(2, length/3)
	var close []scored
	for _, c := range candidates {
		if abs(utf8.RuneCountInString(c)-length) > limit && !strings.HasPrefix(c, name) {
			continue
		}
		d := Distance(strings.ToLower(name), strings.ToLower(c))
		if strings.HasPrefix(c, name) && len(name) > 1 {
			d = min(d, 1)
		}
		if d <= limit && d < max(length, utf8.RuneCountInString(c)) {
			close = append(close, scored{c, d})
		}
	}
	slices.SortFunc(close, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range close {
		names = append(names, c.name)
	}
	names = slices.Compact(names)
	return names[:min(3, len(names))]
}

// Name is the best of [Names], "" when nothing is near.
func Name(name string, candidates []string) string {
	if names := Names(name, candidates); len(names) > 0 {
		return names[0]
	}
	return ""
}

func abs(n int) int { return max(n, -n) }

// Distance is the number of edits between two strings: characters put in, left
// out or changed, and two swapped neighbours counted as one. Of strings beyond 64
// characters that differ it is the longer one's length: nobody mistypes those.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	switch {
	case a == b:
		return 0
	case max(len(x), len(y)) > maxLength:
		return max(len(x), len(y))
	}
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
