package store

import (
	"fmt"
	"unicode/utf8"
)

// A tokens is the place in a text that a query language is read from, one token
// at a time: what its parsers keep alike.
type tokens struct {
	name  string // of the parameter that holds the text
	text  string
	at    int
	tok   string // the present token, "" at the end
	quote bool   // it was in quotes
	start int    // of the present token
	depth int
	terms int
}

// character is a byte's place in the text, in characters from 1.
func (t *tokens) character(at int) int { return utf8.RuneCountInString(t.text[:at]) + 1 }

// fail is the error that the present token is not what is wanted.
func (t *tokens) fail(want string, args ...any) error {
	found := "the end"
	if t.tok != "" || t.quote {
		found = fmt.Sprintf("%q", clip(t.tok))
	}
	return invalid("parameter %q, at character %d: found %s, %s", clip(t.name), t.character(t.start), found, fmt.Sprintf(want, args...))
}
