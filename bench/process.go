package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// peakMemory reads the high-water mark of a process, in MB. It is the process's
// own: the resource usage of a child counts its parent's size before exec.
func peakMemory(pid int) float64 { return statusMB(pid, "VmHWM:") }

// statusMB reads a size that the system keeps of a process, in MB; 0 where the
// system does not tell.
func statusMB(pid int, field string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), field)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kB, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0
	}
	return kB / 1024
}

// processorTime is what a process has used so far, user and system; 0 where the
// system does not tell. Linux counts in hundredths of a second.
func processorTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold blanks
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
