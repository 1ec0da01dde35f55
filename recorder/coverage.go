package recorder

import (
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/route"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/coding"
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
	table *route.Table
	mu    sync.Mutex
	seen  map[string]bool
}

func newCoverage(doc *air.Document) *coverage {
	return &coverage{doc: doc, table: route.NewTable(doc, doc.Operations), seen: map[string]bool{}}
}

// saw notes the operation of a call; false means that there is none.
func (c *coverage) saw(x *exchange) bool {
	op := c.graphql(x)
	if op == nil {
		u, err := url.Parse(x.url)
		if err != nil {
			return false
		}
		if op, _ = c.table.Find(x.method, route.NormalPath(u.EscapedPath())); op == nil {
			return false
		}
	}
	c.mu.Lock()
	c.seen[op.ID] = true
	c.mu.Unlock()
	return true
}

// graphql is the operation of a GraphQL request, nil when it is none.
func (c *coverage) graphql(x *exchange) *air.Operation {
	if x.method != http.MethodPost || !c.table.HasGraphQL() || x.body.size > wholeBody {
		return nil
	}
	names, _ := coding.Names(x.header.Values("Content-Encoding"))
	raw, err := x.body.Open()
	if err != nil {
		return nil
	}
	r, done, err := coding.NewReader(raw, names)
	defer done()
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r, wholeBody))
	if err != nil {
		return nil
	}
	body, err := canon.Parse(text, canon.Lenient)
	if err != nil {
		return nil
	}
	return c.table.GraphQL(body)
}

func (c *coverage) result() (seen, unseen []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.doc.Operations {
		switch {
		case op.Path == "" && op.Protocol() != air.GraphQL:
		case c.seen[op.ID]:
			seen = append(seen, op.ID)
		default:
			unseen = append(unseen, op.ID)
		}
	}
	return seen, unseen
}
