// Package pattern stands for the one of that name.
package pattern

import "regexp"

// Of does not compile.
func Of(text string) func() *regexp.Regexp { return nil }
