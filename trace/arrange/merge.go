package arrange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// A Source is one of the traces to merge.
type Source struct {
	Name  string // of the server; it tells its calls apart
	Input trace.Input
}

// Merge writes the calls of several traces as one. No clock is recorded, so the
// order is made up, always in the same way: of the lines that come next in each
// trace the one with the lowest seq is first, of equal ones that of the source
// named first. Lines of one source keep their order. First runs are merged with
// first runs, second with second, and so on; which chooses the runs of each
// trace as in [trace.OpenRun].
//
// A line gets a new seq, counted from 1 in each run, and at its end the key
// "source" with the server's name and the seq it had; all other bytes stay, so
// that [Split] by source gives the traces back. A line that has a source
// already, a name that is empty or comes twice, and fewer than two sources are
// errors.
func Merge(ctx context.Context, w io.Writer, which string, sources ...Source) error {
	if err := checkSources(sources); err != nil {
		return err
	}
	m := merger{w: w}
	defer m.close()
	for _, src := range sources {
		r, side, err := trace.OpenRun(ctx, src.Input, which)
		if err != nil {
			return err
		}
		s := &stream{name: src.Name, display: trace.DisplayName(src.Input.Name), r: r, first: side.Run}
		m.streams = append(m.streams, s)
		if err := s.advance(); err != nil {
			return err
		}
	}
	return m.merge(ctx)
}

func checkSources(sources []Source) error {
	if len(sources) < 2 {
		return fmt.Errorf("found %d trace(s) to merge, want two or more", len(sources))
	}
	seen := map[string]bool{}
	for _, s := range sources {
		if s.Name == "" {
			return &trace.OptionError{Option: s.Input.Name, Msg: "the source has no name", Next: "write NAME=FILE"}
		}
		if seen[s.Name] {
			return &trace.OptionError{Option: s.Input.Name, Msg: fmt.Sprintf("the source name %q stands twice", s.Name), Next: "write NAME=FILE to name each server"}
		}
		seen[s.Name] = true
	}
	return nil
}

// A stream is one source with its next line.
type stream struct {
	name, display string
	r             *trace.Reader
	first         int        // the run that counts as the first one
	line          trace.Line // valid until advance
	done          bool
}

func (s *stream) advance() error {
	l, err := s.r.Read()
	s.line, s.done = l, err == io.EOF
	if s.done {
		return nil
	}
	return err
}

type merger struct {
	w       io.Writer
	streams []*stream
	buf     []byte
}

func (m *merger) close() {
	for _, s := range m.streams {
		s.r.Close()
	}
}

func (m *merger) merge(ctx context.Context) error {
	run, seq := 0, int64(0)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s := m.pick(run)
		if s == nil {
			if s = m.pick(run + 1); s == nil && m.done() {
				return nil
			}
			run, seq = run+1, 0
			continue
		}
		seq++
		if err := m.write(s, seq); err != nil {
			return err
		}
		if err := s.advance(); err != nil {
			return err
		}
	}
}

func (m *merger) done() bool {
	for _, s := range m.streams {
		if !s.done {
			return false
		}
	}
	return true
}

// pick finds the stream whose next line of the run, counted from 0, comes first.
func (m *merger) pick(run int) (best *stream) {
	for _, s := range m.streams {
		if !s.done && s.line.Run-s.first == run && (best == nil || s.line.Seq < best.line.Seq) {
			best = s
		}
	}
	return best
}

func (m *merger) write(s *stream, seq int64) error {
	text := bytes.TrimRight(s.line.Text, " \t\r")
	old, source, err := marks(s.line)
	if err != nil {
		return err
	}
	if source.Value != nil {
		return &trace.InputError{Name: s.display, Line: s.line.Number, Offset: s.line.Offset,
			Msg: `the call has a "source" already, want a trace that one server wrote`, Next: "take a merged trace apart with 'anvil-trace split --by source'"}
	}
	dst := strconv.AppendInt(append(m.buf[:0], text[:old.At]...), seq, 10)
	dst = append(dst, text[old.At+len(old.Value):len(text)-1]...)
	dst = canon.AppendString(append(dst, `,"source":{"name":`...), s.name)
	dst = append(append(append(dst, `,"seq":`...), old.Value...), "}}\n"...)
	m.buf = dst
	_, err = m.w.Write(dst)
	return err
}
