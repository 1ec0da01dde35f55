package trace

import (
	"bytes"
	"iter"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A Part is the value of one key of a line, as it stands.
type Part struct {
	Value []byte // inside the line
	From  int    // where the key's comma is in Line.Text, of the first key what follows the brace
	At    int    // where the value begins in Line.Text
}

// Parts goes through the keys of the entry, decoded, and their values. It ends
// early in a line that is not JSON; Check tells.
func (l Line) Parts() iter.Seq2[string, Part] {
	return func(yield func(string, Part) bool) {
		start := bytes.IndexByte(l.Text, '{')
		if start < 0 {
			return
		}
		w := walk(bytes.TrimRight(l.Text[start:], " \t\r"))
		for {
			from := start + skipSpace(w.b, w.i)
			key, val, ok := w.member()
			if !ok || !yield(textOf(key), Part{val, from, start + w.i - len(val)}) {
				return
			}
		}
	}
}

// Fault is an error about the line: it puts the trace's name and the line before
// err.
func (l Line) Fault(err error) error {
	return &InputError{Name: l.name, Line: l.Number, Offset: l.Offset, Err: err}
}

// compacted keeps room for the compact form of a line that is checked.
var compacted = sync.Pool{New: func() any { return new([]byte) }}

// Check reads the whole line as JSON; what is not, and a key that stands twice in
// one object, is an *InputError with its place.
func (l Line) Check() error {
	buf := compacted.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= keepLine {
			compacted.Put(buf)
		}
	}()
	var err error
	if *buf, err = canon.AppendCompact((*buf)[:0], l.Text, canon.Strict); err == nil {
		return nil
	}
	return checkJSON(l.name, line{text: l.Text, offset: l.Offset, number: l.Number, ended: true})
}
