// Package naming compares names of resources, tables and columns as their
// authors mean them: in any letter case, spelling of word boundaries and number.
package naming

import "strings"

// Plain is a name for comparing: lower case, without _ - . / and spaces.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', ' ', '.', '/':
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// Singular is the singular of a plain English noun; it need not be a word as
// long as singular and plural meet.
func Singular(s string) string {
	switch {
	case strings.HasSuffix(s, "ies"):
		return strings.TrimSuffix(s, "ies") + "y"
	case strings.HasSuffix(s, "sses"), strings.HasSuffix(s, "xes"), strings.HasSuffix(s, "ches"), strings.HasSuffix(s, "shes"):
		return strings.TrimSuffix(s, "es")
	case strings.HasSuffix(s, "ss"):
		return s
	}
	return strings.TrimSuffix(s, "s")
}

// SameThing tells whether two names are one noun, in any number.
func SameThing(a, b string) bool {
	x, y := Plain(a), Plain(b)
	return x == y || Singular(x) == Singular(y)
}
