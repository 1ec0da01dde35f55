//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process has used, in its own code and
// in the kernel's.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
