//go:build race

package canon_test

// poolAllocs is how often a call may allocate: the race detector makes a
// sync.Pool forget some of what it is given.
const poolAllocs = 3
