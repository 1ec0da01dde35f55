package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
)

// Align says how the calls of two runs are paired.
type Align string

// The ways to pair calls.
const (
	AlignAuto Align = "auto" // by seq while every pair asks the same, else by call
	AlignSeq  Align = "seq"  // the calls with one seq
	AlignCall Align = "call" // the same calls: tool, method, path, query and body, or input
)

// DiffOptions say how to compare; the zero value and nil compare all values of
// the last runs.
type DiffOptions struct {
	// Align pairs the calls; "" is AlignAuto. Pairs found by call may have
	// another seq: seq itself is then no difference, and neither are the two
	// request ids where they stand at the same path.
	Align Align
	// Unordered pairs by call, and a call at another place is no difference: for
	// runs with overlapping calls.
	Unordered bool
	// Bytes makes the spelling of values and the order of keys count.
	Bytes bool
	// Ignore are JSON Pointers into the entry, in which * is one segment and **
	// any number of them: "/provider/meta/**". What differs there is counted
	// and is no difference. OPERATION:POINTER, or TOOL:POINTER, is for the calls
	// of one operation; * in its name stands for any text. A name that no call of
	// either trace has is an *OptionError.
	Ignore []string
	// Only are patterns as in Ignore: when there are any, only what stands at or
	// under one of them counts. The rest is counted in Report.Outside.
	Only []string
	// Tolerance says how far numbers may part and be no difference.
	Tolerance []Tolerance
	// Rename names values that differ in every run and keep their identity:
	// patterns as in Ignore, or the classes "ids", "tokens", "cursors" and "times".
	// They may differ when one renaming, the same in the whole run, explains it.
	Rename []string
	// Reasons say why a pattern of Ignore, Only, Tolerance or Rename is there.
	// They stand in reports and change nothing.
	Reasons map[string]string
	// Lines keeps the lines of the calls that differ, for patches.
	Lines bool
	// Run chooses among the runs of a trace: "last" (also ""), "all", which
	// pairs the first with the first, or a number from 1.
	Run string
	// Max bounds Report.Calls to so many findings: 0 is 100, negative all.
	Max int
	// Workers compare lines; 0 is one a processor. The report does not depend on it.
	Workers int

	parseAll bool // no pair is compared without parsing it
}

const defaultMax = 100

func (o *DiffOptions) complete() (DiffOptions, error) {
	var out DiffOptions
	if o != nil {
		out = *o
		out.Ignore = slices.Clone(o.Ignore)
		out.Only, out.Rename = slices.Clone(o.Only), slices.Clone(o.Rename)
		out.Tolerance = slices.Clone(o.Tolerance)
	}
	switch out.Align {
	case "":
		out.Align = AlignAuto
	case AlignAuto, AlignSeq, AlignCall:
	default:
		return out, &OptionError{Option: "--align", Msg: fmt.Sprintf("found %q, want auto, seq or call", out.Align)}
	}
	if out.Unordered && out.Align == AlignSeq {
		return out, &OptionError{Option: "--unordered", Msg: "pairs by call, found --align seq beside it"}
	}
	if out.Run == "" {
		out.Run = lastRun
	}
	if out.Max == 0 {
		out.Max = defaultMax
	}
	return out, nil
}

// Diff compares the trace other with the baseline. An input that is missing,
// empty, cut or no trace is an error (*InputError), never a difference, as is an
// unknown option (*OptionError).
//
// Inputs that are equal byte for byte are not parsed, but for the last line.
// Memory does not grow with files whose seq rises from line to line; pairing by
// call takes about 100 bytes a call.
func Diff(ctx context.Context, baseline, other Input, o *DiffOptions) (*Report, error) {
	return diffInputs(ctx, baseline, other, o, inMemory)
}

func diffInputs(ctx context.Context, baseline, other Input, o *DiffOptions, memory int64) (*Report, error) {
	opts, err := o.complete()
	if err != nil {
		return nil, err
	}
	d := &differ{opts: opts, workers: opts.Workers}
	if d.workers <= 0 {
		d.workers = runtime.GOMAXPROCS(0)
	}
	if d.bySeq, err = compileOptions(&opts, opts.Ignore); err != nil {
		return nil, err
	}
	if d.byCall, err = compileOptions(&opts, append(slices.Clone(opts.Ignore), "/seq")); err != nil {
		return nil, err
	}
	if len(opts.Rename) > 0 {
		d.workers = 1 // the renaming is found in the order of the calls
	}
	err = both(
		func() (err error) { d.a, err = openSource(baseline, memory); return err },
		func() (err error) { d.b, err = openSource(other, memory); return err },
	)
	defer func() {
		for _, s := range []*source{d.a, d.b} {
			if s != nil {
				s.close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	return d.diff(ctx)
}

// both runs two functions at once and returns the first one's error before the
// second's.
func both(f, g func() error) error {
	var wg sync.WaitGroup
	var errG error
	wg.Go(func() { errG = g() })
	errF := f()
	wg.Wait()
	if errF != nil && errG != nil && errF.Error() == errG.Error() {
		return errF // one file in both places
	}
	return errors.Join(errF, errG)
}

type differ struct {
	opts          DiffOptions
	workers       int
	bySeq, byCall *patterns // byCall leaves /seq out too, as its last pattern
	a, b          *source
}

func (d *differ) diff(ctx context.Context) (*Report, error) {
	r := &Report{Options: d.opts, Align: AlignSeq, Ignored: make([]int, len(d.opts.Ignore)),
		Tolerated: make([]int, len(d.opts.Tolerance)),
		Baseline:  Side{Name: d.a.name}, Other: Side{Name: d.b.name}}
	if d.opts.Run == lastRun || d.opts.Run == allRuns {
		same, err := d.identical(ctx)
		if err == nil && same {
			// ends where the last name is found, mostly near the start
			err = d.checkScopes(ctx, []run{{end: d.a.size}}, 1)
		}
		if err != nil || same {
			r.Identical = same
			return r, err
		}
	}
	var runsA, runsB []run
	err := both(
		func() (err error) { runsA, _, err = pickSide(ctx, d.a, d.opts.Run, &r.Baseline); return err },
		func() (err error) { runsB, _, err = pickSide(ctx, d.b, d.opts.Run, &r.Other); return err },
	)
	if err != nil {
		return nil, err
	}
	sum := tally{ignored: r.Ignored, tolerated: r.Tolerated, room: d.opts.Max}
	for i := range max(len(runsA), len(runsB)) {
		align, err := d.runs(ctx, at(runsA, i), at(runsB, i), &sum)
		if err != nil {
			return nil, err
		}
		if align == AlignCall {
			r.Align = AlignCall
		}
	}
	sum.report(r)
	return r, d.checkScopes(ctx, append(slices.Clone(runsA), runsB...), len(runsA))
}

// at is run i, or an empty one where a trace has fewer.
func at(runs []run, i int) run {
	if i < len(runs) {
		return runs[i]
	}
	return run{ascending: true}
}

// pickSide finds the runs of a source and chooses some, with their blocks.
func pickSide(ctx context.Context, src *source, which string, side *Side) ([]run, []block, error) {
	s, err := scanRuns(ctx, src, usualSizes())
	if err != nil {
		return nil, nil, err
	}
	first, picked, err := pickRuns(src.name, s.runs, which)
	if err != nil {
		return nil, nil, err
	}
	side.Runs, side.Run, side.Count = len(s.runs), first, len(picked)
	for i := range picked {
		side.Calls += picked[i].calls
	}
	return picked, s.of(picked), nil
}

// compareBlock is how much of equal files is compared at once, in bytes.
const compareBlock = 512 << 10

// identical compares the bytes of the inputs. Of equal ones it checks that they
// end in a whole entry.
func (d *differ) identical(ctx context.Context) (bool, error) {
	if d.a.size != d.b.size || d.a.size == 0 {
		return false, nil
	}
	x, y := make([]byte, compareBlock), make([]byte, compareBlock)
	for at := int64(0); at < d.a.size; at += compareBlock {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n := int(min(compareBlock, d.a.size-at))
		for _, side := range []struct {
			src *source
			buf []byte
		}{{d.a, x}, {d.b, y}} {
			if got, err := side.src.r.ReadAt(side.buf[:n], at); got < n {
				return false, &InputError{Name: side.src.name, Msg: fmt.Sprintf("cannot be read at byte %d", at+int64(got)), Err: err}
			}
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false, nil
		}
	}
	return true, checkLastLine(d.a)
}

// checkLastLine parses the last line that is not blank.
func checkLastLine(src *source) error {
	for back := int64(readBlock); ; back *= 4 {
		from := max(0, src.size-back)
		lines := newLineReader(src, from, src.size, 0)
		if from > 0 { // begins inside a line: leave that one out
			if _, err := lines.raw(); err != nil {
				return err
			}
		}
		var last *line
		for {
			ln, err := lines.read()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			last = &line{text: bytes.Clone(ln.text), offset: ln.offset, number: ln.number, ended: ln.ended}
		}
		if last != nil {
			return checkEntry(src, *last, from == 0)
		}
		if from == 0 {
			return &InputError{Name: src.name, Msg: "the trace is empty", Next: emptyHint}
		}
	}
}

const emptyHint = "an empty trace equals nothing: record a run with at least one call"

func checkEntry(src *source, ln line, numbered bool) error {
	_, err := readHead(src.name, ln)
	if err == nil {
		err = checkJSON(src.name, ln)
	}
	var in *InputError
	if errors.As(err, &in) && !numbered {
		in.Line = 0
		in.Msg = fmt.Sprintf("the last line (byte %d): %s", in.Offset, in.Msg)
	}
	return err
}
