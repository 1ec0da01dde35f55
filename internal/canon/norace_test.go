//go:build !race

package canon_test

// poolAllocs is how often a call may allocate.
const poolAllocs = 0
