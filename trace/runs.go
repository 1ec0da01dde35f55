package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// A run is the part of a trace that one server wrote.
type run struct {
	offset, end int64
	line        int // lines of the file before it
	calls       int
	ascending   bool  // seq grows from line to line
	bad         error // the first line that is no entry
}

// A scan is what a first look at a trace finds.
type scan struct {
	name   string
	runs   []run
	blocks []block // all lines of the trace
	lines  int
	seen   seqSet // of the last run
	last   int64
}

// scanRuns finds the runs of a trace: a new one begins where a seq comes that
// the run has already, which holds for overlapping calls too. The lines are
// judged by their heads; the last one, which a cut would hit, is parsed. Workers
// read the blocks of the trace, which are put together in order.
func scanRuns(ctx context.Context, src *source, by sizes) (*scan, error) {
	s := &scan{name: src.name}
	count := int((src.size + by.block - 1) / by.block)
	p := pipeline[*scanned]{
		workers: min(runtime.GOMAXPROCS(0), max(count, 1)),
		worker: func() func(*scanned) error {
			r := &blockReader{src: src, limit: by.line}
			return func(b *scanned) error { b.read(r); return nil }
		},
		collect: s.add,
	}
	err := p.run(ctx, func(emit func(*scanned) error) error {
		for from := int64(0); from < src.size; from += by.block {
			b := scannedBlocks.Get().(*scanned)
			*b = scanned{from: from, to: min(from+by.block, src.size), heads: b.heads[:0]}
			if err := emit(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(s.runs) == 0 {
		return nil, &InputError{Name: src.name, Msg: "the trace is empty", Next: emptyHint}
	}
	return s, nil
}

// A scanned block is what a worker found in a part of the trace: its heads, and
// the error that ends the scan there. Lines are numbered from 1.
type scanned struct {
	from, to int64
	block
	lines int // blank ones too
	heads []scannedHead
	err   error
}

// scannedBlocks are used again.
var scannedBlocks = sync.Pool{New: func() any { return new(scanned) }}

type scannedHead struct {
	seq         int64
	offset, end int64 // of the line; end is behind its line break
	number      int
	bad         error // the line is no entry
}

func (b *scanned) read(r *blockReader) {
	lines, err := r.find(b.from, b.to)
	b.block = block{offset: lines.offset, end: lines.offset + int64(len(lines.text))}
	for {
		ln, lineErr := lines.read()
		b.lines = lines.number
		if lineErr == io.EOF {
			b.err = err
			return
		}
		if lineErr != nil {
			b.err = lineErr
			return
		}
		h, bad := readHead(r.src.name, ln)
		if bad == nil && !ln.ended {
			bad = checkJSON(r.src.name, ln)
		}
		b.heads = append(b.heads, scannedHead{h.seq, ln.offset, lines.offset + int64(lines.at), ln.number, bad})
	}
}

// add takes the next block.
func (s *scan) add(b *scanned) error {
	for i := range b.heads {
		s.head(&b.heads[i])
	}
	if b.err != nil {
		return s.placed(b.err)
	}
	if b.lines > 0 {
		b.line = s.lines
		s.blocks = append(s.blocks, b.block)
		s.lines += b.lines
	}
	clear(b.heads) // of errors
	scannedBlocks.Put(b)
	return nil
}

func (s *scan) head(h *scannedHead) {
	if len(s.runs) == 0 || h.bad == nil && s.seen.has(h.seq) {
		s.runs = append(s.runs, run{offset: h.offset, line: s.lines + h.number - 1, ascending: true})
		s.seen, s.last = seqSet{}, -1
	}
	r := &s.runs[len(s.runs)-1]
	r.end = h.end
	if h.bad != nil {
		if r.bad == nil {
			r.bad = s.placed(h.bad)
		}
		return
	}
	r.calls++
	r.ascending = r.ascending && h.seq > s.last
	s.last = h.seq
	s.seen.add(h.seq)
}

// placed numbers the line of an error as it stands in the trace.
func (s *scan) placed(err error) error {
	var e *InputError
	if errors.As(err, &e) && e.Line > 0 {
		e.Line += s.lines
	}
	return err
}

// of is what the blocks have of some runs that follow each other.
func (s *scan) of(picked []run) (out []block) {
	first, end := picked[0], picked[len(picked)-1].end
	for _, b := range s.blocks {
		if b.end <= first.offset || b.offset >= end {
			continue
		}
		if b.offset <= first.offset {
			b.offset, b.line = first.offset, first.line
		}
		b.end = min(b.end, end)
		out = append(out, b)
	}
	return out
}

// A seqSet holds the numbers of a run: those that follow each other as a range,
// others in pages of 4096.
type seqSet struct {
	from, to int64 // the range, to left out
	pages    map[int64]*[64]uint64
}

func (s *seqSet) has(n int64) bool {
	if s.from <= n && n < s.to {
		return true
	}
	p := s.pages[n>>12]
	return p != nil && p[n>>6&63]&(1<<(n&63)) != 0
}

func (s *seqSet) add(n int64) {
	switch {
	case s.from == s.to && s.pages == nil:
		s.from, s.to = n, n+1
		return
	case n == s.to:
		s.to++
		return
	case s.pages == nil:
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
