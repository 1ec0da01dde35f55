package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// A usage is what one run of a program took.
type usage struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"` // of all its threads
	PeakMB  float64 `json:"peak_mb"`     // resident; never less than this program's own
}

// timed runs a program to its end. Its exit code must be one of codes; its
// output goes to out.
func timed(ctx context.Context, out io.Writer, codes []int, args ...string) (u usage, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = out, &said
	began := time.Now()
	err = cmd.Run()
	u.Seconds = time.Since(began).Seconds()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return u, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	state := cmd.ProcessState
	for _, code := range codes {
		if state.ExitCode() == code {
			u.CPU = (state.UserTime() + state.SystemTime()).Seconds()
			u.PeakMB = peakOf(state)
			return u, nil
		}
	}
	return u, fmt.Errorf("%s: exit code %d, want one of %v: %.500s", strings.Join(args, " "), state.ExitCode(), codes, said.String())
}
