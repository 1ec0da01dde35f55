// Package show writes traces for a person: a timeline of calls, one a line, and
// single calls in full.
package show

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anvil-sim/anvil/trace"
)

// Options say what to show and how; the zero value shows the last run without
// colour.
type Options struct {
	Run   string // as in trace.OpenRun
	Color bool   // write colour for a terminal
	// Seqs are the calls to show in full; nil shows the timeline.
	Seqs []Range
}

// A Range is some seqs, both ends included.
type Range struct{ First, Last int64 }

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	blue   = "\x1b[36m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	plain  = "\x1b[0m"
)

// Write writes the timeline of a trace, or the calls that Options.Seqs names. It
// streams: memory does not grow with the trace. Control characters of the trace
// are escaped. A range in which no call was found is an *trace.OptionError, after
// the others have been written.
func Write(ctx context.Context, w io.Writer, in trace.Input, o *Options) error {
	s := shower{w: bufio.NewWriterSize(w, 64<<10)}
	if o != nil {
		s.opts = *o
	}
	r, side, err := trace.OpenRun(ctx, in, s.opts.Run)
	if err != nil {
		return err
	}
	defer r.Close()
	s.side, s.found = side, make([]bool, len(s.opts.Seqs))
	if s.opts.Seqs == nil {
		fmt.Fprintf(s.w, "%s: %s\n", trace.Clean(trace.DisplayName(side.Name)), side.Describe())
	}
	if err := s.all(ctx, r); err != nil {
		return errors.Join(err, s.w.Flush())
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	return s.missing()
}

type shower struct {
	w           *bufio.Writer
	opts        Options
	side        trace.Side
	run         int
	first, last int64 // the lowest and the highest seq seen
	calls       int
	written     bool // a call in full
	found       []bool
}

func (s *shower) all(ctx context.Context, r *trace.Reader) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = s.line(l)
		}
		if err != nil {
			return err
		}
	}
}

func (s *shower) line(l trace.Line) error {
	if s.calls++; s.calls == 1 {
		s.first, s.last = l.Seq, l.Seq
	}
	s.first, s.last = min(s.first, l.Seq), max(s.last, l.Seq)
	if s.opts.Seqs != nil && !s.wanted(l.Seq) {
		return nil
	}
	f, err := l.Facts()
	if err != nil {
		return err
	}
	if s.opts.Seqs != nil {
		return s.full(l, &f)
	}
	if l.Run != s.run && s.side.Count > 1 {
		fmt.Fprintf(s.w, "\n%s\n", s.paint(bold, fmt.Sprintf("run %d", l.Run)))
	}
	s.run = l.Run
	s.row(&f)
	return nil
}

func (s *shower) wanted(seq int64) (yes bool) {
	for i, r := range s.opts.Seqs {
		if seq >= r.First && seq <= r.Last {
			s.found[i], yes = true, true
		}
	}
	return yes
}

func (s *shower) missing() error {
	for i, r := range s.opts.Seqs {
		if s.found[i] {
			continue
		}
		what := fmt.Sprintf("call %d", r.First)
		if r.Last != r.First {
			what = fmt.Sprintf("call from %d to %d", r.First, r.Last)
		}
		next := ""
		if s.side.Runs > s.side.Count {
			next = fmt.Sprintf("the trace has %d runs; --run N or --run all looks in others", s.side.Runs)
		}
		return &trace.OptionError{Option: "--seq", Next: next,
			Msg: fmt.Sprintf("found no %s in %s, which has calls %d to %d", what, trace.DisplayName(s.side.Name), s.first, s.last)}
	}
	return nil
}

// row writes one call: seq, status, what was asked, the tool and what went wrong.
func (s *shower) row(f *trace.Facts) {
	target, tool := trace.Clean(f.Target()), trace.Clean(f.Tool)
	if tool == "" {
		tool = "(no operation)"
	}
	if target == "" {
		target, tool = tool, ""
	}
	tail := []string{}
	if tool != "" && (f.Code != "" || f.Source != "") {
		tool = fmt.Sprintf("%-24s", tool)
	}
	if tool != "" {
		tail = append(tail, s.paint(dim, tool))
	}
	if f.Code != "" {
		tail = append(tail, s.paint(statusColor(f), trace.Clean(f.Code)))
	}
	if f.Source != "" {
		tail = append(tail, s.paint(blue, fmt.Sprintf("%s#%d", trace.Clean(f.Source), f.SourceSeq)))
	}
	if len(tail) > 0 {
		target = fmt.Sprintf("%-40s", target)
	}
	line := fmt.Sprintf("%5d  %s  %s", f.Seq, s.paint(statusColor(f), fmt.Sprintf("%-5s", status(f))), target)
	for _, t := range tail {
		line += "  " + t
	}
	s.w.WriteString(strings.TrimRight(line, " ") + "\n")
}

// status is the HTTP status; a call in process has none.
func status(f *trace.Facts) string {
	switch {
	case f.Status != 0:
		return f.StatusText()
	case f.OK:
		return "ok"
	case f.Code != "":
		return "error"
	}
	return "-"
}

func statusColor(f *trace.Facts) string {
	switch {
	case f.Status >= 500:
		return red
	case f.Status >= 400 || f.Code != "":
		return yellow
	}
	return green
}

func (s *shower) paint(color, text string) string {
	if !s.opts.Color || color == "" {
		return text
	}
	return color + text + plain
}
