package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/trace"
)

// Each variant differs from the plain trace in what it says, and in nothing else.
func TestVariants(t *testing.T) {
	const calls = 2000
	dir := t.TempDir()
	plain := filepath.Join(dir, "a.jsonl")
	if err := writeTrace(plain, calls, variant{renumber: true}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(plain); err != nil || info.Size() < calls*callBytes*8/10 || info.Size() > calls*callBytes*12/10 {
		t.Errorf("%d bytes for %d calls of about %d (%v)", info.Size(), calls, callBytes, err)
	}
	tests := []struct {
		v                          variant
		o                          trace.DiffOptions
		changed, missing, inserted int
		identical, ignored         bool
	}{
		{v: variant{renumber: true}, identical: true},
		{v: variant{renumber: true, changeEvery: 500}, changed: 4},
		{v: variant{renumber: true, timed: true}, o: trace.DiffOptions{Ignore: []string{"/provider/meta/**"}}, ignored: true},
		{v: variant{renumber: true, swapped: true}},
		{v: variant{renumber: true, addEvery: 1000}, inserted: 2},
		{v: variant{dropEvery: 1000}, missing: 2},
	}
	for _, tt := range tests {
		other := filepath.Join(dir, "b.jsonl")
		if err := writeTrace(other, calls, tt.v); err != nil {
			t.Fatal(err)
		}
		r, err := trace.Diff(t.Context(), trace.Input{Name: plain}, trace.Input{Name: other}, &tt.o)
		if err != nil {
			t.Fatalf("%+v: %v", tt.v, err)
		}
		if r.Changed != tt.changed && tt.v.changeEvery == 0 || r.Missing != tt.missing || r.Inserted != tt.inserted || r.Moved != 0 || r.Identical != tt.identical {
			t.Errorf("%+v: %d changed, %d missing, %d inserted, %d moved, identical %v", tt.v, r.Changed, r.Missing, r.Inserted, r.Moved, r.Identical)
		}
		if tt.v.changeEvery > 0 && (r.Changed == 0 || r.Changed > tt.changed) { // a call that failed has no value to change
			t.Errorf("%+v: %d changed, want up to %d", tt.v, r.Changed, tt.changed)
		}
		if tt.ignored && r.Ignored[0] < calls*9/10 {
			t.Errorf("%+v: %d ignored, want nearly all of %d", tt.v, r.Ignored[0], calls)
		}
	}
}

// A run of all cases with a program that does nothing, as JSON and as a table.
func TestTraceRun(t *testing.T) {
	nothing, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--short", "--size", "20KB", "--anvil-trace", nothing, "--dir", t.TempDir()}
	var out bytes.Buffer
	if err := runTrace(t.Context(), append(args, "--json"), &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	var rep traceReport
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatal(err)
	}
	cases := len(traceCases(20))
	if len(rep.Rows) != cases || rep.Rows[0].Calls != 20 || rep.Rows[0].Rivals["cmp of equal files"].Seconds <= 0 {
		t.Errorf("%s", out.Bytes())
	}
	out.Reset()
	if err := runTrace(t.Context(), append(args, "--only", "identical,filter"), &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "diff, identical") != 1 || strings.Contains(text, "assert") || !strings.Contains(text, "0.6 cmp") {
		t.Errorf("%s", text)
	}
}

func TestTraceSettings(t *testing.T) {
	s, err := parseTraceSettings([]string{"--short", "--rounds", "2"}, os.Stderr)
	if err != nil || s.Rounds != 2 || len(s.Sizes) != 1 || s.Sizes[0] != 2e6 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range [][]string{{"--size", "1"}, {"--size", "0GB"}, {"--size", "1TB"}, {"--rounds", "0"}, {"x"}} {
		if _, err := parseTraceSettings(bad, os.Stderr); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// The test binary plays the scan of lines; what it prints is the count.
func TestLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	if err := writeTrace(file, 7, variant{renumber: true}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := linesPart([]string{file}, &out); err != nil || out.String() != "7\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := linesPart([]string{file + "x"}, &out); err == nil {
		t.Error("a file that is not there is counted")
	}
}
