package main

import (
	"errors"
	"fmt"
	"sync"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/trace"
)

// mostTurns is how often a trace that comes and goes, as one does on a disk that is
// nearly full, is told of.
const mostTurns = 5

// A traceLog is the trace file of a server. It tells of lines that cannot be
// written when they begin and when they end, not at each call, and counts them:
// whoever asked for a trace must not take a part of it for the whole.
type traceLog struct {
	path  string
	start int64 // where this run begins in the file
	file  *trace.Writer
	say   func(format string, args ...any)

	mu      sync.Mutex
	calls   int // that wanted a line
	lost    int // that have none, or none that is whole
	failing bool
	turns   int // how often it began to fail
}

func openTraceLog(path string, say func(string, ...any)) (*traceLog, error) {
	start := sizeOf(path)
	w, err := trace.OpenFile(path)
	if err != nil {
		return nil, err
	}
	return &traceLog{path: path, start: start, file: w, say: say}, nil
}

// Write implements [sim.TraceSink].
func (t *traceLog) Write(e *trace.Entry) error {
	err := t.file.Write(e)
	t.heard(err)
	return err
}

// heard takes in what came of a line.
func (t *traceLog) heard(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	failed := err != nil
	if failed {
		t.lost++
	}
	if failed == t.failing {
		return
	}
	if t.failing = failed; failed {
		t.turns++
	}
	switch {
	case t.turns > mostTurns: // all is counted, and told in the end
	case failed:
		t.say("trace file %s cannot be written; calls are served all the same and are missing in it, which is not said for each: %v", t.path, err)
	default:
		t.say("trace file %s is written again; %s missing in it so far", t.path, t.missing())
	}
}

// missing is "1 call of 3 is" or "2 calls of 3 are".
func (t *traceLog) missing() string {
	verb := "are"
	if t.lost == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s of %d %s", plural.Of(t.lost, "call"), t.calls, verb)
}

// close closes the file. An error says that the file does not hold the calls of
// this run. One that was moved holds them: that is said alone.
func (t *traceLog) close() error {
	err := t.file.Close()
	var moved *trace.MovedError
	if errors.As(err, &moved) {
		t.say("%v", err)
		err = nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost > 0 {
		err = errors.Join(fmt.Errorf("trace file %s is not whole: %s missing in it", t.path, t.missing()), err)
	}
	return cli.WithHint(err, "mend the place or name another file, and run again: what is missing cannot be compared")
}
