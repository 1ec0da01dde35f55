package trace

import (
	"context"
	"fmt"
)

// OpenRun opens a part of a trace: "last" (also ""), "all", or a run by its
// number from 1. The whole trace is scanned for its runs first; the side says
// what was found. A line that is no entry is an error in the runs chosen only.
//
// Seen from the trace the lines keep their numbers, offsets and runs.
func OpenRun(ctx context.Context, in Input, which string) (*Reader, Side, error) {
	p, err := openPart(ctx, in, which)
	if err != nil {
		return nil, Side{}, err
	}
	first, end := p.runs[0], p.runs[len(p.runs)-1].end
	return &Reader{src: p.src, lines: newLineReader(p.src, first.offset, end, first.line), run: p.side.Run,
		start: start{first.offset, first.line, p.side.Run}}, p.side, nil
}

// A part is some runs of an opened trace.
type part struct {
	src    *source
	side   Side
	runs   []run
	blocks []block
}

func openPart(ctx context.Context, in Input, which string) (*part, error) {
	src, err := openSource(in, inMemory)
	if err != nil {
		return nil, err
	}
	p := &part{src: src, side: Side{Name: in.Name}}
	if p.runs, p.blocks, err = pickSide(ctx, src, which, &p.side); err != nil {
		src.close()
		return nil, err
	}
	return p, nil
}

// A start is where a Reader begins.
type start struct {
	offset int64
	line   int // lines before
	run    int
}

// Rewind goes back to the first line that Read gave.
func (r *Reader) Rewind() {
	r.lines = newLineReader(r.src, r.start.offset, r.lines.end, r.start.line)
	r.seen, r.run = seqSet{}, r.start.run
}

// ReadAt returns the n bytes of the trace, decompressed, from an offset on: a
// Line again, by its Offset and the length of its Text. It does not disturb
// Read. dst is used when it has room.
func (r *Reader) ReadAt(dst []byte, offset int64, n int) ([]byte, error) {
	if cap(dst) < n {
		dst = make([]byte, n)
	}
	got, err := r.src.r.ReadAt(dst[:n], offset)
	if got < n {
		return nil, &InputError{Name: r.src.name, Offset: offset, Err: err,
			Msg: fmt.Sprintf("cannot be read again at byte %d", offset), Next: "read it when nothing writes it"}
	}
	return dst[:n], nil
}

// Describe says which runs a side is and how many calls they have, for the head
// of an output: "run 2 of 2 (the last), 5 calls".
func (s Side) Describe() string {
	if text := s.describe(); len(text) > 2 {
		return text[2:]
	}
	return ""
}

// DisplayName is the name of an input for a person: "-" is standard input.
func DisplayName(name string) string { return displayName(name) }

// Clean escapes what a terminal would act on or show at another place: control
// and formatting characters.
func Clean(s string) string { return clean(s) }

// Describe spells the options that change what counts as on the command line.
func (o DiffOptions) Describe() string { return o.describe() }
