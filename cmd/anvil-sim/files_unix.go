//go:build unix

package main

import (
	"math"
	"os"
	"syscall"
)

// freeFiles is how many more files the program may open, 0 when it is not known or
// without bound. Go has raised the soft limit to the hard one.
func freeFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt32 {
		return 0
	}
	open, _ := os.ReadDir("/dev/fd") // none where the system has no such folder
	return max(int(limit.Cur)-len(open), 1)
}
