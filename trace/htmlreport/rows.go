package htmlreport

import (
	"context"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// changes are what a comparison found, by where the page shows it.
type changes struct {
	list     []*trace.Call       // all, as the page numbers them
	byLine   map[int]int         // by the line of the run, in list
	byOld    map[int]int         // by the line of the baseline, in list
	oldAt    map[int]int         // places of baseline lines in the page, by index in list
	before   map[int][]int       // calls of the baseline alone, by the index of the run's call that they stood before
	oldFacts map[int]trace.Facts // of those calls
	oldRuns  map[int]int         // their runs
}

// maxFindings is how many findings of one call a page shows.
const maxFindings = 500

// baselineCalls writes the lines of the baseline that some call is shown beside,
// and finds where those stood that the run does not have.
func (p *page) baselineCalls(ctx context.Context, in trace.Input) error {
	p.changes = changes{byLine: map[int]int{}, byOld: map[int]int{}, oldAt: map[int]int{}, before: map[int][]int{}, oldFacts: map[int]trace.Facts{}, oldRuns: map[int]int{}}
	for i := range p.report.Calls {
		c := &p.report.Calls[i]
		p.list = append(p.list, c)
		if c.New != nil {
			p.byLine[c.New.Line] = i
		}
		if c.Old != nil {
			p.byOld[c.Old.Line] = i
		}
	}
	if len(p.list) == 0 {
		return nil
	}
	r, _, err := trace.OpenRun(ctx, in, p.opts.Diff.Run)
	if err != nil {
		return err
	}
	defer r.Close()
	stood, n := map[int]int{}, 0 // index in the baseline, by index in list
	err = p.calls(ctx, r, "base", func(l trace.Line, at int) (bool, error) {
		i, ok := p.byOld[l.Number]
		if ok {
			stood[i], p.oldAt[i] = n, at
			if p.list[i].Kind == trace.CallMissing {
				f, err := l.Facts()
				if err != nil {
					return false, err
				}
				p.oldFacts[i], p.oldRuns[i] = f, l.Run
			}
		}
		n++
		return ok, nil
	})
	p.placeMissing(stood)
	return err
}

// placeMissing finds before which call of the run a missing one stood: its index
// in the baseline, less the missing and plus the inserted ones before it. Where
// calls moved this is near the place.
func (p *page) placeMissing(stood map[int]int) {
	shift := 0
	for i, c := range p.list {
		switch c.Kind {
		case trace.CallInserted:
			shift++
		case trace.CallMissing:
			at := min(max(0, stood[i]+shift), p.run.Calls)
			p.before[at] = append(p.before[at], i)
			shift--
		}
	}
}

// runCall adds the row of a call of the run, after those that only the baseline
// has at this place.
func (p *page) runCall(l trace.Line, at int) error {
	p.missingRows(at)
	f, err := l.Facts()
	if err != nil {
		return err
	}
	change, ok := p.byLine[l.Number]
	if !ok {
		change = -1
	}
	p.row(&f, l.Run, at, change)
	return nil
}

// missingRows adds the rows of the calls that stood before call at of the run.
func (p *page) missingRows(at int) {
	for _, i := range p.before[at] {
		f := p.oldFacts[i]
		p.row(&f, p.oldRuns[i], -1, i)
	}
}

// row adds a row of the timeline, with the run in its own trace. at is the call's place among the run's lines,
// -1 without one; change is its index in the list of changes, -1 without one.
func (p *page) row(f *trace.Facts, run, at, change int) {
	if p.rows > 0 {
		p.index = append(p.index, ",\n"...)
	}
	target := f.Path
	if f.Query != "" {
		target += "?" + f.Query
	}
	p.index = strconv.AppendInt(append(p.index, `{"seq":`...), f.Seq, 10)
	p.index = strconv.AppendInt(append(p.index, `,"run":`...), int64(run), 10)
	p.index = appendText(p.index, "method", f.Method)
	p.index = appendText(p.index, "target", target)
	p.index = appendText(p.index, "tool", f.Tool)
	p.index = strconv.AppendInt(append(p.index, `,"status":`...), int64(f.Status), 10)
	p.index = appendText(p.index, "code", f.Code)
	p.index = appendText(p.index, "source", f.Source)
	p.index = strconv.AppendInt(append(p.index, `,"line":`...), int64(at), 10)
	base := -1
	if change >= 0 {
		p.index = strconv.AppendInt(append(p.index, `,"change":`...), int64(change), 10)
		if old, ok := p.oldAt[change]; ok {
			base = old
		}
		if isFirst(p.report.First, p.list[change]) && p.first < 0 {
			p.first = p.rows
		}
	}
	p.index = strconv.AppendInt(append(p.index, `,"base":`...), int64(base), 10)
	p.index = append(p.index, '}')
	p.rows++
}

// isFirst reports whether a call is where the runs first diverged.
func isFirst(first, c *trace.Call) bool {
	return first != nil && first.Kind == c.Kind && sameRef(first.Old, c.Old) && sameRef(first.New, c.New)
}

func sameRef(a, b *trace.Ref) bool {
	return a == b || a != nil && b != nil && a.Line == b.Line
}

func appendText(dst []byte, key, val string) []byte {
	return canon.AppendString(append(append(append(dst, ",\""...), key...), "\":"...), val)
}
