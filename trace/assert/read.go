package assert

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/output"
	"github.com/anvil-sim/anvil/trace/rules"
)

// Schema is the value of the key "schema" of a rule file.
const Schema = "anvil.trace.rules/v1"

// verbs are the keys that make a rule what it is, with the keys that may stand
// beside them.
func verbs() map[string][]string {
	return map[string][]string{
		"count": {"exactly", "at_least", "at_most", "per"},
		"every": {"is", "have"}, "any": {"is", "have"}, "none": {"is", "have"},
		"sequence":        {"gaps", "same"},
		"never":           {"after", "same"},
		"each":            {"followed_by", "preceded_by", "same", "within"},
		"no_errors":       {"except"},
		"budget":          {"of"},
		"coverage":        {"at_least"},
		"state":           {},
		"at_most_changed": {},
	}
}

// Read adds the rules of a file. The error is a *rules.Error.
func (s *Set) Read(file string, data []byte) error {
	doc, err := rules.Parse(file, data)
	if err != nil {
		return err
	}
	s.file = file
	fields, err := doc.Fields("schema", "pack", "rules")
	if err != nil {
		return err
	}
	if n := doc.Get("schema"); !n.Is() {
		return doc.Errorf("has no schema, want schema: %s", Schema)
	} else if text, err := n.Text(); err != nil || text != Schema {
		return n.Errorf("found the schema %q, want %s", text, Schema)
	}
	before := len(s.rules)
	for _, f := range fields {
		if f.Key == "schema" {
			continue
		}
		list, err := f.Value.Sequence()
		if err != nil {
			return err
		}
		for _, n := range list {
			if f.Key == "pack" {
				err = s.readPack(n)
			} else {
				err = s.readRule(n)
			}
			if err != nil {
				return err
			}
		}
	}
	if len(s.rules) == before {
		return doc.Errorf("holds no rule")
	}
	return nil
}

func (s *Set) readPack(n rules.Node) error {
	name, err := n.Text()
	if err != nil {
		return err
	}
	if err := s.AddPack(name); err != nil {
		return n.Errorf("%v", err)
	}
	return nil
}

func (s *Set) readRule(n rules.Node) error {
	fields, err := n.Fields()
	if err != nil {
		return err
	}
	known := verbs()
	verb := ""
	for _, f := range fields {
		if _, ok := known[f.Key]; ok {
			if verb != "" {
				return f.At.Errorf("a rule is one thing, found %s and %s", verb, f.Key)
			}
			verb = f.Key
		}
	}
	if verb == "" {
		return n.Errorf("says no rule, want one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	if _, err := n.Fields(append([]string{"name", verb}, known[verb]...)...); err != nil {
		return err
	}
	r := &rule{id: verb, place: output.Place{File: s.file, Line: n.Line()}}
	if r.name, err = s.readVerb(r, verb, n); err != nil {
		return err
	}
	if name := n.Get("name"); name.Is() {
		if r.name, err = name.Text(); err != nil {
			return err
		}
	}
	s.rules = append(s.rules, r)
	return nil
}

// readVerb makes the rule's monitor and a name for it.
func (s *Set) readVerb(r *rule, verb string, n rules.Node) (name string, err error) {
	switch verb {
	case "count":
		return s.readCount(r, n)
	case "every", "any", "none":
		return s.readQuantified(r, verb, n)
	case "sequence":
		return s.readSequence(r, n)
	case "never":
		return s.readNever(r, n)
	case "each":
		return s.readPaired(r, n)
	case "no_errors":
		return s.readNoErrors(r, n)
	case "budget":
		return s.readBudget(r, n)
	case "coverage":
		return s.readCoverage(r, n)
	case "state":
		return s.readState(r, n.Get("state"))
	}
	return s.readChanged(r, n.Get("at_most_changed"))
}

// selectorOf reads a selector that belongs to the rule.
func (s *Set) selectorOf(r *rule, n rules.Node) (*selector, error) {
	sel, err := s.readSelector(n)
	if err == nil {
		r.sels = append(r.sels, sel)
	}
	return sel, err
}

func (s *Set) readCount(r *rule, n rules.Node) (string, error) {
	m := &count{most: -1, perKey: map[string]*counted{}}
	var err error
	if m.sel, err = s.selectorOf(r, n.Get("count")); err != nil {
		return "", err
	}
	if m.key, err = s.readKey(n.Get("per")); err != nil {
		return "", err
	}
	given := false
	for _, key := range []string{"exactly", "at_least", "at_most"} {
		v := n.Get(key)
		if !v.Is() {
			continue
		}
		k, err := v.Count()
		if err != nil {
			return "", err
		}
		if key != "at_most" {
			m.least = k
		}
		if key != "at_least" {
			m.most = k
		}
		given = true
	}
	if !given || n.Get("exactly").Is() && (n.Get("at_least").Is() || n.Get("at_most").Is()) {
		return "", n.Errorf("want exactly, or at_least and at_most, beside count")
	}
	if m.most >= 0 && m.least > m.most {
		return "", n.Errorf("at_least %d is more than at_most %d", m.least, m.most)
	}
	r.mon = m
	return "count of " + m.sel.label + " is " + m.want(), nil
}

func (s *Set) readQuantified(r *rule, verb string, n rules.Node) (string, error) {
	m := &quantified{word: verb}
	var err error
	if m.sel, err = s.selectorOf(r, n.Get(verb)); err != nil {
		return "", err
	}
	name := verb + " " + m.sel.label
	if is := n.Get("is"); is.Is() {
		if m.is, err = s.readExpr(is); err != nil {
			return "", err
		}
		name += ": " + m.is.prg.Source()
	}
	var have []*matcher
	if n := n.Get("have"); n.Is() {
		if have, err = readMatchers(n); err != nil {
			return "", err
		}
	}
	m.have = questionOf(s, func(c *call) (why []string) {
		for _, h := range have {
			why = append(why, h.test(c)...)
		}
		return why
	})
	if verb == "every" && m.is == nil && have == nil {
		return "", n.Errorf("want is or have beside every")
	}
	r.mon = m
	return name, nil
}

func (s *Set) readSequence(r *rule, n rules.Node) (string, error) {
	m := &sequence{gaps: true, keys: map[string]*progress{}}
	list, err := n.Get("sequence").Sequence()
	if err != nil {
		return "", err
	}
	if len(list) < 2 || len(list) > 64 {
		return "", n.Get("sequence").Errorf("found %d steps, want 2 to 64", len(list))
	}
	var labels []string
	for _, e := range list {
		sel, err := s.selectorOf(r, e)
		if err != nil {
			return "", err
		}
		m.steps = append(m.steps, sel)
		labels = append(labels, sel.label)
	}
	if g := n.Get("gaps"); g.Is() {
		if m.gaps, err = g.Bool(); err != nil {
			return "", err
		}
	}
	m.key, err = s.readKey(n.Get("same"))
	if !m.gaps && m.key != nil {
		return "", n.Errorf("gaps: false is about all calls of the run, found same beside it")
	}
	r.mon = m
	return strings.Join(labels, ", then "), err
}

func (s *Set) readNever(r *rule, n rules.Node) (string, error) {
	m := &neverAfter{since: map[string]seen{}}
	if !n.Get("after").Is() {
		return "", n.Errorf("want after beside never; for calls that must not be at all, use none")
	}
	var err error
	if m.never, err = s.selectorOf(r, n.Get("never")); err != nil {
		return "", err
	}
	if m.after, err = s.selectorOf(r, n.Get("after")); err != nil {
		return "", err
	}
	m.key, err = s.readKey(n.Get("same"))
	r.mon = m
	return "never " + m.never.label + " after " + m.after.label, err
}

func (s *Set) readPaired(r *rule, n rules.Node) (string, error) {
	m := &paired{open: map[string]seen{}}
	by, word := n.Get("followed_by"), "followed by"
	if m.before = n.Get("preceded_by").Is(); m.before == by.Is() {
		return "", n.Errorf("want either followed_by or preceded_by beside each")
	}
	if m.before {
		by, word = n.Get("preceded_by"), "preceded by"
	}
	var err error
	if m.each, err = s.selectorOf(r, n.Get("each")); err != nil {
		return "", err
	}
	if m.other, err = s.selectorOf(r, by); err != nil {
		return "", err
	}
	if w := n.Get("within"); w.Is() {
		if m.within, err = w.Count(); err != nil || m.within == 0 {
			return "", w.Errorf("want a number of calls from 1")
		}
	}
	m.key, err = s.readKey(n.Get("same"))
	r.mon = m
	return "each " + m.each.label + " is " + word + " " + m.other.label, err
}

func (s *Set) readNoErrors(r *rule, n rules.Node) (string, error) {
	m := &noErrors{failed: questionOf(s, failedCall)}
	if b, err := n.Get("no_errors").Bool(); err != nil || !b {
		return "", n.Get("no_errors").Errorf("want no_errors: true")
	}
	var labels []string
	for _, e := range n.Get("except").List() {
		sel, err := s.selectorOf(r, e)
		if err != nil {
			return "", err
		}
		m.except = append(m.except, sel)
		labels = append(labels, sel.label)
	}
	r.mon = m
	if len(labels) > 0 {
		return "no errors except " + strings.Join(labels, "; "), nil
	}
	return "no errors", nil
}

func (s *Set) readBudget(r *rule, n rules.Node) (string, error) {
	names := budgetNames()
	m := &budget{limits: [3]int{-1, -1, -1}, costs: questionOf(s, costOf)}
	fields, err := n.Get("budget").Fields(names[:]...)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, f := range fields {
		limit, err := f.Value.Count()
		if err != nil {
			return "", err
		}
		m.limits[slices.Index(names[:], f.Key)] = limit
		parts = append(parts, fmt.Sprintf("%d %s", limit, f.Key))
	}
	if len(fields) == 0 {
		return "", n.Errorf("want calls, pages or bytes in budget")
	}
	m.of = &selector{}
	if of := n.Get("of"); of.Is() {
		m.of, err = s.selectorOf(r, of)
	} else {
		m.of, err = s.anyCall()
	}
	r.mon = m
	return "at most " + strings.Join(parts, ", "), err
}

func (s *Set) readCoverage(r *rule, n rules.Node) (string, error) {
	m := &coverage{least: 1}
	m.which = questionOf(s, m.find)
	c := n.Get("coverage")
	ops, err := c.Texts()
	if err != nil {
		return "", err
	}
	if len(ops) == 1 && ops[0] == "contract" && c.Scalar() {
		if ops = s.facts.Operations; len(ops) == 0 {
			e := c.Errorf("the operations of the contract are not given")
			e.Next = "give --contract, or list the operations in the rule"
			return "", e
		}
	}
	for _, op := range ops {
		if err := s.known(c, op, s.facts.Operations); err != nil {
			return "", err
		}
		m.want = append(m.want, op)
	}
	slices.Sort(m.want)
	m.want = slices.Compact(m.want)
	m.called = make([]bool, len(m.want))
	if least := n.Get("at_least"); least.Is() {
		text, err := least.Text()
		if err != nil {
			return "", err
		}
		share, perr := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if perr != nil || !strings.HasSuffix(text, "%") || share < 0 || share > 100 || math.IsNaN(share) {
			return "", least.Errorf("found %q, want a percentage such as 80%%", text)
		}
		m.least = share / 100
	}
	r.mon = m
	return fmt.Sprintf("coverage of %d operation(s)", len(m.want)), nil
}

func (s *Set) readState(r *rule, n rules.Node) (string, error) {
	want, err := n.Text()
	if err != nil {
		return "", err
	}
	if s.facts.State == "" {
		e := n.Errorf("the digest of the state after the run is not given")
		e.Next = "give --state what 'anvil-sim fixtures digest' printed"
		return "", e
	}
	r.mon = &given{func(r *rule) {
		if s.facts.State != want {
			r.fail(output.Place{}, nil, "the state's digest is %s, want %s", s.facts.State, want)
		}
	}}
	return "state is " + want, nil
}

func (s *Set) readChanged(r *rule, n rules.Node) (string, error) {
	var tables []string
	if n.Scalar() || len(n.List()) > 0 {
		var err error
		if tables, err = n.Texts(); err != nil {
			return "", err
		}
	}
	if s.facts.Changed == nil {
		e := n.Errorf("what the run changed is not given")
		e.Next = "give --state-diff what 'anvil-sim fixtures diff --json' printed"
		return "", e
	}
	return s.changed(r, tables), nil
}

func (s *Set) changed(r *rule, tables []string) string {
	r.mon = &given{func(r *rule) {
		for _, t := range s.facts.Changed {
			if !slices.Contains(tables, t) {
				r.fail(output.Place{}, nil, "the table %s changed, and only %s may", t, orNothing(tables))
			}
		}
	}}
	return "at most " + orNothing(tables) + " changed"
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// AtMostChanged adds the rule that no other table changed than those.
func (s *Set) AtMostChanged(tables []string) {
	r := &rule{id: "at_most_changed"}
	r.name = s.changed(r, tables)
	s.rules = append(s.rules, r)
}

func (s *Set) anyCall() (*selector, error) {
	sel := &selector{label: "any"}
	return sel, s.compile(sel, &trace.Selector{})
}
