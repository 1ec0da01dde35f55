package tape

import (
	"bytes"
	"slices"

	"github.com/anvil-sim/anvil/internal/parallel"
)

// partSize is how long a part of a list is at least: long enough to be worth a
// hand-over, short enough to be checked and read while a processor remembers it.
const partSize = 1 << 20

// A part is entries of a list that stand one behind the other. It is read as if the
// text began and ended with it.
type part struct {
	from, to int // in the text
	tape     Tape
	entries  int  // how many it holds, readable or not
	lines    int  // from its start to where reading ended
	end      int  // where reading ended
	last     bool // the text ends with it, or the document does
	whole    bool // it was read, and nothing in it is for the full reader
	wrote    bool // the text was changed
}

// entryAfter is where the next entry of a list begins behind a place, the end of
// the text when there is none. A text can not look like one: its lines stand
// deeper than the list, or it is for the full reader.
func (f *fast) entryAfter(at, indent int) int {
	mark := append(append([]byte{'\n'}, bytes.Repeat([]byte{' '}, indent)...), "- "...)
	if i := bytes.Index(f.src[at:], mark); i >= 0 {
		return at + i + 1
	}
	return len(f.src)
}

// parts reads the other entries of a list, the reader behind the first one. What is
// read does not depend on how many processors there are, or who is first.
func (s *stream) parts(indent int) bool {
	f := s.f
	if f.pos > s.checked {
		return false
	}
	var parts []*part
	for at := f.pos; at < len(f.src); {
		next := f.entryAfter(min(at+s.size, len(f.src)), indent)
		parts = append(parts, &part{from: at, to: next})
		at = next
	}
	s.readParts(parts, indent)
	done, more := true, 0
	for _, p := range parts {
		more += len(p.tape.Interactions)
	}
	s.tape.Interactions = slices.Grow(s.tape.Interactions, more)
	ended := false
	for _, p := range parts {
		f.wrote = f.wrote || p.wrote
		if ended {
			continue // behind the document
		}
		if done = done && p.whole && (p.last || p.end == p.to); done {
			s.join(p)
		}
		if ended = p.last; ended {
			f.src = f.src[:p.to]
		}
	}
	return done
}

// join puts the entries of the next part behind those that were read.
func (s *stream) join(p *part) {
	t, f := &s.tape, s.f
	before := s.count
	place := func(position, line *int) {
		*position += before
		*line += f.line
	}
	for _, it := range p.tape.Interactions {
		place(&it.Position, &it.Line)
	}
	for _, list := range [][]Skip{p.tape.Skipped, p.tape.Notes} {
		for i := range list {
			place(&list[i].Position, &list[i].Line)
		}
	}
	t.Interactions = append(t.Interactions, p.tape.Interactions...)
	t.Skipped = append(t.Skipped, p.tape.Skipped...)
	t.Notes = append(t.Notes, p.tape.Notes...)
	s.count += p.entries
	f.back(p.end, f.line+p.lines)
}

// readParts reads the parts side by side; one that is for the full reader ends it.
func (s *stream) readParts(parts []*part, indent int) {
	parallel.Each(len(parts), func() func(int) bool {
		f := newFast(nil)
		return func(i int) bool {
			s.readPart(f, parts[i], indent)
			return parts[i].whole
		}
	})
}

// readPart reads one part with a reader that may have read others.
func (s *stream) readPart(f *fast, p *part, indent int) {
	text := s.f.src[p.from:p.to]
	p.last = p.to == len(s.f.src)
	if end := documentEnd(text); end >= 0 {
		text, p.to, p.last = text[:end], p.from+end, true
	}
	if !plainText(text) {
		return
	}
	f.src, f.own, f.cut = s.f.src[:p.to:p.to], s.own, !p.last
	f.back(p.from, 0)
	p.tape.Name = s.tape.Name
	for f.dash(indent) {
		f.recycle()
		n := f.item(indent, 1)
		if f.bad = f.bad || len(n.keys) == 0; f.bad {
			break
		}
		p.tape.entry(p.entries, n, s.read)
		p.entries++
	}
	p.end, p.lines, p.whole, p.wrote = f.pos, f.line, !f.bad, f.wrote
}
