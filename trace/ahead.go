package trace

import (
	"context"
	"io"
	"runtime"
)

// EachAhead is [Each] with a part of the work done ahead by one goroutine a
// processor: look is made for each of them and looks at lines before their turn
// comes, in any order; what it finds out it leaves in the T, which holds what an
// earlier line left there. A line of which it returns false is left out, as far as
// it is JSON. do gets the others in the order of the trace, with a view of its own.
//
// The T is nil where look came upon what is no JSON: do must find out for itself.
// So what do sees does not depend on how far look reads, as long as what look finds
// depends on the line alone.
func EachAhead[T any](ctx context.Context, in Input, which string, look func() func(Line, *View, *T) bool, do func(Line, *View, *T) error) (Side, error) {
	return inBlocks(ctx, in, which, look, func(ln Line, v *View, found *T) error {
		if err := do(ln, v, found); err != nil {
			return err
		}
		return v.judge(ln)
	})
}

// judge checks the whole line when it turned out to be no JSON where it was read.
func (v *View) judge(ln Line) error {
	if !v.Bad() {
		return nil
	}
	return ln.Check()
}

// inBlocks is EachAhead, but judges no line that do looked at.
func inBlocks[T any](ctx context.Context, in Input, which string, look func() func(Line, *View, *T) bool, do func(Line, *View, *T) error) (Side, error) {
	part, err := openPart(ctx, in, which)
	if err != nil {
		return Side{}, err
	}
	workers := min(runtime.GOMAXPROCS(0), len(part.blocks))
	var v View
	free := make(chan *lookedBlock[T], 3*workers+3) // more are never under way
	p := pipeline[*lookedBlock[T]]{
		workers: workers,
		worker: func() func(*lookedBlock[T]) error {
			look, v := look(), new(View)
			return func(b *lookedBlock[T]) error { b.read(part, v, look); return nil }
		},
		collect: func(b *lookedBlock[T]) error {
			if err := b.show(&v, do); err != nil {
				return err
			}
			if cap(b.buf) <= 4*blockSize {
				free <- b
			}
			return nil
		},
	}
	err = p.run(ctx, func(emit func(*lookedBlock[T]) error) error {
		for _, at := range part.blocks {
			var b *lookedBlock[T]
			select {
			case b = <-free:
			default:
				b = &lookedBlock[T]{blockReader: blockReader{src: part.src}}
			}
			b.at = at
			if err := emit(b); err != nil {
				return err
			}
		}
		return nil
	})
	if closed := part.src.close(); err == nil {
		err = closed
	}
	return part.side, err
}

// A lookedBlock is the lines of a block that were looked at and not left out.
type lookedBlock[T any] struct {
	blockReader
	at    block
	lines []Line
	found []T
	bad   []bool // look came upon what is no JSON
	err   error  // behind the lines
}

func (b *lookedBlock[T]) read(p *part, v *View, look func(Line, *View, *T) bool) {
	b.lines, b.bad = b.lines[:0], b.bad[:0]
	var lines textLines
	lines, b.err = b.blockReader.read(b.at)
	run := p.runAt(b.at.offset)
	for n := 0; b.err == nil; {
		ln, err := lines.read()
		if err == io.EOF {
			return
		}
		for run+1 < len(p.runs) && ln.offset >= p.runs[run+1].offset {
			run++
		}
		var h head
		if err == nil {
			h, err = readHead(p.src.name, ln)
		}
		if err == nil && !ln.ended {
			err = checkJSON(p.src.name, ln)
		}
		if b.err = err; err != nil {
			return
		}
		if n == len(b.found) {
			b.found = append(b.found, *new(T))
		}
		entry := Line{Text: ln.text, Seq: h.seq, Run: p.side.Run + run, Number: ln.number, Offset: ln.offset, name: p.src.name}
		v.Reset(ln.text)
		if keep, bad := look(entry, v, &b.found[n]), v.Bad(); keep || bad {
			b.lines, b.bad = append(b.lines, entry), append(b.bad, bad)
			n++
		}
	}
}

// show gives the lines to do.
func (b *lookedBlock[T]) show(v *View, do func(Line, *View, *T) error) error {
	for i, ln := range b.lines {
		v.Reset(ln.Text)
		found := &b.found[i]
		if b.bad[i] {
			found = nil
		}
		if err := do(ln, v, found); err != nil {
			return err
		}
	}
	return b.err
}

// runAt is the run to which what stands at an offset belongs.
func (p *part) runAt(offset int64) int {
	i := 0
	for i+1 < len(p.runs) && offset >= p.runs[i+1].offset {
		i++
	}
	return i
}
