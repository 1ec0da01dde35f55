//go:build unix

package main

import (
	"math"
	"syscall"
)

// openFiles is how many files the program may have open, 0 when it is not known
// or without bound. Go has raised the soft limit to the hard one.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
