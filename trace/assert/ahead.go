package assert

import (
	"slices"
	"sync/atomic"

	"github.com/anvil-sim/anvil/trace"
)

// A question is something about one call alone, whatever calls stood before it. So
// it may be asked ahead of the call's turn, by a worker that looks at many calls
// at once; who asks again gets the answer that is known. Rules keep what depends on
// the order of the calls to themselves, and ask nothing ahead that they need not.
type question[A any] struct {
	at   int // among the answers of a call
	find func(c *call) A
}

// ask finds the answer once a call.
func (q question[A]) ask(c *call) A {
	if a, ok := c.known[q.at].(A); ok {
		return a
	}
	a := q.find(c)
	c.known[q.at] = a
	return a
}

// questionOf makes a question of the set's.
func questionOf[A any](s *Set, find func(c *call) A) question[A] {
	s.questions++
	return question[A]{s.questions - 1, find}
}

// answers are those of one call, by question; nil is not asked yet.
type answers struct{ known []any }

// fresh forgets the answers of another call.
func (a *answers) fresh(questions int) []any {
	a.known = slices.Grow(a.known[:0], questions)[:questions]
	clear(a.known)
	return a.known
}

// lookAhead is for one worker: it asks what the rules will ask.
func (s *Set) lookAhead() func(trace.Line, *trace.View, *answers) bool {
	return func(_ trace.Line, v *trace.View, a *answers) bool {
		c := call{View: v, known: a.fresh(s.questions)}
		for _, r := range s.rules {
			r.mon.ahead(&c)
		}
		return true
	}
}

// judge shows a call to the rules; a are the answers that are known, nil for none.
func (s *Set) judge(ln trace.Line, v *trace.View, a *answers) error {
	s.calls++
	c := call{View: v, index: s.calls}
	c.place.File, c.place.Line = s.name, ln.Number
	if a == nil {
		c.known = s.own.fresh(s.questions)
	} else {
		c.known = a.known
	}
	for _, r := range s.rules {
		if r.mon.call(r, &c); s.stopped != nil {
			return ln.Fault(s.stopped)
		}
	}
	return nil
}

// A settled mark tells workers that nothing more is asked.
type settled struct{ done atomic.Bool }

func (s *settled) settle()       { s.done.Store(true) }
func (s *settled) settled() bool { return s.done.Load() }
