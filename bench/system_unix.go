//go:build unix

package main

import (
	"os"
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

// peakOf is the most megabytes that a process which ended had in memory.
func peakOf(state *os.ProcessState) float64 {
	r, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(r.Maxrss) / 1024 // kilobytes on Linux
}

// filesAllowed is how many files this process may open.
func filesAllowed() (n uint64, known bool) {
	var files syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
	return uint64(files.Cur), err == nil
}
