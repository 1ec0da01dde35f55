// Package naming compares names of resources, tables and columns as their
// authors mean them: in any letter case, spelling of word boundaries and number.
package naming

import (
	"slices"
	"strings"
	"unicode"
)

// Plain brings names of one thing to one form, whatever their case style:
// ArtistId, artist_id, artist-id and artistID are all artistid. A name without a
// letter or digit is itself in lower case.
func Plain(name string) string {
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

// Singular is the singular of a plain English noun; it need not be a word as
// long as singular and plural meet.
func Singular(plain string) string {
	for _, w := range irregular {
		if strings.HasSuffix(plain, w.plural) {
			return plain[:len(plain)-len(w.plural)] + w.singular
		}
	}
	cut := func(n int) string { return plain[:len(plain)-n] }
	switch {
	case len(plain) < 4:
		return strings.TrimSuffix(plain, "s")
	case strings.HasSuffix(plain, "ies"):
		return cut(3) + "y"
	case endsIn(plain, "sses", "xes", "zes", "ches", "shes"):
		return cut(2)
	case endsIn(plain, "ss", "us", "is"):
		return plain
	case strings.HasSuffix(plain, "s"):
		return cut(1)
	}
	return plain
}

func endsIn(s string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(s, e) })
}

// SameThing tells whether two names are one noun, in any number.
func SameThing(a, b string) bool {
	x, y := Plain(a), Plain(b)
	return x == y || Singular(x) == Singular(y)
}

// short are words that APIs cut in paths and write out in schemas.
var short = map[string]string{
	"repo": "repository", "org": "organization", "config": "configuration", "env": "environment", "doc": "document",
	"msg": "message", "dept": "department", "acct": "account", "txn": "transaction", "sub": "subscription",
}

// Long is the word that a plain singular noun is short for, "" where it is none.
func Long(singular string) string { return short[singular] }

// Thing is the one name of a resource, whether it is cut, plural or neither.
func Thing(name string) string {
	s := Singular(Plain(name))
	if long := Long(s); long != "" {
		return long
	}
	return s
}
