package arrange

import (
	"context"
	"fmt"
	"io"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// By says what Split puts together.
type By string

// What Split can put together.
const (
	ByRun    By = "run"    // the calls of one run
	BySource By = "source" // the calls of one server, in a trace that Merge made
)

// A Part is what Split put in one place.
type Part struct {
	Name  string // the run's number from 1, or the source's name
	Calls int
}

// Split writes the calls of a trace to several places. create is asked once for
// each, in the order of their first lines, with the run's number or the source's
// name; Split closes what it returns. By run lines are as they stood; by source
// they are as they were before Merge.
func Split(ctx context.Context, in trace.Input, by By, create func(name string) (io.WriteCloser, error)) ([]Part, error) {
	if by != ByRun && by != BySource {
		return nil, &trace.OptionError{Option: "--by", Msg: fmt.Sprintf("found %q, want run or source", by)}
	}
	r, err := trace.Open(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := splitter{by: by, display: trace.DisplayName(in.Name), create: create, at: map[string]int{}}
	err = s.split(ctx, r)
	for _, w := range s.open {
		if w == nil {
			continue
		}
		if closeErr := w.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return nil, err
	}
	return s.parts, nil
}

type splitter struct {
	by      By
	display string
	create  func(name string) (io.WriteCloser, error)
	at      map[string]int // of names in parts and open
	parts   []Part
	open    []io.WriteCloser // nil when it is closed already
	buf     []byte
}

func (s *splitter) split(ctx context.Context, r *trace.Reader) error {
	for n := 0; ; n++ {
		l, err := next(ctx, r, n)
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

func (s *splitter) line(l trace.Line) error {
	name, text := fmt.Sprint(l.Run), l.Text
	if s.by == BySource {
		var err error
		if name, text, err = s.unmerge(l); err != nil {
			return err
		}
	}
	i, ok := s.at[name]
	if !ok {
		if s.by == ByRun && len(s.open) > 0 { // a run is over when the next one begins
			last := len(s.open) - 1
			if err := s.open[last].Close(); err != nil {
				return err
			}
			s.open[last] = nil
		}
		w, err := s.create(name)
		if err != nil {
			return err
		}
		i = len(s.parts)
		s.at[name] = i
		s.parts, s.open = append(s.parts, Part{Name: name}), append(s.open, w)
	}
	s.parts[i].Calls++
	s.buf = append(append(s.buf[:0], text...), '\n')
	_, err := s.open[i].Write(s.buf)
	return err
}

// unmerge gives a line as it was before Merge.
func (s *splitter) unmerge(l trace.Line) (name string, text []byte, err error) {
	seq, source, err := marks(l)
	if err != nil {
		return "", nil, err
	}
	name, old := sourceOf(source.Value)
	if old == nil || l.Text[source.From] != ',' {
		return "", nil, &trace.InputError{Name: s.display, Line: l.Number, Offset: l.Offset,
			Msg: "the call has no source, want a trace that 'anvil-trace merge' wrote", Next: "split other traces with --by run"}
	}
	text = append(append(text, l.Text[:seq.At]...), old...)
	text = append(text, l.Text[seq.At+len(seq.Value):source.From]...)
	return name, append(text, l.Text[source.At+len(source.Value):]...), nil
}

func sourceOf(text []byte) (name string, seq []byte) {
	v, err := canon.Parse(text, canon.Strict)
	if err != nil || v.Get("name").Text() == "" || !v.Get("seq").Is(canon.Number) {
		return "", nil
	}
	return v.Get("name").Text(), []byte(v.Get("seq").Text())
}

// marks finds the seq and the source of an entry; Value is nil when it has none.
func marks(l trace.Line) (seq, source trace.Part, err error) {
	for key, p := range l.Parts() {
		switch key {
		case "seq":
			seq = p
		case "source":
			source = p
		}
	}
	return seq, source, l.Check()
}
