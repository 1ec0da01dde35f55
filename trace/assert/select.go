package assert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/near"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/expr"
	"github.com/anvil-sim/anvil/trace/rules"
)

func selectorKeys() []string {
	return []string{"tool", "operation", "status", "code", "kind", "principal", "tenant", "seq", "where"}
}

// A selector chooses the calls that a rule is about.
type selector struct {
	filter  *trace.Filter // without where
	label   string
	where   *guarded
	chosen  question[bool] // by the filter
	weighs  question[int]  // what of the filter holds
	best    int            // conditions that hold for the nearest call
	near    seen
	lacks   []string
	settled // no call can come nearer
}

// compile makes the filter of the conditions.
func (s *Set) compile(sel *selector, t *trace.Selector) (err error) {
	if sel.filter, err = t.Compile(); err != nil {
		return err
	}
	sel.chosen = questionOf(s, func(c *call) bool {
		ok, err := sel.filter.Match(c.View)
		return ok && err == nil
	})
	sel.weighs = questionOf(s, func(c *call) int {
		n, _ := sel.filter.Near(c.View)
		return n
	})
	sel.rest()
	return nil
}

// A guarded expression is false where a call lacks what it asks for. When every
// call does, the rule fails: the expression is about nothing.
type guarded struct {
	set      *Set
	prg      *expr.Program
	verdict  question[any] // a bool or an error
	told     bool
	complain error
}

// judge evaluates the expression.
func (g *guarded) judge(c *call) (ok bool, err error) {
	switch a := g.verdict.ask(c).(type) {
	case bool:
		ok = a
	case error:
		err = a
	}
	return ok, err
}

// holds is judge, and remembers what came of it.
func (g *guarded) holds(c *call) (bool, error) {
	ok, err := g.judge(c)
	switch {
	case err == nil:
		g.told = true
	case expr.Limited(err):
		g.set.stop(err)
	case g.complain == nil:
		g.complain = err
	}
	return ok, err
}

func (g *guarded) neverTold() string {
	if g == nil || g.told || g.complain == nil {
		return ""
	}
	return fmt.Sprintf("no call has what it asks for: %v", g.complain)
}

func (s *selector) neverTold() string { return s.where.neverTold() }

// readSelector reads a mapping of conditions; a text is an operation or a tool,
// "any" every call.
func (s *Set) readSelector(n rules.Node) (*selector, error) {
	sel := &selector{}
	var t trace.Selector
	if n.Scalar() {
		text, err := n.Text()
		if err != nil {
			return nil, err
		}
		if sel.label = text; text != "any" {
			if err := s.known(n, text, append(slices.Clone(s.facts.Operations), s.facts.Tools...)); err != nil {
				return nil, err
			}
			name := text
			t.Where = func(v *trace.View) (bool, error) { return v.Operation() == name || v.Tool() == name, nil }
		}
	} else if err := s.readConditions(n, &t, sel); err != nil {
		return nil, err
	}
	if err := s.compile(sel, &t); err != nil {
		return nil, n.Errorf("%v", err)
	}
	return sel, nil
}

func (s *Set) readConditions(n rules.Node, t *trace.Selector, sel *selector) error {
	fields, err := n.Fields(selectorKeys()...)
	if err != nil {
		return err
	}
	into := map[string]*[]string{"tool": &t.Tool, "operation": &t.Operation, "status": &t.Status, "code": &t.Code, "kind": &t.Kind,
		"principal": &t.Principal, "tenant": &t.Tenant, "seq": &t.Seq}
	var labels []string
	for _, f := range fields {
		if f.Key == "where" {
			if sel.where, err = s.readExpr(f.Value); err != nil {
				return err
			}
			labels = append(labels, "where "+sel.where.prg.Source())
			continue
		}
		if *into[f.Key], err = f.Value.Texts(); err != nil {
			return err
		}
		for _, name := range *into[f.Key] {
			if err := s.known(f.Value, name, map[string][]string{"operation": s.facts.Operations, "tool": s.facts.Tools}[f.Key]); err != nil {
				return err
			}
		}
		labels = append(labels, f.Key+" "+strings.Join(*into[f.Key], "|"))
	}
	sel.label = strings.Join(labels, ", ")
	if len(fields) == 0 {
		sel.label = "any"
	}
	return nil
}

// known refuses a name that none of the contract's is; without a contract, or
// with a *, every name is known.
func (s *Set) known(n rules.Node, name string, names []string) error {
	if len(names) == 0 || slices.Contains(names, name) || strings.Contains(name, "*") {
		return nil
	}
	hint := ""
	if like := near.Names(name, names); len(like) > 0 {
		hint = "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return n.Errorf("the contract has no %q%s", name, hint)
}

func (s *Set) readExpr(n rules.Node) (*guarded, error) {
	source, err := n.Text()
	if err != nil {
		return nil, err
	}
	prg, err := s.env.CompileBool(source)
	if err != nil {
		return nil, n.Fault(err)
	}
	return &guarded{set: s, prg: prg, verdict: questionOf(s, func(c *call) any {
		ok, err := prg.True(c.View)
		if expr.Limited(err) {
			return n.Fault(err)
		}
		if err != nil {
			return err
		}
		return ok
	})}, nil
}

// ahead asks what match and, with near, watch will ask.
func (s *selector) ahead(c *call, near bool) (ok bool) {
	ok = s.chosen.ask(c)
	near = near && !s.settled.settled()
	if s.where != nil && (ok || near) {
		is, _ := s.where.judge(c)
		ok = ok && is
	}
	if near && !ok {
		s.weighs.ask(c)
	}
	return ok
}

func (s *selector) match(c *call) bool {
	if !s.chosen.ask(c) {
		return false
	}
	if s.where == nil {
		return true
	}
	ok, _ := s.where.holds(c)
	return ok
}

// watch is match, and remembers the call nearest to one that matches.
func (s *selector) watch(c *call) bool {
	if s.match(c) {
		return true
	}
	if s.settled.settled() {
		return false
	}
	hold, where := s.weighs.ask(c), false
	if s.where != nil {
		if where, _ = s.where.holds(c); where {
			hold++
		}
	}
	if hold > s.best {
		s.best, s.near = hold, c.keep()
		if _, s.lacks = s.filter.Near(c.View); s.where != nil && !where {
			s.lacks = append(s.lacks, "where")
		}
		s.rest()
	}
	return false
}

// rest settles the search for the nearest call when nothing can come nearer.
func (s *selector) rest() {
	weight := s.filter.Weight()
	if s.where != nil {
		weight++
	}
	if s.best >= weight-1 {
		s.settle()
	}
}

// nearest says which call came nearest to the selector, nothing without one.
func (s *selector) nearest() []string {
	if s.best == 0 {
		return nil
	}
	return []string{fmt.Sprintf("  nearest: %s, but its %s is another", s.near, strings.Join(s.lacks, " and "))}
}

// A grouping groups calls: those with one key belong together; "" is left out.
type grouping struct {
	set *Set
	key question[any] // a string, or an error that is Limited
}

// readKey reads "id", "list", "tool", "target", "call" or an expression; it is nil
// where nothing is said.
func (s *Set) readKey(n rules.Node) (*grouping, error) {
	if !n.Is() {
		return nil, nil
	}
	text, err := n.Text()
	if err != nil {
		return nil, err
	}
	known := map[string]func(*call) string{"id": idOf, "list": listOf, "call": askedOf,
		"tool":   func(c *call) string { return c.Tool() },
		"target": func(c *call) string { return c.Method() + " " + c.Path() }}[text]
	if known != nil {
		return &grouping{s, questionOf(s, func(c *call) any { return known(c) })}, nil
	}
	prg, err := s.env.Compile(text)
	if err != nil {
		return nil, n.Fault(err)
	}
	return &grouping{s, questionOf(s, func(c *call) any {
		key, err := prg.Key(c.View)
		if expr.Limited(err) {
			return n.Fault(err)
		}
		return key
	})}, nil
}

// of is the key of a call, "" for one that is left out.
func (g *grouping) of(c *call) (key string) {
	switch a := g.key.ask(c).(type) {
	case string:
		key = a
	case error:
		g.set.stop(a)
	}
	return key
}

// ahead asks for the key of a call that will be grouped.
func (g *grouping) ahead(c *call, grouped bool) {
	if g != nil && grouped {
		g.key.ask(c)
	}
}

func text(val []byte) string {
	if len(val) == 0 {
		return ""
	}
	if val[0] == '"' && canon.Valid(val) {
		return canon.Unquote(val)
	}
	if val[0] == '{' || val[0] == '[' || string(val) == "null" {
		return ""
	}
	return string(val)
}

// idOf is the id of what a call is about: of a POST that made something the
// answer's id, else the last path parameter, else the last part of the path.
func idOf(c *call) string {
	if c.Method() == "POST" && strings.HasPrefix(c.Status(), "2") && len(lastParam(c)) == 0 {
		if id := answerID(c); id != "" {
			return id
		}
	}
	if p := lastParam(c); p != "" {
		return p
	}
	p := c.Path()
	if p == "" {
		return answerID(c)
	}
	return p[strings.LastIndexByte(p, '/')+1:]
}

func answerID(c *call) string {
	for _, key := range []string{"id", "_id", "uuid", "sys_id", "key"} {
		if id := text(c.At("response", key)); id != "" {
			return id
		}
		if id := text(c.At("result", "output", key)); id != "" {
			return id
		}
	}
	return ""
}

func lastParam(c *call) (last string) {
	v, err := canon.Parse(orNull(c.At("normalized", "params", "path")), canon.Lenient)
	if err != nil {
		return ""
	}
	for _, m := range v.Members() {
		last = m.Value.Text()
	}
	return last
}

func orNull(val []byte) []byte {
	if val == nil {
		return []byte("null")
	}
	return val
}

// pagers are the query parameters that choose a page.
func pager(name string) bool {
	name = strings.ToLower(strings.TrimLeft(name, "$"))
	return slices.Contains([]string{"cursor", "page", "offset", "after", "before", "skip", "skiptoken", "start", "startat", "start_at", "marker",
		"starting_after", "ending_before", "page_token", "pagetoken", "next", "next_token", "nexttoken", "sysparm_offset"}, name)
}

// listOf names the list that a call pages through: what it asks, without the page.
func listOf(c *call) string {
	v, err := canon.Parse(orNull(c.At("request", "query")), canon.Lenient)
	key := c.Tool() + " " + c.Method() + " " + c.Path()
	if err != nil {
		return key
	}
	for _, m := range v.Members() {
		if !pager(m.Key) {
			key += "&" + m.Key + "=" + m.Value.String()
		}
	}
	return key
}

// askedOf is all that a call asks: method, path, query and body, or the input.
func askedOf(c *call) string {
	r := c.Get("request")
	if c.Method() == "" {
		return c.Tool() + " " + string(r)
	}
	return string(bytes.Join([][]byte{c.At("request", "method"), c.At("request", "path"), c.At("request", "query"), c.At("request", "body")}, []byte{' '}))
}
