package recorder

import (
	"net/url"
	"strings"
	"sync"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/recorder/scrub"
)

// WithCarriers is a copy of rules, ready for use, that also hides where the contract
// says that credentials travel. Nil rules are the built-in ones, a nil contract adds
// nothing.
func WithCarriers(rules *scrub.Rules, doc *air.Document) (*scrub.Rules, error) {
	out := &scrub.Rules{}
	if rules != nil {
		*out = *rules
	}
	if doc != nil {
		for _, op := range doc.Operations {
			switch c := op.Auth.Carrier; {
			case c == nil:
			case c.In == "header":
				out.Headers = append(out.Headers[:len(out.Headers):len(out.Headers)], c.Name)
			case c.In == "query":
				out.Query = append(out.Query[:len(out.Query):len(out.Query)], c.Name)
			}
		}
	}
	return out, out.Prepare()
}

// coverage counts which operations of a contract were called.
type coverage struct {
	doc   *air.Document
	bases [][]string // path prefixes of the servers, and none
	mu    sync.Mutex
	seen  map[string]bool
}

func newCoverage(doc *air.Document) *coverage {
	c := &coverage{doc: doc, bases: [][]string{nil}, seen: map[string]bool{}}
	for _, server := range doc.Service.Servers {
		if u, err := url.Parse(server); err == nil {
			if base := segments(u.EscapedPath()); len(base) > 0 {
				c.bases = append(c.bases, base)
			}
		}
	}
	return c
}

func segments(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// saw notes the operation of a call; false means that there is none.
func (c *coverage) saw(method, rawURL string) bool {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false
	}
	path := segments(u.EscapedPath())
	best, score := "", -1
	for _, op := range c.doc.Operations {
		if op.Path == "" || !strings.EqualFold(op.Method, method) {
			continue
		}
		for _, base := range c.bases {
			if n, ok := match(base, segments(op.Path), path); ok && n > score {
				best, score = op.ID, n
			}
		}
	}
	if score < 0 {
		return false
	}
	c.mu.Lock()
	c.seen[best] = true
	c.mu.Unlock()
	return true
}

// match compares a path with a template behind a prefix; n is how many literal
// segments agree.
func match(base, template, path []string) (n int, ok bool) {
	if len(base)+len(template) != len(path) {
		return 0, false
	}
	for i, b := range base {
		if path[i] != b {
			return 0, false
		}
	}
	for i, t := range template {
		p := path[len(base)+i]
		open := strings.IndexByte(t, '{')
		if open < 0 {
			if t != p {
				return 0, false
			}
			n += 2
			continue
		}
		closed := strings.LastIndexByte(t, '}')
		if closed < open || !strings.HasPrefix(p, t[:open]) || !strings.HasSuffix(p, t[closed+1:]) || len(p) < len(t)-(closed-open+1) {
			return 0, false
		}
		if open > 0 || closed < len(t)-1 {
			n++
		}
	}
	return n, true
}

func (c *coverage) result() (seen, unseen []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.doc.Operations {
		switch {
		case op.Path == "":
		case c.seen[op.ID]:
			seen = append(seen, op.ID)
		default:
			unseen = append(unseen, op.ID)
		}
	}
	return seen, unseen
}
