package surface

import (
	"regexp"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
)

// A router finds the operation of a method and a path.
type router struct {
	routes map[routeKey][]*route
	hidden []Hidden
}

// A Hidden is an operation whose requests another one answers.
type Hidden struct {
	OperationID string
	By          string // the operation that answers in its place
	Route       string // what both claim: "GET /tickets/{id}", as the hidden one writes it
}

// Routes are kept by method and number of segments: a parameter never crosses a
// slash, so no other route can match.
type routeKey struct {
	method   string
	segments int
}

type route struct {
	plan     *plan
	segments []segment
	literals int
	slash    bool // the template ends in a slash, and so must the path
}

// A segment matches one piece of a path between slashes.
type segment struct {
	literal string         // compared against the still-encoded text, when names is empty
	names   []string       // of its parameters
	pattern *regexp.Regexp // when the segment is more than one parameter; nil: all of it
}

func newRouter(plans []*plan) *router {
	rt := &router{routes: map[routeKey][]*route{}}
	claims := map[string]*route{}
	for _, p := range plans {
		if p.op.Path == "" || p.op.Info.Method == "" {
			continue // a GraphQL operation without a synthesized path
		}
		r := newRoute(p)
		// A template that ends in a slash leaves the path without one to others.
		claim := p.op.Info.Method + r.shape()
		if first := claims[claim]; first == nil || first.slash && !r.slash {
			claims[claim] = r
		} else {
			rt.hide(r, first)
		}
		key := routeKey{p.op.Info.Method, len(r.segments)}
		rt.routes[key] = append(rt.routes[key], r)
	}
	for _, rs := range rt.routes {
		// More literal segments first; the contract's order breaks ties.
		slices.SortStableFunc(rs, func(a, b *route) int { return b.literals - a.literals })
	}
	return rt
}

// hide notes that first, whose template is r's, keeps r from being reached. A
// GraphQL operation is reached by its document too.
func (rt *router) hide(r, first *route) {
	op := r.plan.op
	if op.Protocol() == air.GraphQL {
		return
	}
	rt.hidden = append(rt.hidden, Hidden{op.ID, first.plan.op.ID, op.Info.Method + " " + op.Path})
}

// shape is the template without the names of its parameters.
func (r *route) shape() string {
	var b strings.Builder
	for _, s := range r.segments {
		b.WriteByte('/')
		switch {
		case len(s.names) == 0:
			b.WriteString(s.literal)
		case s.pattern == nil:
			b.WriteString("{}")
		default:
			b.WriteString(s.pattern.String())
		}
	}
	return b.String()
}

func newRoute(p *plan) *route {
	path := p.op.Path
	r := &route{plan: p, slash: len(path) > 1 && strings.HasSuffix(path, "/")}
	for _, s := range splitPath(path) {
		seg := newSegment(s)
		if len(seg.names) == 0 {
			r.literals++
		}
		r.segments = append(r.segments, seg)
	}
	return r
}

// splitPath cuts a path at its slashes; a trailing slash makes no segment.
func splitPath(path string) []string {
	path = strings.TrimPrefix(path, "/")
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// newSegment compiles a template segment. Several parameters in one segment
// are greedy from the left and take at least one character each.
func newSegment(s string) segment {
	var seg segment
	var pattern strings.Builder
	rest := s
	for {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			break
		}
		end := strings.IndexByte(rest[open:], '}')
		if end < 0 {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(rest[:open]))
		pattern.WriteString("([^/]+)")
		seg.names = append(seg.names, rest[open+1:open+end])
		rest = rest[open+end+1:]
	}
	switch {
	case len(seg.names) == 0:
		seg.literal = s
	case len(seg.names) == 1 && s == "{"+seg.names[0]+"}":
	default:
		pattern.WriteString(regexp.QuoteMeta(rest))
		seg.pattern = regexp.MustCompile("^" + pattern.String() + "$")
	}
	return seg
}

// match finds the route of a path. The params are the still-encoded values of
// the template's parameters, in the template's order.
func (rt *router) match(method, path string) (*plan, []string) {
	slash := len(path) > 1 && strings.HasSuffix(path, "/")
	var buf [16]string
	segments := appendSegments(buf[:0], path)
	for _, r := range rt.routes[routeKey{method, len(segments)}] {
		if r.slash && !slash {
			continue
		}
		if params, ok := r.match(segments); ok {
			return r.plan, params
		}
	}
	return nil, nil
}

func appendSegments(dst []string, path string) []string {
	rest := strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	if rest == "" {
		return dst
	}
	for {
		head, tail, more := strings.Cut(rest, "/")
		dst = append(dst, head)
		if !more {
			return dst
		}
		rest = tail
	}
}

// sameLiteral compares still-encoded texts; the letter case of an escape's
// digits is the client's choice.
func sameLiteral(template, sent string) bool {
	if template == sent {
		return true
	}
	if len(template) != len(sent) || strings.IndexByte(template, '%') < 0 {
		return false
	}
	for i := 0; i < len(sent); i++ {
		if sent[i] == '%' && template[i] == '%' && i+2 < len(sent) && strings.EqualFold(sent[i:i+3], template[i:i+3]) {
			i += 2
		} else if sent[i] != template[i] {
			return false
		}
	}
	return true
}

func (r *route) match(segments []string) (params []string, ok bool) {
	for i := range r.segments {
		s := &r.segments[i]
		if len(s.names) == 0 && !sameLiteral(s.literal, segments[i]) || segments[i] == "" {
			return nil, false
		}
	}
	for i := range r.segments {
		switch s := &r.segments[i]; {
		case len(s.names) == 0:
		case s.pattern == nil:
			params = append(params, segments[i])
		default:
			m := s.pattern.FindStringSubmatch(segments[i])
			if m == nil {
				return nil, false
			}
			params = append(params, m[1:]...)
		}
	}
	return params, true
}
