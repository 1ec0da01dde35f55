package trace

import (
	"context"
	"fmt"
	"io"
)

// A run is the part of a trace that one server wrote.
type run struct {
	offset, end int64
	line        int // lines of the file before it
	calls       int
	ascending   bool  // seq grows from line to line
	bad         error // the first line that is no entry
}

// scanRuns finds the runs of a trace: a new one begins where a seq comes that
// the run has already, which holds for overlapping calls too. The lines are
// judged by their heads; the last one, which a cut would hit, is parsed.
func scanRuns(ctx context.Context, src *source) ([]run, error) {
	lines := newLineReader(src, 0, src.size, 0)
	var runs []run
	var seen seqSet
	last := int64(-1)
	for n := 0; ; n++ {
		ln, err := lines.read()
		if err == nil && n%4096 == 0 {
			err = ctx.Err()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		h, err := readHead(src.name, ln)
		if err == nil && !ln.ended {
			err = checkJSON(src.name, ln)
		}
		if len(runs) == 0 || err == nil && seen.has(h.seq) {
			runs = append(runs, run{offset: ln.offset, line: ln.number - 1, ascending: true})
			seen, last = seqSet{}, -1
		}
		r := &runs[len(runs)-1]
		r.end = lines.next - int64(lines.to-lines.from)
		if err != nil {
			if r.bad == nil {
				r.bad = err
			}
			continue
		}
		r.calls++
		r.ascending = r.ascending && h.seq > last
		last = h.seq
		seen.add(h.seq)
	}
	if len(runs) == 0 {
		return nil, &InputError{Name: src.name, Msg: "the trace is empty", Next: emptyHint}
	}
	return runs, nil
}

// A seqSet holds the numbers of a run, in pages of 4096.
type seqSet struct{ pages map[int64]*[64]uint64 }

func (s *seqSet) has(n int64) bool {
	p := s.pages[n>>12]
	return p != nil && p[n>>6&63]&(1<<(n&63)) != 0
}

func (s *seqSet) add(n int64) {
	if s.pages == nil {
		s.pages = map[int64]*[64]uint64{}
	}
	p := s.pages[n>>12]
	if p == nil {
		p = new([64]uint64)
		s.pages[n>>12] = p
	}
	p[n>>6&63] |= 1 << (n & 63)
}

// Runs of a file to compare.
const (
	lastRun = "last"
	allRuns = "all"
)

// pickRuns chooses by --run: "last" (the default), "all", or a number from 1.
func pickRuns(name string, runs []run, which string) (first int, picked []run, err error) {
	switch which {
	case "", lastRun:
		first, picked = len(runs), runs[len(runs)-1:]
	case allRuns:
		first, picked = 1, runs
	default:
		n, size := parseSeq([]byte(which))
		if size != len(which) || n < 1 {
			return 0, nil, &OptionError{Option: "--run", Msg: fmt.Sprintf("found %q, want a number from 1, last or all", which)}
		}
		if n > int64(len(runs)) {
			return 0, nil, &OptionError{Option: "--run", Msg: fmt.Sprintf("%s has %d run(s), found run %d", displayName(name), len(runs), n),
				Next: "a run begins where seq starts again"}
		}
		first, picked = int(n), runs[n-1:n]
	}
	for i := range picked {
		if picked[i].bad != nil {
			return 0, nil, picked[i].bad
		}
	}
	return first, picked, nil
}
