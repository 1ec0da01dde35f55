package air

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/near"
)

// A LoadError says everything that is wrong with one contract.
type LoadError struct {
	Path   string  // the file, as it was given
	Faults []Fault // never empty, in the document's order
	More   int     // how many further faults were found but not kept; garbage is not read to its end
}

// A Fault is one thing that is wrong in a contract.
type Fault struct {
	Line   int    // 1-based, 0 when it is not known
	Column int    // 1-based, in bytes, 0 when it is not known
	Key    string // where in the document: operations[3].effect.kind, "" for the whole of it
	Msg    string // what was found and what is accepted
}

// maxFaults is how many faults a LoadError keeps: more than a person reads, few
// enough for a terminal.
const maxFaults = 50

// Error lists the faults, one a line when there are several.
func (e *LoadError) Error() string {
	if len(e.Faults) == 1 && e.More == 0 {
		f := e.Faults[0]
		return e.Path + position(f) + ": " + f.text()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d faults", e.Path, len(e.Faults)+e.More)
	for _, f := range e.Faults {
		b.WriteString("\n  " + f.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n  and %d more", e.More)
	}
	return b.String()
}

func position(f Fault) string {
	switch {
	case f.Line == 0:
		return ""
	case f.Column == 0:
		return ":" + strconv.Itoa(f.Line)
	}
	return fmt.Sprintf(":%d:%d", f.Line, f.Column)
}

// String is the fault in one line: "line 12: operations[3].effect.kind: ...".
func (f Fault) String() string {
	switch {
	case f.Line == 0:
		return f.text()
	case f.Column == 0:
		return fmt.Sprintf("line %d: %s", f.Line, f.text())
	}
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.text())
}

func (f Fault) text() string {
	if f.Key == "" {
		return f.Msg
	}
	return f.Key + ": " + f.Msg
}

// faultList collects faults up to maxFaults and counts the rest.
type faultList struct {
	faults []Fault
	more   int
}

func (l *faultList) add(f Fault) {
	if len(l.faults) == maxFaults {
		l.more++
		return
	}
	l.faults = append(l.faults, f)
}

func (l *faultList) err(path string) error {
	if len(l.faults) == 0 {
		return nil
	}
	return &LoadError{Path: path, Faults: l.faults, More: l.more}
}

// fail is an error of one fault.
func fail(path string, f Fault) error { return &LoadError{Path: path, Faults: []Fault{f}} }

// A step is one level of a path into a document: a key, or an index when key is
// empty.
type step struct {
	key   string
	index int
}

func keyPath(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		switch {
		case s.key == "":
			fmt.Fprintf(&b, "[%d]", s.index)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}

func didYouMean(word string, candidates []string) string {
	if c := near.Name(word, candidates); c != "" {
		return fmt.Sprintf(" (did you mean %s?)", c)
	}
	return ""
}
