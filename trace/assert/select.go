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
	filter *trace.Filter
	label  string
	where  *guarded
	best   int // conditions that hold for the nearest call
	near   seen
	lacks  []string
}

// A guarded expression is false where a call lacks what it asks for. When every
// call does, the rule fails: the expression is about nothing.
type guarded struct {
	prg      *expr.Program
	told     bool
	complain error
}

func (g *guarded) holds(v *trace.View) (bool, error) {
	ok, err := g.prg.True(v)
	if err == nil {
		g.told = true
	} else if g.complain == nil {
		g.complain = err
	}
	return ok && err == nil, nil
}

func (g *guarded) neverTold() string {
	if g == nil || g.told || g.complain == nil {
		return ""
	}
	return fmt.Sprintf("no call has what it asks for: %v", g.complain)
}

// anySelector chooses every call.
func anySelector() *trace.Selector { return &trace.Selector{} }

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
	var err error
	if sel.filter, err = t.Compile(); err != nil {
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
			t.Where = sel.where.holds
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
		return nil, n.Errorf("%v", err)
	}
	return &guarded{prg: prg}, nil
}

func (s *selector) match(c *call) bool {
	ok, err := s.filter.Match(c.View)
	return ok && err == nil
}

// watch is match, and remembers the call nearest to one that matches.
func (s *selector) watch(c *call) bool {
	if s.match(c) {
		return true
	}
	if s.best >= s.filter.Weight()-1 { // nothing comes nearer
		return false
	}
	if hold, lacks := s.filter.Near(c.View); hold > s.best {
		s.best, s.lacks, s.near = hold, lacks, c.keep()
	}
	return false
}

// nearest says which call came nearest to the selector, nothing without one.
func (s *selector) nearest() []string {
	if s.best == 0 {
		return nil
	}
	return []string{fmt.Sprintf("  nearest: %s, but its %s is another", s.near, strings.Join(s.lacks, " and "))}
}

// A keyFunc groups calls: those with one key belong together; "" is left out.
type keyFunc func(c *call) string

// readKey reads "id", "list", "tool", "target", "call" or an expression.
func (s *Set) readKey(n rules.Node) (keyFunc, error) {
	if !n.Is() {
		return nil, nil
	}
	text, err := n.Text()
	if err != nil {
		return nil, err
	}
	switch text {
	case "id":
		return idOf, nil
	case "list":
		return listOf, nil
	case "tool":
		return func(c *call) string { return c.Tool() }, nil
	case "target":
		return func(c *call) string { return c.Method() + " " + c.Path() }, nil
	case "call":
		return askedOf, nil
	}
	prg, err := s.env.Compile(text)
	if err != nil {
		return nil, n.Errorf("%v", err)
	}
	return func(c *call) string {
		key, err := prg.Key(c.View)
		if err != nil {
			return ""
		}
		return key
	}, nil
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
