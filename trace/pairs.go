package trace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
)

// A step is a pair of calls to compare, or a call of one side.
type step struct {
	a, b  line // text is nil where the side has no call
	moved bool
	same  int // so many pairs before it are equal byte for byte
}

// errNotBySeq ends an attempt to pair by seq where calls with one seq differ.
var errNotBySeq = errors.New("the calls do not pair by seq")

// runs compares two runs and adds what it finds to sum.
func (d *differ) runs(ctx context.Context, a, b run, sum *tally) (Align, error) {
	if d.opts.Align == AlignSeq || d.opts.Align == AlignAuto && a.calls == b.calls && !d.opts.Unordered {
		strict := d.opts.Align == AlignAuto
		part, err := d.compare(ctx, job{pats: d.bySeq, strict: strict}, sum.room, func(emit func(step) error) error {
			return d.seqSteps(ctx, a, b, strict, emit)
		})
		if !errors.Is(err, errNotBySeq) {
			sum.merge(part)
			return AlignSeq, err
		}
	}
	part, err := d.compare(ctx, job{pats: d.byCall, byCall: true}, sum.room, func(emit func(step) error) error {
		return d.callSteps(ctx, a, b, emit)
	})
	sum.merge(part)
	return AlignCall, err
}

// seqSteps pairs by seq. strict gives up where a side lacks one.
func (d *differ) seqSteps(ctx context.Context, a, b run, strict bool, emit func(step) error) error {
	if a.ascending && b.ascending {
		return d.mergeSeq(ctx, newSide(d.a, a), newSide(d.b, b), strict, emit)
	}
	placesA, placesB, err := d.index(ctx, a, b)
	if err != nil {
		return err
	}
	bySeq := func(x, y place) int { return cmp.Compare(x.seq, y.seq) }
	slices.SortFunc(placesA, bySeq)
	slices.SortFunc(placesB, bySeq)
	return d.mergeSeq(ctx, &indexSide{f: fetcher{src: d.a}, places: placesA}, &indexSide{f: fetcher{src: d.b}, places: placesB}, strict, emit)
}

func (d *differ) index(ctx context.Context, a, b run) (x, y []place, err error) {
	err = both(
		func() (err error) { x, err = indexRun(ctx, d.a, a, d.byCall); return err },
		func() (err error) { y, err = indexRun(ctx, d.b, b, d.byCall); return err },
	)
	return x, y, err
}

func (d *differ) callSteps(ctx context.Context, a, b run, emit func(step) error) error {
	placesA, placesB, err := d.index(ctx, a, b)
	if err != nil {
		return err
	}
	fetchA, fetchB := fetcher{src: d.a}, fetcher{src: d.b}
	alikeA, alikeB := fetcher{src: d.a}, fetcher{src: d.b}
	pairs := alignCalls(placesA, placesB, alikeA.leavesOf(placesA), alikeB.leavesOf(placesB))
	if err := cmp.Or(alikeA.err, alikeB.err); err != nil {
		return err
	}
	for _, p := range pairs {
		st := step{moved: p.moved}
		if p.a >= 0 {
			if st.a, err = fetchA.line(placesA[p.a]); err != nil {
				return err
			}
			st.a.index = int(p.a)
		}
		if p.b >= 0 {
			if st.b, err = fetchB.line(placesB[p.b]); err != nil {
				return err
			}
			st.b.index = int(p.b)
		}
		if err := emit(st); err != nil {
			return err
		}
	}
	return nil
}

// A lineSide gives the lines of a run in the order of their seq.
type lineSide interface {
	read() (line, error) // io.EOF at the end
	seq(line) (int64, error)
}

type fileSide struct {
	*lineReader
}

func newSide(src *source, r run) *fileSide {
	return &fileSide{newLineReader(src, r.offset, r.end, r.line)}
}

func (s *fileSide) seq(ln line) (int64, error) {
	h, err := readHead(s.src.name, ln)
	return h.seq, err
}

type indexSide struct {
	f      fetcher
	places []place
	next   int
}

func (s *indexSide) read() (line, error) {
	if s.next == len(s.places) {
		return line{}, io.EOF
	}
	s.next++
	return s.f.line(s.places[s.next-1])
}

func (s *indexSide) seq(line) (int64, error) { return s.places[s.next-1].seq, nil }

// mergeSeq emits the pairs of two sides whose seq rises. A renaming needs to see
// equal lines too.
func (d *differ) mergeSeq(ctx context.Context, a, b lineSide, strict bool, emit func(step) error) error {
	same, skipEqual := 0, len(d.opts.Rename) == 0
	nA, nB := 0, 0 // calls read before
	la, errA := a.read()
	lb, errB := b.read()
	for {
		if err := cmp.Or(notEOF(errA), notEOF(errB)); err != nil {
			return err
		}
		if same&0xFFFF == 0xFFFF && ctx.Err() != nil {
			return ctx.Err()
		}
		if skipEqual && errA == nil && errB == nil && bytes.Equal(la.text, lb.text) {
			same, nA, nB = same+1, nA+1, nB+1
			la, errA = a.read()
			lb, errB = b.read()
			continue
		}
		st, takeA, takeB, err := nextStep(a, b, la, lb, errA == nil, errB == nil)
		if err != nil {
			return err
		}
		st.same, same = same, 0
		st.a.index, st.b.index = nA, nB
		if strict && takeA != takeB {
			return errNotBySeq
		}
		if err := emit(st); err != nil || !takeA && !takeB {
			return err
		}
		if takeA {
			nA++
			la, errA = a.read()
		}
		if takeB {
			nB++
			lb, errB = b.read()
		}
	}
}

func notEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// nextStep takes the side with the lower seq, or both.
func nextStep(a, b lineSide, la, lb line, hasA, hasB bool) (st step, takeA, takeB bool, err error) {
	takeA, takeB = hasA, hasB
	if hasA && hasB {
		x, errA := a.seq(la)
		y, errB := b.seq(lb)
		if err := errors.Join(errA, errB); err != nil {
			return step{}, false, false, err
		}
		takeA, takeB = x <= y, y <= x
	}
	if takeA {
		st.a = la
	}
	if takeB {
		st.b = lb
	}
	return st, takeA, takeB, nil
}
