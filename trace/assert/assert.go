// Package assert judges a run by rules: how often, in which order and with what
// answers calls are made, what the state became, and what a good client does not
// do. Rules are read from YAML; each run is read once, and memory stays constant
// for each key that a rule counts by.
package assert

import (
	"context"
	"fmt"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/expr"
	"github.com/anvil-sim/anvil/trace/output"
)

// Facts are what rules need and a trace does not hold.
type Facts struct {
	// Operations are the ids that a contract has, for coverage rules without a
	// list of their own.
	Operations []string
	// Tools are the tools of these operations. With Operations given, a rule
	// about another operation or tool is an error.
	Tools []string
	// State is the digest of the state after the run, for state rules.
	State string
	// Changed are the tables that the run changed, nil when that is not known:
	// for rules at_most_changed.
	Changed []string
}

// A Set is a set of rules. It judges one run and is then used up.
type Set struct {
	file  string
	facts Facts
	env   *expr.Env
	rules []*rule
	calls int
	name  string // of the trace

	stopped error // an expression that took too long: there is no verdict

	questions int
	own       answers // to calls of which nothing is known
}

// New makes a set without rules.
func New(facts Facts) (*Set, error) {
	env, err := expr.NewEnv()
	return &Set{facts: facts, env: env}, err
}

// A rule is one rule with what it found.
type rule struct {
	id    string
	name  string
	place output.Place
	mon   monitor
	sels  []*selector
	fails []output.Failure
	more  int
	note  string
}

// maxFailures bounds the failures of a rule that are kept; the rest is counted.
const maxFailures = 20

func (r *rule) fail(at output.Place, details []string, format string, args ...any) {
	if len(r.fails) == maxFailures {
		r.more++
		return
	}
	r.fails = append(r.fails, output.Failure{Message: fmt.Sprintf(format, args...), Details: details, Place: at})
}

// A monitor watches the calls of a run for one rule.
type monitor interface {
	// ahead asks the questions that call will probably ask. Workers do it for many
	// calls at once, so it reads nothing that call writes.
	ahead(c *call)
	call(r *rule, c *call)
	end(r *rule)
}

// A call is what monitors see.
type call struct {
	*trace.View
	index int   // from 1
	known []any // answers, by question
	place output.Place
}

// A seen call is what monitors keep of one.
type seen struct {
	text  string
	place output.Place
	index int
}

func (c *call) keep() seen { return seen{c.Describe(), c.place, c.index} }

// mark is keep without the text, for what is noted of every call.
func (c *call) mark() seen { return seen{"", c.place, c.index} }

func (s seen) String() string {
	if s.text == "" {
		return fmt.Sprintf("call %d of the run (%s)", s.index, s.place)
	}
	return fmt.Sprintf("%s (%s)", s.text, s.place)
}

// stop ends the run at the call that is judged.
func (s *Set) stop(err error) {
	if s.stopped == nil {
		s.stopped = err
	}
}

// Call implements [trace.Check].
func (s *Set) Call(ln trace.Line, v *trace.View) error { return s.judge(ln, v, nil) }

// End implements [trace.Check].
func (s *Set) End() error {
	for _, r := range s.rules {
		r.mon.end(r)
		for _, sel := range r.sels {
			if msg := sel.neverTold(); msg != "" {
				r.fail(output.Place{}, nil, "%s", msg)
			}
		}
	}
	return nil
}

// Run judges a part of a trace, chosen as [trace.OpenRun] does. What can be told of
// each call alone is found out by one goroutine a processor; the verdict does not
// depend on their number.
func (s *Set) Run(ctx context.Context, in trace.Input, which string) (*output.Result, error) {
	s.name = in.Name
	side, err := trace.EachAhead(ctx, in, which, s.lookAhead, s.judge)
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, err
	}
	res := s.Result()
	res.Facts = append([]string{"run: " + side.String()}, res.Facts...)
	return res, nil
}

// Result is the verdict, after End.
func (s *Set) Result() *output.Result {
	res := &output.Result{Command: "assert", Input: s.name}
	if s.file != "" {
		res.Facts = append(res.Facts, "rules: "+trace.Clean(s.file))
	}
	failed := 0
	for _, r := range s.rules {
		res.Cases = append(res.Cases, output.Case{ID: r.id, Name: r.name, Place: r.place, Failures: r.fails, More: r.more, Note: r.note})
		if len(r.fails) > 0 {
			failed++
		}
	}
	res.Passed = len(s.rules) - failed
	res.Summary = fmt.Sprintf("passed: %d rule(s) over %d call(s)", len(s.rules), s.calls)
	if failed > 0 {
		res.Summary = fmt.Sprintf("failed: %d of %d rule(s) over %d call(s)", failed, len(s.rules), s.calls)
	}
	return res
}

// Len is the number of rules.
func (s *Set) Len() int { return len(s.rules) }
