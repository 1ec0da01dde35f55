package store

import (
	"slices"
	"strings"
	"unicode"

	"github.com/anvil-sim/anvil/internal/near"
)

// normal brings names of one thing to one form, whatever their case style:
// ArtistId, artist_id, artist-id and artistID are all artistid.
func normal(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	if b.Len() == 0 {
		return strings.ToLower(name)
	}
	return b.String()
}

// irregular plurals that API and table names use, as endings.
var irregular = []struct{ plural, singular string }{
	{"people", "person"}, {"children", "child"}, {"indices", "index"}, {"vertices", "vertex"}, {"matrices", "matrix"},
	{"analyses", "analysis"}, {"statuses", "status"}, {"aliases", "alias"}, {"addresses", "address"},
	{"criteria", "criterion"}, {"media", "medium"}, {"movies", "movie"}, {"series", "series"}, {"news", "news"},
	{"caches", "cache"}, {"databases", "database"}, {"releases", "release"}, {"purchases", "purchase"},
	{"responses", "response"}, {"expenses", "expense"}, {"cases", "case"}, {"licenses", "license"},
	{"courses", "course"}, {"houses", "house"}, {"invoices", "invoice"}, {"sizes", "size"},
}

// singular is the singular of a normal English noun; it need not be a word as
// long as singular and plural meet.
func singular(norm string) string {
	for _, w := range irregular {
		if strings.HasSuffix(norm, w.plural) {
			return norm[:len(norm)-len(w.plural)] + w.singular
		}
	}
	cut := func(n int) string { return norm[:len(norm)-n] }
	switch {
	case len(norm) < 4:
		return strings.TrimSuffix(norm, "s")
	case strings.HasSuffix(norm, "ies"):
		return cut(3) + "y"
	case endsIn(norm, "sses", "xes", "zes", "ches", "shes"):
		return cut(2)
	case endsIn(norm, "ss", "us", "is"):
		return norm
	case strings.HasSuffix(norm, "s"):
		return cut(1)
	}
	return norm
}

func endsIn(s string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(s, e) })
}

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
