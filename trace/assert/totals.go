package assert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/trace/output"
)

// noErrors: no call fails, but for some.
type noErrors struct {
	failed question[bool]
	except []*selector
}

func failedCall(c *call) bool {
	s := c.Status()
	return len(s) == 3 && s[0] >= '4' || string(c.At("result", "ok")) == "false"
}

func (m *noErrors) ahead(c *call) {
	for i := 0; m.failed.ask(c) && i < len(m.except) && !m.except[i].ahead(c, false); i++ {
	}
}

func (m *noErrors) call(r *rule, c *call) {
	if m.failed.ask(c) && !slices.ContainsFunc(m.except, func(s *selector) bool { return s.match(c) }) {
		r.fail(c.place, nil, "%s", c.Describe())
	}
}

func (m *noErrors) end(*rule) {}

// budget: so many calls, pages and bytes of answers at most.
type budget struct {
	of     *selector
	costs  question[cost]
	limits [3]int // -1 for none
	used   [3]int
	over   [3]seen
}

// A cost is what one call takes beside itself: the bytes of its answer, and
// whether that is a page.
type cost struct {
	bytes int
	page  bool
}

func costOf(c *call) cost { return cost{len(c.Get("response")), c.Kind() == "list"} }

func budgetNames() [3]string { return [3]string{"calls", "pages", "bytes"} }

func (m *budget) ahead(c *call) {
	if m.of.ahead(c, false) {
		m.costs.ask(c)
	}
}

func (m *budget) call(_ *rule, c *call) {
	if !m.of.match(c) {
		return
	}
	took := m.costs.ask(c)
	add := [3]int{1, 0, took.bytes}
	if took.page {
		add[1] = 1
	}
	for i := range m.used {
		before := m.used[i]
		if m.used[i] += add[i]; m.limits[i] >= 0 && m.used[i] > m.limits[i] && before <= m.limits[i] {
			m.over[i] = c.keep()
		}
	}
}

func (m *budget) end(r *rule) {
	var notes []string
	for i, name := range budgetNames() {
		if m.limits[i] < 0 {
			continue
		}
		notes = append(notes, fmt.Sprintf("%d of %d %s", m.used[i], m.limits[i], name))
		if m.used[i] > m.limits[i] {
			r.fail(m.over[i].place, []string{"  reached by: " + m.over[i].String()}, "%d %s, want at most %d", m.used[i], name, m.limits[i])
		}
	}
	r.note = strings.Join(notes, ", ")
}

// coverage: the operations of a list were called.
type coverage struct {
	want   []string      // sorted
	which  question[int] // of them is called, -1 for none
	called []bool
	least  float64 // a share, from 0 to 1
}

func (m *coverage) find(c *call) int {
	op := c.Operation()
	if i, ok := slices.BinarySearch(m.want, op); ok && op != "" {
		return i
	}
	return -1
}

func (m *coverage) ahead(c *call) { m.which.ask(c) }

func (m *coverage) call(_ *rule, c *call) {
	if i := m.which.ask(c); i >= 0 {
		m.called[i] = true
	}
}

func (m *coverage) end(r *rule) {
	var missing []string
	for i, op := range m.want {
		if !m.called[i] {
			missing = append(missing, "  not called: "+op)
		}
	}
	n := len(m.want) - len(missing)
	r.note = fmt.Sprintf("%d of %d operation(s)", n, len(m.want))
	if float64(n) < m.least*float64(len(m.want)) {
		r.fail(output.Place{}, missing, "%d of %d operation(s) were called, want %g%%", n, len(m.want), m.least*100)
	}
}
