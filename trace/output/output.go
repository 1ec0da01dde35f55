// Package output writes the verdicts of comparisons and rules in the formats
// that people, terminals and CI services read. All writers share one model, so
// a finding has the same words everywhere. Equal results give equal bytes.
package output

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/anvil-sim/anvil/trace"
)

// A Result is the verdict of one command.
type Result struct {
	Command string // "diff" or "assert"
	Input   string // the trace that was judged
	// Facts are lines about inputs and options, for the head of a report.
	Facts []string
	// Notes are lines about what was left out.
	Notes []string
	// Cases are what was judged, in order. For a comparison these are the calls
	// that differ; Passed counts the others.
	Cases  []Case
	Passed int
	// Omitted counts findings that no case holds.
	Omitted int
	Summary string // the last line
}

// A Case is one rule, or one call of a comparison.
type Case struct {
	ID       string // kind of the case: "diff/changed", "count"
	Name     string
	Place    Place // where the rule stands; none for a comparison
	Failures []Failure
	More     int    // failures beyond those
	Note     string // what a passed rule saw
}

// A Failure is one reason why a case failed.
type Failure struct {
	Message string
	Details []string // more lines
	Place   Place    // where in the trace
}

// A Place is a line of a file; without a File there is none.
type Place struct {
	File string
	Line int // 1-based, 0 for the whole file
}

// String is the place as editors know it: "rules.yaml:12".
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Failed reports whether any case failed.
func (r *Result) Failed() bool { return r.failed() > 0 || r.Omitted > 0 }

func (r *Result) failed() (n int) {
	for i := range r.Cases {
		if len(r.Cases[i].Failures) > 0 {
			n++
		}
	}
	return n
}

// Formats are the names that Write takes.
func Formats() []string { return []string{"github", "junit", "markdown", "sarif", "tap"} }

// Write writes the result in one of Formats.
func Write(w io.Writer, format string, r *Result) error {
	var b bytes.Buffer
	var err error
	switch format {
	case "github":
		writeGitHub(&b, r)
	case "junit":
		err = writeJUnit(&b, r)
	case "markdown":
		writeMarkdown(&b, r)
	case "sarif":
		err = writeSARIF(&b, r)
	case "tap":
		writeTAP(&b, r)
	default:
		return fmt.Errorf("found the format %q, want %s", format, strings.Join(Formats(), ", "))
	}
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	return err
}

// FromReport makes the result of a comparison. Findings point at the line of the
// judged run, a missing call at the baseline's.
func FromReport(r *trace.Report) *Result {
	out := &Result{Command: "diff", Input: r.Other.Name, Passed: r.Same}
	out.Facts = []string{"baseline: " + r.Baseline.String(), "run: " + r.Other.String(), "options: " + trace.Clean(r.Options.String())}
	if r.First != nil {
		out.Facts = append(out.Facts, fmt.Sprintf("first difference: %s; stage: %s", r.First, r.First.Stage))
	}
	for _, e := range r.Excused() {
		out.Notes = append(out.Notes, trace.Clean(e.String()))
	}
	shown := 0
	for i := range r.Calls {
		c := &r.Calls[i]
		shown += len(c.Findings)
		if c.Kind != trace.CallChanged {
			shown++
		}
		place := Place{r.Baseline.Name, 0}
		if c.New != nil {
			place = Place{r.Other.Name, c.New.Line}
		} else {
			place.Line = c.Old.Line
		}
		name := c.String()
		out.Cases = append(out.Cases, Case{ID: "diff/" + string(c.Kind), Name: name,
			Failures: []Failure{{Message: fmt.Sprintf("%s [%s]", name, c.Stage), Details: c.Details(), Place: place}}})
	}
	out.Omitted = r.Findings - shown
	switch {
	case r.Identical:
		out.Summary = "equal, byte for byte"
	case r.Equal():
		out.Summary = fmt.Sprintf("equal: %d call(s)", r.Same)
	default:
		out.Summary = fmt.Sprintf("differ: %d finding(s); calls: %d changed, %d missing, %d inserted, %d moved, %d the same",
			r.Findings, r.Changed, r.Missing, r.Inserted, r.Moved, r.Same)
	}
	return out
}

// With is a result with the cases of another one after its own; nil adds nothing.
func (r *Result) With(other *Result) *Result {
	if other == nil {
		return r
	}
	out := *r
	out.Cases = append(append([]Case{}, r.Cases...), other.Cases...)
	out.Facts = append(append([]string{}, r.Facts...), other.Facts...)
	out.Summary += "; rules " + other.Summary
	return &out
}
