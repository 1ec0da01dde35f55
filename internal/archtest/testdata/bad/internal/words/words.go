// Package words has patterns that cost a start, and ones that nobody can check.
package words

import (
	"regexp"

	"example.org/bad/internal/pattern"
)

var early = map[string]*regexp.Regexp{"a": regexp.MustCompile("a")}

var later = func() *regexp.Regexp { return regexp.MustCompile("b") }

var fine = pattern.Of("[a-z]" + `+`)

var broken = pattern.Of("(")

var unknown = pattern.Of(text())

func text() string { return "(" }
