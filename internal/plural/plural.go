// Package plural writes counts of things as people say them.
package plural

import "strconv"

// Of is a count with the name of what is counted, which takes an s for any number
// but 1: "1 call", "0 calls", "2 calls".
func Of[N int | int64](n N, what string) string {
	text := strconv.FormatInt(int64(n), 10) + " " + what
	if n == 1 {
		return text
	}
	return text + "s"
}
