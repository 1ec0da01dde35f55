package assert

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/anvil-sim/anvil/trace/output"
)

// count: how often calls are made, in all or for each key.
type count struct {
	sel         *selector
	least, most int // most < 0: no limit
	key         *grouping
	n           int
	last        seen
	perKey      map[string]*counted
	overAt      seen
}

type counted struct {
	n     int
	first seen
}

func (m *count) ahead(c *call) { m.key.ahead(c, m.sel.ahead(c, true)) }

func (m *count) call(r *rule, c *call) {
	if !m.sel.watch(c) {
		return
	}
	m.n++
	if m.key == nil {
		if m.n == m.most+1 && m.most >= 0 {
			m.overAt = c.keep()
		}
		m.last = c.mark()
		return
	}
	key := m.key.of(c)
	if key == "" {
		return
	}
	k := m.perKey[key]
	if k == nil {
		k = &counted{first: c.keep()}
		m.perKey[key] = k
	}
	if k.n++; m.most >= 0 && k.n == m.most+1 {
		r.fail(c.place, []string{"  first: " + k.first.String()}, "%s is call %d for %q, want at most %d", c.Describe(), k.n, key, m.most)
	}
}

func (m *count) end(r *rule) {
	r.note = fmt.Sprintf("%d call(s)", m.n)
	if m.key != nil {
		r.note += fmt.Sprintf(" for %d key(s)", len(m.perKey))
		for _, key := range slices.Sorted(maps.Keys(m.perKey)) {
			if k := m.perKey[key]; k.n < m.least {
				r.fail(k.first.place, []string{"  first: " + k.first.String()}, "%d call(s) for %q, want %s", k.n, key, m.want())
			}
		}
		if len(m.perKey) > 0 || m.least == 0 {
			return
		}
	}
	switch {
	case m.n < m.least:
		details := m.sel.nearest()
		if m.n > 0 {
			details = append([]string{"  last: " + m.last.String()}, details...)
		}
		r.fail(output.Place{}, details, "%d call(s) match %s, want %s", m.n, m.sel.label, m.want())
	case m.key == nil && m.most >= 0 && m.n > m.most:
		details := []string{"  the first too many: " + m.overAt.String()}
		if m.last.index != m.overAt.index {
			details = append(details, "  the last: "+m.last.String())
		}
		r.fail(m.overAt.place, details, "%d call(s) match %s, want %s", m.n, m.sel.label, m.want())
	}
}

func (m *count) want() string {
	switch {
	case m.least == m.most:
		return "exactly " + strconv.Itoa(m.least)
	case m.most < 0:
		return "at least " + strconv.Itoa(m.least)
	case m.least == 0:
		return "at most " + strconv.Itoa(m.most)
	}
	return fmt.Sprintf("%d to %d", m.least, m.most)
}

// quantified: every, any or none of the calls are as a test wants.
type quantified struct {
	word string
	sel  *selector
	is   *guarded
	have question[[]string] // why the values are not as wanted
	settled
	n    int // calls of the selector
	held int
	near seen
	why  []string
}

func (m *quantified) ahead(c *call) {
	if !m.sel.ahead(c, true) || m.settled.settled() {
		return
	}
	if m.is != nil {
		_, _ = m.is.judge(c)
	}
	m.have.ask(c)
}

func (m *quantified) call(r *rule, c *call) {
	if !m.sel.watch(c) {
		return
	}
	m.n++
	if m.word == "any" && m.held > 0 {
		return
	}
	why := m.test(c)
	if len(why) == 0 {
		if m.held++; m.word == "any" {
			m.settle()
		}
	}
	switch {
	case m.word == "every" && len(why) > 0:
		r.fail(c.place, indent(why), "%s", c.Describe())
	case m.word == "none" && len(why) == 0:
		r.fail(c.place, nil, "%s", c.Describe())
	case m.word == "any" && m.held == 0 && (m.why == nil || len(why) < len(m.why)):
		m.near, m.why = c.keep(), why
	}
}

// test says why a call is not as wanted.
func (m *quantified) test(c *call) (why []string) {
	if m.is != nil {
		if ok, err := m.is.holds(c); err != nil {
			why = append(why, err.Error())
		} else if !ok {
			why = append(why, "not so: "+m.is.prg.Source())
		}
	}
	return append(why, m.have.ask(c)...)
}

func indent(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, "  "+l)
	}
	return out
}

func (m *quantified) end(r *rule) {
	r.note = fmt.Sprintf("%d call(s) looked at", m.n)
	if m.n > 0 && m.word != "every" {
		if msg := m.is.neverTold(); msg != "" {
			r.fail(output.Place{}, nil, "%s", msg)
			return
		}
	}
	if m.word != "any" || m.held > 0 {
		return
	}
	if m.n == 0 {
		r.fail(output.Place{}, m.sel.nearest(), "no call matches %s", m.sel.label)
		return
	}
	r.fail(m.near.place, append([]string{"  nearest: " + m.near.String()}, indent(m.why)...), "none of %d call(s) that match %s is so", m.n, m.sel.label)
}

// sequence: calls come one after the other, for each key.
type sequence struct {
	steps []*selector
	gaps  bool
	key   *grouping
	keys  map[string]*progress
	settled
}

type progress struct {
	reached uint64 // bit i: the first i+1 steps end at the last call
	best    int    // steps reached at most
	at      seen
}

func (m *sequence) ahead(c *call) {
	if m.settled.settled() {
		return
	}
	hit := false
	for _, s := range m.steps {
		hit = s.ahead(c, true) || hit
	}
	m.key.ahead(c, hit)
}

func (m *sequence) call(_ *rule, c *call) {
	if m.settled.settled() {
		return // it was there
	}
	hit := uint64(0)
	for i, s := range m.steps {
		if s.watch(c) {
			hit |= 1 << i
		}
	}
	key := ""
	if m.key != nil {
		if hit == 0 {
			return
		}
		if key = m.key.of(c); key == "" {
			return
		}
	}
	p := m.keys[key]
	if p == nil {
		if hit&1 == 0 {
			return
		}
		p = &progress{}
		m.keys[key] = p
	}
	next := hit & (p.reached<<1 | 1)
	if m.gaps {
		next |= p.reached
	}
	p.reached = next
	for i := len(m.steps) - 1; i >= p.best; i-- {
		if next&(1<<i) != 0 {
			p.best, p.at = i+1, c.keep()
		}
	}
	if m.key == nil && p.best == len(m.steps) {
		m.settle()
	}
}

func (m *sequence) end(r *rule) {
	if len(m.keys) == 0 && m.key == nil {
		r.fail(output.Place{}, m.steps[0].nearest(), "the sequence does not begin: no call matches %s", m.steps[0].label)
		return
	}
	r.note = fmt.Sprintf("%d sequence(s)", len(m.keys))
	for _, key := range slices.Sorted(maps.Keys(m.keys)) {
		p := m.keys[key]
		if p.best == len(m.steps) {
			continue
		}
		want := m.steps[p.best]
		of := ""
		if m.key != nil {
			of = fmt.Sprintf(" for %q", key)
		}
		between := "later"
		if !m.gaps {
			between = "next"
		}
		r.fail(p.at.place, append([]string{"  came as far as: " + p.at.String()}, want.nearest()...),
			"step %d of %d%s is missing: no call that matches %s comes %s", p.best+1, len(m.steps), of, want.label, between)
	}
}

// neverAfter: once a call of one kind was made, none of another kind comes.
type neverAfter struct {
	never, after *selector
	key          *grouping
	since        map[string]seen
}

func (m *neverAfter) ahead(c *call) {
	isNever, isAfter := m.never.ahead(c, false), m.after.ahead(c, false)
	m.key.ahead(c, isNever || isAfter)
}

func (m *neverAfter) call(r *rule, c *call) {
	key := ""
	isNever, isAfter := m.never.match(c), m.after.match(c)
	if !isNever && !isAfter {
		return
	}
	if m.key != nil {
		if key = m.key.of(c); key == "" {
			return
		}
	}
	if first, ok := m.since[key]; ok && isNever {
		r.fail(c.place, []string{"  after: " + first.String()}, "%s", c.Describe())
	}
	if _, ok := m.since[key]; isAfter && !ok {
		m.since[key] = c.keep()
	}
}

func (m *neverAfter) end(r *rule) { r.note = fmt.Sprintf("watched from %d call(s) on", len(m.since)) }

// paired: each call of one kind has one of another kind behind or before it.
type paired struct {
	each, other *selector
	before      bool // the other one comes before
	within      int  // calls between them at most; 0 is any number
	key         *grouping
	open        map[string]seen // waiting, or what came before
	n           int
}

func (m *paired) ahead(c *call) {
	isEach, isOther := m.each.ahead(c, true), m.other.ahead(c, true)
	m.key.ahead(c, isEach || isOther)
}

func (m *paired) call(r *rule, c *call) {
	isEach, isOther := m.each.watch(c), m.other.watch(c)
	if !isEach && !isOther {
		return
	}
	key := ""
	if m.key != nil {
		if key = m.key.of(c); key == "" {
			return
		}
	}
	if m.before {
		m.backwards(r, c, key, isEach, isOther)
		return
	}
	if s, ok := m.open[key]; ok && isOther {
		if m.within > 0 && c.index-s.index > m.within {
			m.failed(r, key, s)
		}
		delete(m.open, key)
	}
	if isEach {
		m.n++
		if _, ok := m.open[key]; !ok {
			m.open[key] = c.keep()
		}
	}
}

func (m *paired) backwards(r *rule, c *call, key string, isEach, isOther bool) {
	if isEach {
		m.n++
		if s, ok := m.open[key]; !ok || m.within > 0 && c.index-s.index > m.within {
			r.fail(c.place, m.other.nearest(), "%s: no call that matches %s comes before it%s", c.Describe(), m.other.label, forKey(m.key, key))
		}
	}
	if isOther {
		m.open[key] = c.mark()
	}
}

func forKey(k *grouping, key string) string {
	if k == nil {
		return ""
	}
	return fmt.Sprintf(" for %q", key)
}

func (m *paired) failed(r *rule, key string, s seen) {
	in := ""
	if m.within > 0 {
		in = fmt.Sprintf(" within %d call(s)", m.within)
	}
	r.fail(s.place, m.other.nearest(), "%s: no call that matches %s follows%s%s", s.text, m.other.label, in, forKey(m.key, key))
}

func (m *paired) end(r *rule) {
	r.note = fmt.Sprintf("%d call(s)", m.n)
	if m.before {
		return
	}
	keys := slices.Sorted(maps.Keys(m.open))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(m.open[a].index, m.open[b].index) })
	for _, key := range keys {
		m.failed(r, key, m.open[key])
	}
}

// given is a rule about facts that were given beside the trace.
type given struct{ judge func(r *rule) }

func (m *given) ahead(*call)       {}
func (m *given) call(*rule, *call) {}
func (m *given) end(r *rule)       { m.judge(r) }
