// Package htmlreport makes one HTML page of a run, or of a run beside its
// baseline, that a person opens in a browser.
//
// The page holds all it needs: no network, no other file. Its bytes depend on
// the traces and options alone. What traces say is data in it: it stands in
// script elements of type application/json with every "<" escaped, reaches the
// document as text only, and a content security policy runs no script but the
// page's own, by its hash.
package htmlreport

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// MaxCalls is how many calls a page may show. A browser shows 10,000 at once; a
// larger page loads for long and says no more to a reader.
const MaxCalls = 50_000

// maxData bounds the text of the calls in a page, in bytes.
const maxData = 256 << 20

// chunkSize is about how much text one data element holds, in bytes. The page
// reads an element when one of its calls is looked at.
const chunkSize = 1 << 20

// Options say what the page is about.
type Options struct {
	// Title is the page's title; "" makes one of the names of the traces.
	Title string
	// Diff are the options of the comparison. Its Run chooses the runs with and
	// without a baseline; its Max is not looked at: a page shows all findings.
	Diff trace.DiffOptions
}

// Write writes the page of a run; baseline is nil when there is none. It returns
// what the comparison found, nil without one. Inputs that are readers are held
// in memory. The errors are those of [trace.Diff] and [trace.OpenRun], and one
// for a run that is too large for a page.
func Write(ctx context.Context, w io.Writer, run trace.Input, baseline *trace.Input, o *Options) (*trace.Report, error) {
	p := page{w: bufio.NewWriterSize(w, 64<<10)}
	if o != nil {
		p.opts = *o
	}
	p.first = -1
	again, err := rereadable(run)
	if err != nil {
		return nil, err
	}
	var old func() trace.Input
	if baseline != nil {
		if old, err = rereadable(*baseline); err != nil {
			return nil, err
		}
		p.opts.Diff.Max = -1
		if p.report, err = trace.Diff(ctx, old(), again(), &p.opts.Diff); err != nil {
			return nil, err
		}
	}
	return p.report, p.write(ctx, again, old)
}

func (p *page) write(ctx context.Context, run, baseline func() trace.Input) error {
	r, side, err := trace.OpenRun(ctx, run(), p.opts.Diff.Run)
	if err != nil {
		return err
	}
	defer r.Close()
	if side.Calls > MaxCalls {
		return tooLarge(side, fmt.Sprintf("%d calls", side.Calls), fmt.Sprintf("%d calls", MaxCalls))
	}
	p.run = side
	p.head()
	if baseline != nil {
		if err := p.baselineCalls(ctx, baseline()); err != nil {
			return err
		}
	}
	n := 0
	err = p.calls(ctx, r, "line", func(l trace.Line, at int) (bool, error) {
		n++
		return true, p.runCall(l, at)
	})
	if err != nil {
		return err
	}
	p.missingRows(n)
	p.tail()
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func tooLarge(side trace.Side, found, limit string) error {
	return &trace.InputError{Name: side.Name, Msg: fmt.Sprintf("has %s in the chosen runs, a page holds at most %s", found, limit),
		Next: "choose the calls first: with 'anvil-trace filter', or a run with --run"}
}

// rereadable lets an input be opened several times.
func rereadable(in trace.Input) (func() trace.Input, error) {
	if in.Reader == nil {
		return func() trace.Input { return in }, nil
	}
	data, err := io.ReadAll(io.LimitReader(in.Reader, 2*maxData))
	if err != nil {
		return nil, &trace.InputError{Name: in.Name, Msg: "cannot be read", Err: err}
	}
	if len(data) == 2*maxData {
		return nil, &trace.InputError{Name: in.Name, Msg: fmt.Sprintf("is longer than %d bytes, too much for a page", 2*maxData)}
	}
	return func() trace.Input { return trace.Input{Name: in.Name, Reader: bytes.NewReader(data)} }, nil
}

// A page is one page being written.
type page struct {
	w      *bufio.Writer
	opts   Options
	run    trace.Side
	report *trace.Report // nil without a baseline
	changes
	index []byte // the rows of the timeline, as JSON
	rows  int
	first int   // the row of the first difference, -1 without one
	held  int64 // bytes of call text
	buf   []byte
}

// calls writes lines of a trace as chunks of class. each is asked for every line
// whether to keep it, and told the place it would have among those kept.
func (p *page) calls(ctx context.Context, r *trace.Reader, class string, each func(l trace.Line, at int) (keep bool, err error)) error {
	c := chunks{w: p.w, class: class}
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, err := r.Read()
		if err == io.EOF {
			c.close()
			return nil
		}
		if err == nil {
			err = l.Check()
		}
		if err != nil {
			return err
		}
		keep, err := each(l, c.lines)
		if err != nil {
			return err
		}
		if !keep {
			continue
		}
		if p.buf, err = canon.AppendCompact(p.buf[:0], l.Text, canon.Strict); err != nil {
			return err
		}
		if p.held += int64(len(p.buf)); p.held > maxData {
			return tooLarge(p.run, "more than "+strconv.Itoa(maxData>>20)+" MiB", strconv.Itoa(maxData>>20)+" MiB")
		}
		c.add(p.buf)
	}
}
