package replayer

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
)

// A contract is the operations of a document in the form in which recorded
// requests are tied to them.
type contract struct {
	doc      *air.Document
	ops      map[string]*operation // by id
	routes   map[routeKey][]*operation
	graphql  []*operation
	prefixes []string // base paths of the servers, "" first
}

// Routes are kept by method and number of segments.
type routeKey struct {
	method   string
	segments int
}

// An operation is one operation with what is worked out of it once.
type operation struct {
	*air.Operation
	segments []segment
	literals int
	carrier  *air.Carrier
	params   []param
	paged    bool
	items    []string // path of the items in a recorded body, nil at the top
	anyItems bool     // the contract does not say where: the first array
	next     []string // path of the continuation
}

// A segment is one piece of a path template.
type segment struct {
	literal string
	names   []string       // of its parameters
	pattern *regexp.Regexp // when it is more than one parameter
}

// newContract takes the operations that the document serves.
func newContract(doc *air.Document) (*contract, error) {
	served, err := doc.Served("")
	if err != nil {
		return nil, err
	}
	c := &contract{doc: doc, ops: map[string]*operation{}, routes: map[routeKey][]*operation{}, prefixes: []string{""}}
	for _, s := range doc.Service.Servers {
		if p := basePath(s); p != "" && !slices.Contains(c.prefixes, p) {
			c.prefixes = append(c.prefixes, p)
		}
	}
	for _, op := range served {
		o := c.operation(op)
		c.ops[op.ID] = o
		if op.Protocol() == air.GraphQL {
			c.graphql = append(c.graphql, o)
			continue
		}
		key := routeKey{strings.ToUpper(op.Method), len(o.segments)}
		c.routes[key] = append(c.routes[key], o)
	}
	for _, list := range c.routes {
		// More literal segments first; the contract's order breaks ties.
		slices.SortStableFunc(list, func(a, b *operation) int { return b.literals - a.literals })
	}
	return c, nil
}

// basePath is the path of a server's URL without its last slash; "" for a URL
// whose path is a variable.
func basePath(server string) string {
	u, err := url.Parse(server)
	if err != nil || strings.Contains(u.Path, "{") {
		return ""
	}
	return strings.TrimSuffix(normalPath(u.EscapedPath()), "/")
}

func (c *contract) operation(op *air.Operation) *operation {
	o := &operation{Operation: op, carrier: op.Carrier(), paged: op.Paged()}
	for _, s := range splitPath(op.Path) {
		seg := newSegment(s)
		if len(seg.names) == 0 {
			o.literals++
		}
		o.segments = append(o.segments, seg)
	}
	for _, p := range op.Params {
		o.params = append(o.params, newParam(p, c.doc.Schemas))
	}
	if o.paged {
		path, ok := c.doc.ItemsPath(op)
		o.items, o.anyItems = path, !ok
		o.next = []string{defaultNext}
		if p := op.Pagination; p != nil && p.NextField != "" {
			o.next = air.FieldPath(p.NextField)
		}
	}
	return o
}

// defaultNext is where a continuation stands when the contract names no field.
const defaultNext = "next_cursor"

func splitPath(path string) []string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func newSegment(s string) segment {
	var seg segment
	var pattern strings.Builder
	rest := s
	for {
		before, after, ok := strings.Cut(rest, "{")
		name, tail, closed := strings.Cut(after, "}")
		if !ok || !closed {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(before) + "([^/]+)")
		seg.names = append(seg.names, name)
		rest = tail
	}
	switch {
	case len(seg.names) == 0:
		seg.literal = normalPath(s)
	case len(seg.names) > 1 || s != "{"+seg.names[0]+"}":
		seg.pattern = regexp.MustCompile("^" + pattern.String() + regexp.QuoteMeta(rest) + "$")
	}
	return seg
}

// A pathValue is the still-encoded text of a path parameter.
type pathValue struct{ name, text string }

// find ties a method and a path to an operation, the server prefixes apart.
func (c *contract) find(method, path string) (*operation, []pathValue) {
	for _, prefix := range c.prefixes {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || prefix != "" && rest != "" && rest[0] != '/' {
			continue
		}
		segments := splitPath(rest)
		for _, o := range c.routes[routeKey{method, len(segments)}] {
			if values, ok := o.match(segments); ok {
				return o, values
			}
		}
	}
	return nil, nil
}

func (o *operation) match(segments []string) (values []pathValue, ok bool) {
	for i, s := range o.segments {
		switch {
		case segments[i] == "" || len(s.names) == 0 && s.literal != segments[i]:
			return nil, false
		case len(s.names) == 0:
		case s.pattern == nil:
			values = append(values, pathValue{s.names[0], segments[i]})
		default:
			m := s.pattern.FindStringSubmatch(segments[i])
			if m == nil {
				return nil, false
			}
			for j, name := range s.names {
				values = append(values, pathValue{name, m[j+1]})
			}
		}
	}
	return values, true
}
