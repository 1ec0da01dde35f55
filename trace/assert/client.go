package assert

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
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
	for _, p := range []struct {
		id, name string
		mon      monitor
	}{
		{"client/retry-storm", fmt.Sprintf("no call is sent more than %d times in a row while it fails", stormSize), &retryStorm{}},
		{"client/retry-after", "a refusal with Retry-After is not followed by the same call at once", &retryAfter{}},
		{"client/no-key", "calls of an operation that takes idempotency keys have one", &noKey{with: map[string]bool{}, without: map[string]seen{}}},
		{"client/duplicate-create", "nothing is created twice with one body and without a key", &duplicates{made: map[string]seen{}}},
		{"client/unbounded-paging", fmt.Sprintf("no list is read for more than %d pages", maxPages), &manyPages{pages: map[string]int{}}},
		{"client/n-plus-one", fmt.Sprintf("no list is followed by %d reads of its rows", nPlusOne), &plusOne{lists: map[string]*listed{}}},
		{"client/unused-page", "no further page of a list is fetched and never used", &unusedPages{rows: map[string]*page{}}},
		{"client/secret-in-url", "no secret stands in a URL", &secretInURL{}},
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

// who tells callers apart.
func who(c *call) string { return c.Principal() + "\x00" + c.Tenant() }

type retryStorm struct {
	asked string
	first seen
	n     int
}

func (m *retryStorm) call(r *rule, c *call) {
	asked := who(c) + askedOf(c)
	if asked != m.asked || !retryable(c) {
		m.asked, m.n, m.first = asked, 0, c.mark()
	}
	if !retryable(c) {
		return
	}
	if m.n++; m.n == stormSize+1 {
		r.fail(c.place, []string{"  first: " + m.first.String()}, "%s fails for the %dth time in a row", c.Describe(), m.n)
	}
}

func (m *retryStorm) end(*rule) {}

func retryable(c *call) bool {
	s := c.Status()
	return s == "429" || s == "408" || len(s) == 3 && s[0] == '5'
}

type retryAfter struct {
	asked, wait string
	first       seen
}

func (m *retryAfter) call(r *rule, c *call) {
	asked := who(c) + askedOf(c)
	if m.wait != "" && asked == m.asked {
		r.fail(c.place, []string{"  refused by: " + m.first.String() + ", Retry-After: " + m.wait}, "%s is sent again at once", c.Describe())
	}
	m.asked, m.wait, m.first = asked, "", c.mark()
	if s := c.Status(); s == "429" || s == "503" {
		m.wait = header(c, "retry-after")
	}
}

func (m *retryAfter) end(*rule) {}

// header is a header that the provider set and that was served.
func header(c *call, name string) string {
	v, err := canon.Parse(orNull(c.Get("headers")), canon.Lenient)
	if err != nil {
		return ""
	}
	for _, m := range v.Members() {
		if strings.EqualFold(m.Key, name) {
			return m.Value.Text()
		}
	}
	return ""
}

// noKey: some calls of an operation have a key, so the operation takes one.
type noKey struct {
	with    map[string]bool
	without map[string]seen
}

func keyed(c *call) bool {
	if text(c.At("normalized", "idempotencyKey")) != "" {
		return true
	}
	v, err := canon.Parse(orNull(c.At("request", "headers")), canon.Lenient)
	return err == nil && slices.ContainsFunc(v.Members(), func(m canon.Member) bool {
		name := strings.ToLower(m.Key)
		return name == "idempotency-key" || strings.HasSuffix(name, "-idempotency-key") || name == "x-request-token"
	})
}

func (m *noKey) call(_ *rule, c *call) {
	if !c.Write() || c.Tool() == "" {
		return
	}
	if keyed(c) {
		m.with[c.Tool()] = true
	} else if _, ok := m.without[c.Tool()]; !ok {
		m.without[c.Tool()] = c.keep()
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

type duplicates struct{ made map[string]seen }

func (m *duplicates) call(r *rule, c *call) {
	if c.Method() != "POST" || !strings.HasPrefix(c.Status(), "2") || keyed(c) || answerID(c) == "" || len(lastParam(c)) > 0 {
		return
	}
	asked := who(c) + askedOf(c)
	if first, ok := m.made[asked]; ok {
		r.fail(c.place, []string{"  first: " + first.String()}, "%s makes the same again", c.Describe())
		return
	}
	m.made[asked] = c.keep()
}

func (m *duplicates) end(*rule) {}

type manyPages struct{ pages map[string]int }

func (m *manyPages) call(r *rule, c *call) {
	if _, list := rowsOf(c); !list {
		return
	}
	key := who(c) + listOf(c)
	if m.pages[key]++; m.pages[key] == maxPages+1 {
		r.fail(c.place, nil, "%s is page %d of one list", c.Describe(), m.pages[key])
	}
}

func (m *manyPages) end(*rule) {}

// rowsOf are the ids of the rows of a list's answer; list is false for another
// call.
func rowsOf(c *call) (ids []string, list bool) {
	if c.Kind() != "" && c.Kind() != "list" || c.Write() || !strings.HasPrefix(c.Status(), "2") {
		return nil, false
	}
	v, err := canon.Parse(orNull(c.Get("response")), canon.Lenient)
	if err != nil {
		return nil, false
	}
	rows := v
	for _, m := range v.Members() {
		if m.Value.Is(canon.Array) {
			rows = m.Value
			break
		}
	}
	if !rows.Is(canon.Array) || v.Is(canon.Object) && c.Kind() != "list" && v.Get("id") != nil {
		return nil, c.Kind() == "list"
	}
	for _, e := range rows.Elems() {
		for _, key := range []string{"id", "_id", "uuid", "sys_id", "key"} {
			if id := e.Get(key); id.Is(canon.String) || id.Is(canon.Number) {
				ids = append(ids, id.Text())
				break
			}
		}
	}
	return ids, true
}

// plusOne: rows of one list are read one by one.
type plusOne struct{ lists map[string]*listed }

type listed struct {
	first seen
	left  map[string]bool // rows of the last page that were not read
	reads int
}

func (m *plusOne) call(r *rule, c *call) {
	if ids, list := rowsOf(c); list {
		l := &listed{first: c.keep(), left: make(map[string]bool, len(ids))}
		for _, id := range ids {
			l.left[id] = true
		}
		m.lists[who(c)] = l
		return
	}
	l := m.lists[who(c)]
	if l == nil || c.Write() {
		return
	}
	id := idOf(c)
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
	if ids, list := rowsOf(c); list {
		key := who(c) + listOf(c)
		_, again := m.rows[key]
		p := &page{c.keep(), make(map[string]bool, len(ids))}
		for _, id := range ids {
			p.ids[id] = true
		}
		m.rows[key] = p
		if again && len(ids) > 0 && len(m.open) < maxOpen {
			m.open = append(m.open, p)
		}
		return
	}
	asked := c.Path() + " " + string(orNull(c.At("request", "body"))) + " " + string(orNull(c.At("request", "query")))
	words := strings.FieldsFunc(asked, func(r rune) bool { return strings.ContainsRune(" /\"{}[]:,=&?", r) })
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

type secretInURL struct{}

func (m *secretInURL) call(r *rule, c *call) {
	v, err := canon.Parse(orNull(c.At("request", "query")), canon.Lenient)
	if err == nil {
		for _, mem := range v.Members() {
			if secretName(mem.Key) {
				r.fail(c.place, nil, "%s has %s in its query", c.Describe(), strconv.Quote(mem.Key))
			}
		}
	}
	for _, part := range strings.Split(c.Path(), "/") {
		if secretText(part) {
			r.fail(c.place, nil, "call %d: %s has what looks like a credential in its path", c.index, c.Tool())
			return
		}
	}
}

func (m *secretInURL) end(*rule) {}

func secretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	return slices.Contains([]string{"apikey", "accesstoken", "authtoken", "token", "password", "passwd", "secret", "clientsecret", "sig", "signature", "auth"}, name)
}

// secretText tells forms of credentials that are well known.
func secretText(s string) bool {
	for _, prefix := range []string{"sk_live_", "sk_test_", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "glpat-"} {
		if strings.HasPrefix(s, prefix) && len(s) >= len(prefix)+12 {
			return true
		}
	}
	return strings.HasPrefix(s, "eyJ") && strings.Count(s, ".") == 2 // a JSON web token
}
