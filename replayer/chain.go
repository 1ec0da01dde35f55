package replayer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// fits reports whether a recorded page continues the chain.
func (c *chain) fits(o *operation, b *bound) bool {
	switch {
	case b.cursor == nil:
		return false
	case c.next != nil:
		return *c.next == *b.cursor
	case c.done:
		return false
	case c.numeric:
		n, ok := number(*b.cursor)
		return ok && n == c.expected(o, b)
	}
	return mentions(c.last, *b.cursor)
}

// expected is the number that continues the chain.
func (c *chain) expected(o *operation, b *bound) int {
	if o.Pagination.Style == "offset" {
		return c.start + len(c.items)
	}
	first := 1
	if c.head != nil {
		first, _ = number(*c.head)
	}
	pages := 0
	for i := range c.its {
		if !c.isBump(i) {
			pages++
		}
	}
	return first + pages
}

func (c *chain) isBump(i int) bool {
	for _, b := range c.bumps {
		if b.it == c.its[i] {
			return true
		}
	}
	return false
}

// mentions reports whether an item holds a value.
func mentions(v *canon.Value, text string) bool {
	if t := v.Text(); t != "" && t == text {
		return true
	}
	for _, m := range v.Members() {
		if mentions(m.Value, text) {
			return true
		}
	}
	return false
}

func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

// add appends a page.
func (c *chain) add(it *tape.Interaction, p *page) {
	c.its = append(c.its, it)
	c.from = append(c.from, len(c.items))
	c.items = append(c.items, p.items...)
	c.next, c.done, c.more = p.next, p.done, p.more
	if p.last != nil {
		c.last = p.last
	}
	if p.total != nil {
		c.total = p.total
	}
	if c.headers == nil {
		c.headers = p.headers
	}
}

// holds reports whether a place of a query that counts is in the chain.
func (c *chain) holds(at int) bool {
	return c.numeric && at >= c.start && (at < c.start+len(c.items) || c.done && at == c.start+len(c.items))
}

// cursor is the chain's own name for a place in it. It is no number, so that it
// cannot be taken for one.
func (c *chain) cursor(at int) string { return fmt.Sprintf("p%d.%d", c.id, at) }

func parseCursor(text string) (id, at int, ok bool) {
	rest, ok := strings.CutPrefix(text, "p")
	a, b, dot := strings.Cut(rest, ".")
	id, err := strconv.Atoi(a)
	at, err2 := strconv.Atoi(b)
	return id, at, ok && dot && err == nil && err2 == nil && id >= 0 && at >= 0
}

// serve gives the items from a place on; the miss when the recording stops
// before it.
func (c *chain) serve(o *operation, a *asked, at int, req *provider.Request) (*provider.Response, error) {
	for i := range c.bumps {
		if b := &c.bumps[i]; !b.given && b.at == at {
			b.given = true
			return o.answer(b.it)
		}
	}
	if at >= len(c.items) && !c.done {
		why := "does not say that it is the last"
		if c.more {
			why = "says that more follow"
		}
		return nil, &Miss{Reason: PastEnd, Asked: a.op, Detail: fmt.Sprintf(
			"the recording stops in the middle of this query: it has %d item(s), and its last page, %s, %s", len(c.items), c.its[len(c.its)-1].Place(), why)}
	}
	end := min(at+req.Page.Size, len(c.items))
	at = min(at, end)
	c.given, c.touched = max(c.given, end), true
	resp := &provider.Response{OK: true, Items: c.items[at:end:end], Total: c.total, Headers: c.headers}
	if resp.Items == nil {
		resp.Items = []json.RawMessage{}
	}
	if end < len(c.items) || c.more {
		next := c.following(o, end, req)
		resp.NextCursor = &next
	}
	return resp, nil
}

// following is the cursor of the page that begins at end.
func (c *chain) following(o *operation, end int, req *provider.Request) string {
	switch {
	case c.exact && c.next != nil && end == len(c.items):
		return *c.next
	case !c.numeric:
		return c.cursor(end)
	}
	if o.Pagination.Style == "offset" {
		return strconv.Itoa(c.start + end)
	}
	n := 1
	if req.Page.Cursor != nil {
		n, _ = number(*req.Page.Cursor)
	}
	return strconv.Itoa(n + 1)
}

// at is where a client's cursor stands in a chain that counts.
func (o *operation) at(n, size int) int {
	if o.Pagination.Style == "offset" {
		return n
	}
	return max(0, n-1) * size
}

// reached lists the interactions of the chain that were given, and the others.
func (c *chain) reached() (used, unused []*tape.Interaction) {
	for i, it := range c.its {
		given := c.touched && (i == 0 || c.from[i] < c.given || c.given == len(c.items))
		for _, b := range c.bumps {
			if b.it == it {
				given = b.given
			}
		}
		if given {
			used = append(used, it)
		} else {
			unused = append(unused, it)
		}
	}
	return used, unused
}
