package trace

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
)

// Select reads a part of a trace, chosen as [OpenRun] does, and calls do with the
// calls that the filter chooses, or with the others under invert, in their order.
// Line and view are do's until it returns. Lines are judged by one goroutine a
// processor, unless the filter has a Where. Lines that the filter looked at and
// found to be no JSON are an error.
func Select(ctx context.Context, in Input, which string, f *Filter, invert bool, do func(Line, *View) error) (side Side, err error) {
	if f.where != nil {
		return Each(ctx, in, which, func(ln Line, v *View) error {
			f.names.note(v)
			ok, err := f.Match(v)
			if err != nil || ok == invert {
				return err
			}
			return do(ln, v)
		})
	}
	r, side, err := OpenRun(ctx, in, which)
	if err != nil {
		return side, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var v View
	p := pipeline[*lineBatch]{
		workers: runtime.GOMAXPROCS(0),
		worker: func() func(*lineBatch) error {
			var v View
			return func(b *lineBatch) error { return b.choose(f, invert, &v) }
		},
		collect: func(b *lineBatch) error {
			for _, ln := range b.lines {
				v.Reset(ln.Text)
				if err := do(ln, &v); err != nil {
					return err
				}
			}
			err := b.err
			b.free()
			return err
		},
	}
	return side, p.run(ctx, r.batches)
}

// A lineBatch is some lines in order, with their text in one buffer.
type lineBatch struct {
	lines []Line
	buf   []byte
	err   error // of the line after those
}

// lineBatches are used again: their buffers are most of what a selection allocates.
var lineBatches = sync.Pool{New: func() any { return new(lineBatch) }}

func (b *lineBatch) free() {
	if cap(b.buf) <= 4*batchSize {
		lineBatches.Put(b)
	}
}

// batches emits the lines that are left.
func (r *Reader) batches(emit func(*lineBatch) error) error {
	for {
		b := lineBatches.Get().(*lineBatch)
		*b = lineBatch{lines: b.lines[:0], buf: b.buf[:0]}
		var ends []int
		for len(b.buf) < batchSize {
			ln, err := r.Read()
			if err != nil {
				b.err = err
				break
			}
			b.buf = append(b.buf, ln.Text...)
			b.lines, ends = append(b.lines, ln), append(ends, len(b.buf))
		}
		from := 0
		for i, end := range ends {
			b.lines[i].Text, from = b.buf[from:end:end], end
		}
		last := b.err
		if last == io.EOF {
			b.err = nil
		}
		if err := emit(b); err != nil || last != nil {
			return err
		}
	}
}

// choose keeps the lines that the filter chooses, up to a bad one.
func (b *lineBatch) choose(f *Filter, invert bool, v *View) error {
	n := 0
	for _, ln := range b.lines {
		v.Reset(ln.Text)
		f.names.note(v)
		ok, err := f.Match(v)
		if err == nil && v.Bad() {
			err = ln.Check()
		}
		if err != nil {
			b.err = err
			break
		}
		if ok != invert {
			b.lines[n] = ln
			n++
		}
	}
	b.lines = b.lines[:n]
	return nil
}
