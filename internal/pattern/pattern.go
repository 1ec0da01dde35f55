// Package pattern holds regular expressions that a program may never need.
package pattern

import (
	"regexp"
	"sync"
)

// Of is a regular expression of the regexp package's syntax which is compiled
// when it is first asked for: a process that does not match with it should not
// start later for it. It may be asked for by many at once. A text that does not
// compile panics when it is asked for; internal/archtest compiles all that the
// sources of this module declare, so that none gets so far.
func Of(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
