package trace

import (
	"context"
	"errors"
	"io"
)

// OpenRun opens one run of a trace: "last" (also ""), "all", or a number from 1.
// Lines keep their numbers in the file. Except for "all" the trace is read twice.
func OpenRun(ctx context.Context, in Input, which string) (*Reader, error) {
	if which == allRuns {
		return Open(in)
	}
	src, err := openSource(in, inMemory)
	if err != nil {
		return nil, err
	}
	runs, err := scanRuns(ctx, src)
	if err == nil {
		var first int
		var picked []run
		if first, picked, err = pickRuns(src.name, runs, which); err == nil {
			r := picked[0]
			return &Reader{src: src, lines: newLineReader(src, r.offset, r.end, r.line), run: 0, before: first - 1}, nil
		}
	}
	return nil, errors.Join(err, src.close())
}

// Each reads one run and calls do with each entry, until do returns an error or
// the context ends.
func Each(ctx context.Context, in Input, which string, do func(Line, *View) error) (err error) {
	r, err := OpenRun(ctx, in, which)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var v View
	for n := 0; ; n++ {
		if n&0x3FF == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ln, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		v.Reset(ln.Text)
		if err := do(ln, &v); err != nil {
			return err
		}
		if v.Bad() {
			if err := r.judge(ln); err != nil {
				return err
			}
		}
	}
}

// judge parses a line in which something is wrong, for the error.
func (r *Reader) judge(ln Line) error {
	return checkJSON(r.src.name, line{text: ln.Text, offset: ln.Offset, number: ln.Number, ended: true})
}
