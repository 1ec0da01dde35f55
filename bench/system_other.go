//go:build !unix

package main

import (
	"errors"
	"os"
	"time"
)

func cpuTime() (time.Duration, error) {
	return 0, errors.New("processor time is not known on this system; leave --cpu out")
}

func peakOf(*os.ProcessState) float64 { return 0 }

func filesAllowed() (n uint64, known bool) { return 0, false }
