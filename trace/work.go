package trace

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A tally is what some steps add to a report.
type tally struct {
	same, changed, missing, inserted, moved int
	findings                                int
	ignored, tolerated                      []int
	outside, renamed                        int
	calls                                   []Call
	room                                    int // findings that calls may still hold; negative: any number
	first                                   *Call
}

func (d *differ) newTally(room int) *tally {
	return &tally{ignored: make([]int, len(d.opts.Ignore)), tolerated: make([]int, len(d.opts.Tolerance)), room: room}
}

// merge adds part, which may hold more calls than there is room for.
func (t *tally) merge(part *tally) {
	if part == nil {
		return
	}
	t.same += part.same
	t.changed += part.changed
	t.missing += part.missing
	t.inserted += part.inserted
	t.moved += part.moved
	t.findings += part.findings
	for i := range t.ignored {
		t.ignored[i] += part.ignored[i]
	}
	for i := range t.tolerated {
		t.tolerated[i] += part.tolerated[i]
	}
	t.outside += part.outside
	t.renamed += part.renamed
	if t.first == nil {
		t.first = part.first
	}
	for _, c := range part.calls {
		t.keep(c)
	}
}

func (t *tally) keep(c Call) {
	if t.room == 0 {
		return
	}
	if t.room > 0 {
		if c.Kind != CallChanged {
			t.room--
		}
		if over := len(c.Findings) - t.room; over > 0 {
			c.More += over
			c.Findings = c.Findings[:t.room]
		}
		t.room -= len(c.Findings)
	}
	t.calls = append(t.calls, c)
}

func (t *tally) report(r *Report) {
	r.Same, r.Changed, r.Missing, r.Inserted, r.Moved = t.same, t.changed, t.missing, t.inserted, t.moved
	r.Findings, r.Calls, r.First = t.findings, t.calls, t.first
	r.Outside, r.Renamed = t.outside, t.renamed
}

// A job says how the pairs of one attempt are compared.
type job struct {
	pats   *patterns
	byCall bool // seq and request ids may differ
	strict bool // calls that ask something else end the attempt
}

// A batch is some steps in order, with their lines copied into one buffer.
type batch struct {
	steps []step
	spans [][4]int // of a and b in buf
	buf   []byte
	out   tally
}

// batchSize is how much text a batch gathers before a worker gets it, in bytes.
const batchSize = 256 << 10

// batches are used again: their buffers are most of what a comparison allocates.
var batches = sync.Pool{New: func() any { return new(batch) }}

func newBatch() *batch {
	b := batches.Get().(*batch)
	*b = batch{steps: b.steps[:0], spans: b.spans[:0], buf: b.buf[:0]}
	return b
}

func (b *batch) free() {
	if cap(b.buf) <= 4*batchSize {
		batches.Put(b)
	}
}

func (b *batch) add(st step) {
	from := len(b.buf)
	b.buf = append(b.buf, st.a.text...)
	mid := len(b.buf)
	b.buf = append(b.buf, st.b.text...)
	b.spans = append(b.spans, [4]int{from, mid, mid, len(b.buf)})
	b.steps = append(b.steps, st)
}

// compare runs the steps that produce emits through the workers and adds up what
// they find, in order. The sum does not depend on the number of workers.
func (d *differ) compare(ctx context.Context, j job, room int, produce func(emit func(step) error) error) (*tally, error) {
	sum := d.newTally(room)
	p := pipeline[*batch]{
		workers: d.workers,
		worker:  func() func(*batch) error { return newWorker(d, j).run },
		collect: func(b *batch) error {
			sum.merge(&b.out)
			b.free()
			return nil
		},
	}
	return sum, p.run(ctx, func(emit func(*batch) error) error { return inBatches(emit, produce) })
}

// inBatches puts steps together to batches.
func inBatches(emit func(*batch) error, produce func(emit func(step) error) error) error {
	cur := newBatch()
	flush := func() error {
		if len(cur.steps) == 0 {
			return nil
		}
		full := cur
		cur = newBatch()
		return emit(full)
	}
	err := produce(func(st step) error {
		cur.add(st)
		if len(cur.buf) < batchSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// A worker compares the steps of one batch after the other.
type worker struct {
	d *differ
	job
	quick quick
	names *renamer // nil without --rename
}

func newWorker(d *differ, j job) *worker {
	names := newRenamer(d.opts.Rename)
	return &worker{d: d, job: j, names: names,
		quick: quick{pats: j.pats, ignored: make([]int, j.pats.ignores), loose: newLoose(d, j, names)}}
}

func (w *worker) run(b *batch) error {
	b.out = *w.d.newTally(w.d.opts.Max)
	for i, st := range b.steps {
		s := b.spans[i]
		st.a.text, st.b.text = b.buf[s[0]:s[1]], b.buf[s[2]:s[3]]
		b.out.same += st.same
		if err := w.step(st, &b.out); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) step(st step, out *tally) error {
	st.moved = st.moved && !w.d.opts.Unordered
	hasA, hasB := len(st.a.text) > 0, len(st.b.text) > 0
	if !hasA && !hasB {
		return nil // the count of equal pairs at the end
	}
	w.names.begin()
	if hasA && hasB && !st.moved && !w.d.opts.Bytes && !w.d.opts.parseAll && w.quickly(st) {
		out.same++
		w.quick.count(out)
		return nil
	}
	return w.closely(st, hasA, hasB, out)
}

// quickly reports whether the pair is equal, as far as it can tell.
func (w *worker) quickly(st step) bool {
	w.quick.idA, w.quick.idB = nil, nil
	if w.byCall {
		x, errA := readHead(w.d.a.name, st.a)
		y, errB := readHead(w.d.b.name, st.b)
		if errA != nil || errB != nil {
			return false
		}
		w.quick.idA, w.quick.idB = x.requestID, y.requestID
	}
	return w.quick.equalLines(st.a.text, st.b.text)
}

// closely parses the lines and finds what differs.
func (w *worker) closely(st step, hasA, hasB bool, out *tally) error {
	var c Call
	var a, b *canon.Value
	var err error
	if hasA {
		if a, err = parseEntry(w.d.a.name, st.a); err != nil {
			return err
		}
		c.Old = refOf(a, st.a)
		c.OldLine = w.keepLine(st.a)
	}
	if hasB {
		if b, err = parseEntry(w.d.b.name, st.b); err != nil {
			return err
		}
		c.New = refOf(b, st.b)
		c.NewLine = w.keepLine(st.b)
	}
	switch {
	case !hasB:
		c.Kind, c.Stage = CallMissing, StageRequest
		out.missing++
	case !hasA:
		c.Kind, c.Stage = CallInserted, StageRequest
		out.inserted++
	default:
		return w.pair(st, a, b, c, out)
	}
	out.found(c, 1)
	return nil
}

// pair adds the differences of two parsed entries.
func (w *worker) pair(st step, a, b *canon.Value, c Call, out *tally) error {
	if w.strict && !w.sameCall(st, a, b) {
		return errNotBySeq
	}
	cmp := comparer{pats: w.pats, opts: &w.d.opts, names: w.names, bytes: w.d.opts.Bytes, room: max(w.d.opts.Max, -1),
		ignored: make([]int, w.pats.ignores), tolerated: make([]int, len(w.d.opts.Tolerance)), outside: len(w.d.opts.Only) > 0}
	if w.byCall {
		cmp.idA, cmp.idB = a.Get("requestId").Text(), b.Get("requestId").Text()
	}
	keys := cmp.entries(a, b, w.pats.begin(st.a.text))
	if cmp.bytes {
		cmp.spelling(a, b, st.a.text, st.b.text)
	}
	for i := range out.ignored {
		out.ignored[i] += cmp.ignored[i]
	}
	for i := range out.tolerated {
		out.tolerated[i] += cmp.tolerated[i]
	}
	out.outside += cmp.left
	out.renamed += w.names.take()
	c.Findings, c.More = cmp.findings, cmp.count-len(cmp.findings)
	c.Kind, c.Stage = CallChanged, stageOf(a, b, keys)
	switch {
	case st.moved:
		c.Kind, c.Stage = CallMoved, StageOrder
		out.moved++
		out.found(c, 1+cmp.count)
	case cmp.count > 0:
		out.changed++
		out.found(c, cmp.count)
	default:
		out.same++
	}
	return nil
}

// found adds a call with so many findings.
func (t *tally) found(c Call, findings int) {
	t.findings += findings
	if t.first == nil {
		first := c
		first.Findings = slices.Clone(c.Findings)
		t.first = &first
	}
	t.keep(c)
}

// sameCall reports whether a pair asks the same. Under a renaming the tool alone
// tells, since what is asked for has another name.
func (w *worker) sameCall(st step, x, y *canon.Value) bool {
	a, okA := identify(st.a.text, w.pats)
	b, okB := identify(st.b.text, w.pats)
	if w.names != nil && x.Get("tool").Is(canon.String) {
		return a.tool == b.tool
	}
	return okA == okB && a.tool == b.tool && a.call == b.call
}

func (w *worker) keepLine(ln line) []byte {
	if !w.d.opts.Lines {
		return nil
	}
	return bytes.Clone(bytes.Trim(ln.text, " \t\r"))
}
