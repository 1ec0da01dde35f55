// Package arrange puts the lines of traces in another order or another place:
// it sorts them, merges traces of several servers and splits them again. Lines
// are passed on byte for byte where nothing in them changes.
package arrange

import (
	"context"
	"io"
	"slices"

	"github.com/anvil-sim/anvil/trace"
)

// place is where a line stands in its trace.
type place struct {
	seq    int64
	offset int64
	length int
}

// Sort writes the lines of each run by seq, run after run; which chooses the
// runs as in [trace.OpenRun]. Memory takes 24 bytes a call of the longest run. It
// returns how many lines stood out of order: ones after a line of their run
// with a greater seq.
func Sort(ctx context.Context, w io.Writer, in trace.Input, which string) (moved int, err error) {
	r, _, err := trace.OpenRun(ctx, in, which)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	s := sorter{w: w, r: r}
	for n := 0; ; n++ {
		l, err := next(ctx, r, n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		if l.Run != s.run {
			if err := s.flush(); err != nil {
				return 0, err
			}
			s.run, s.last = l.Run, -1
		}
		if l.Seq < s.last {
			s.moved++
		}
		s.last = max(s.last, l.Seq)
		s.places = append(s.places, place{l.Seq, l.Offset, len(l.Text)})
	}
	return s.moved, s.flush()
}

// next reads a line and looks every now and then whether to go on.
func next(ctx context.Context, r *trace.Reader, n int) (trace.Line, error) {
	if n%1024 == 0 {
		if err := ctx.Err(); err != nil {
			return trace.Line{}, err
		}
	}
	return r.Read()
}

type sorter struct {
	w      io.Writer
	r      *trace.Reader
	run    int
	last   int64
	moved  int
	places []place
	buf    []byte
}

// flush writes the run that is gathered. Lines that follow one another are
// fetched together.
func (s *sorter) flush() error {
	slices.SortStableFunc(s.places, func(a, b place) int { return int(max(-1, min(1, a.seq-b.seq))) })
	for _, p := range s.places {
		text, err := s.r.ReadAt(s.buf, p.offset, p.length)
		if err != nil {
			return err
		}
		s.buf = append(text, '\n')
		if _, err := s.w.Write(s.buf); err != nil {
			return err
		}
	}
	s.places = s.places[:0]
	return nil
}
