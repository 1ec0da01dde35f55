package assert

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Packs are the names that AddPack takes.
func Packs() []string { return []string{"client"} }

// AddPack adds a built-in set of rules: "client" finds what good clients of an
// API do not do. A trace has no clock: what looks like haste is told by calls
// that come one after the other.
func (s *Set) AddPack(name string) error {
	if name != "client" {
		return fmt.Errorf("found the pack %q, want %s", name, strings.Join(Packs(), ", "))
	}
	q := s.clientCalls()
	for _, p := range []struct {
		id, name string
		mon      monitor
	}{
		{"client/retry-storm", fmt.Sprintf("no call is sent more than %d times in a row while it fails", stormSize), &retryStorm{clientCalls: q}},
		{"client/retry-after", "a refusal with Retry-After is not followed by the same call at once", &retryAfter{clientCalls: q}},
		{"client/no-key", "calls of an operation that takes idempotency keys have one", &noKey{clientCalls: q, with: map[string]bool{}, without: map[string]seen{}}},
		{"client/duplicate-create", "nothing is created twice with one body and without a key", &duplicates{clientCalls: q, made: map[string]seen{}}},
		{"client/unbounded-paging", fmt.Sprintf("no list is read for more than %d pages", maxPages), &manyPages{clientCalls: q, pages: map[string]int{}}},
		{"client/n-plus-one", fmt.Sprintf("no list is followed by %d reads of its rows", nPlusOne), &plusOne{clientCalls: q, lists: map[string]*listed{}}},
		{"client/unused-page", "no further page of a list is fetched and never used", &unusedPages{clientCalls: q, rows: map[string]*page{}}},
		{"client/secret-in-url", "no secret stands in a URL", &secretInURL{q}},
	} {
		s.rules = append(s.rules, &rule{id: p.id, name: p.name, mon: p.mon})
	}
	return nil
}

// Limits of the pack.
const (
	stormSize = 3
	maxPages  = 50
	nPlusOne  = 10
)

type retryStorm struct {
	*clientCalls
	last  string // what was asked
	first seen
	n     int
}

func (m *retryStorm) call(r *rule, c *call) {
	asked, again := m.asked.ask(c), m.retryable.ask(c)
	if asked != m.last || !again {
		m.last, m.n, m.first = asked, 0, c.mark()
	}
	if !again {
		return
	}
	if m.n++; m.n == stormSize+1 {
		r.fail(c.place, []string{"  first: " + m.first.String()}, "%s fails for the %dth time in a row", c.Describe(), m.n)
	}
}

func (m *retryStorm) end(*rule) {}

type retryAfter struct {
	*clientCalls
	last, until string // what was asked, and the Retry-After of its refusal
	first       seen
}

func (m *retryAfter) call(r *rule, c *call) {
	asked := m.asked.ask(c)
	if m.until != "" && asked == m.last {
		r.fail(c.place, []string{"  refused by: " + m.first.String() + ", Retry-After: " + m.until}, "%s is sent again at once", c.Describe())
	}
	m.last, m.until, m.first = asked, m.wait.ask(c), c.mark()
}

func (m *retryAfter) end(*rule) {}

// noKey: some calls of an operation have a key, so the operation takes one.
type noKey struct {
	*clientCalls
	with    map[string]bool
	without map[string]seen
}

func (m *noKey) call(_ *rule, c *call) {
	switch m.keyed.ask(c) {
	case withKey:
		m.with[c.Tool()] = true
	case withoutKey:
		if _, ok := m.without[c.Tool()]; !ok {
			m.without[c.Tool()] = c.keep()
		}
	}
}

func (m *noKey) end(r *rule) {
	for _, tool := range slices.Sorted(maps.Keys(m.without)) {
		if m.with[tool] {
			s := m.without[tool]
			r.fail(s.place, nil, "%s has no idempotency key, and other calls of its operation have one", s.text)
		}
	}
}

type duplicates struct {
	*clientCalls
	made map[string]seen
}

func (m *duplicates) call(r *rule, c *call) {
	asked := m.creates.ask(c)
	if asked == "" {
		return
	}
	if first, ok := m.made[asked]; ok {
		r.fail(c.place, []string{"  first: " + first.String()}, "%s makes the same again", c.Describe())
		return
	}
	m.made[asked] = c.keep()
}

func (m *duplicates) end(*rule) {}

type manyPages struct {
	*clientCalls
	pages map[string]int
}

func (m *manyPages) call(r *rule, c *call) {
	key := m.list.ask(c)
	if key == "" {
		return
	}
	if m.pages[key]++; m.pages[key] == maxPages+1 {
		r.fail(c.place, nil, "%s is page %d of one list", c.Describe(), m.pages[key])
	}
}

func (m *manyPages) end(*rule) {}

// plusOne: rows of one list are read one by one.
type plusOne struct {
	*clientCalls
	lists map[string]*listed
}

type listed struct {
	first seen
	left  map[string]bool // rows of the last page that were not read
	reads int
}

func (m *plusOne) call(r *rule, c *call) {
	who := m.who.ask(c)
	if rows := m.clientCalls.rows.ask(c); rows.list {
		m.lists[who] = &listed{first: c.keep(), left: rows.set()}
		return
	}
	l := m.lists[who]
	if l == nil || c.Write() {
		return
	}
	id := m.reads.ask(c)
	if !l.left[id] {
		return
	}
	delete(l.left, id)
	if l.reads++; l.reads == nPlusOne {
		r.fail(c.place, []string{"  the list: " + l.first.String()}, "%s is read %d of the rows of one list", c.Describe(), l.reads)
	}
}

func (m *plusOne) end(*rule) {}

// unusedPages: a second page or a later one brought rows and none was asked for
// afterwards, while rows of other pages were.
type unusedPages struct {
	*clientCalls
	rows map[string]*page // by list: the page that waits
	used int
	open []*page
}

type page struct {
	seen
	ids map[string]bool
}

// maxOpen bounds the pages that wait at once.
const maxOpen = 256

func (m *unusedPages) call(_ *rule, c *call) {
	if rows := m.clientCalls.rows.ask(c); rows.list {
		key := m.list.ask(c)
		_, again := m.rows[key]
		p := &page{c.keep(), rows.set()}
		m.rows[key] = p
		if again && len(rows.ids) > 0 && len(m.open) < maxOpen {
			m.open = append(m.open, p)
		}
		return
	}
	if len(m.open) == 0 {
		return
	}
	words := m.words.ask(c)
	m.open = slices.DeleteFunc(m.open, func(p *page) bool {
		if slices.ContainsFunc(words, func(w string) bool { return p.ids[w] }) {
			m.used++
			return true
		}
		return false
	})
}

func (m *unusedPages) end(r *rule) {
	if m.used == 0 {
		return // a client that reads lists for their rows alone
	}
	for _, p := range m.open {
		r.fail(p.place, nil, "%s brought %d row(s), and none was used in a later call", p.text, len(p.ids))
	}
}

type secretInURL struct{ *clientCalls }

func (m *secretInURL) call(r *rule, c *call) {
	l := m.leaks.ask(c)
	for _, name := range l.names {
		r.fail(c.place, nil, "%s has %s in its query", c.Describe(), strconv.Quote(name))
	}
	if l.path {
		r.fail(c.place, nil, "call %d: %s has what looks like a credential in its path", c.index, c.Tool())
	}
}

func (m *secretInURL) end(*rule) {}
