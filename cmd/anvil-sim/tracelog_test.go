package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A trace that comes and goes is told of at its turns, a few times, and counted
// to the end.
func TestTraceLogSaysTurns(t *testing.T) {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	path := filepath.Join(t.TempDir(), "t.jsonl")
	log, err := openTraceLog(path, say)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	for _, err := range []error{nil, full, full, nil, nil} {
		log.heard(err)
	}
	want := []string{
		"trace file " + path + " cannot be written; calls are served all the same and are missing in it, which is not said for each: no space left",
		"trace file " + path + " is written again; 2 calls of 4 are missing in it so far",
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	for range 100 {
		log.heard(full)
		log.heard(nil)
	}
	if len(said) != 2*mostTurns {
		t.Errorf("%d lines for %d turns, want %d", len(said), 101, 2*mostTurns)
	}
	if err := log.close(); err == nil || err.Error() != "trace file "+path+" is not whole: 102 calls of 205 are missing in it" {
		t.Errorf("the end: %v", err)
	}
}
