package surface

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/route"
)

// A router finds the operation of a method and a path.
type router struct {
	routes map[routeKey][]*planRoute
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

type planRoute struct {
	*planned
	template *route.Template
}

func newRouter(operations []*planned) *router {
	rt := &router{routes: map[routeKey][]*planRoute{}}
	claims := map[string]*planRoute{}
	for _, p := range operations {
		if p.op.Path == "" || p.op.Info.Method == "" {
			continue // a GraphQL operation without a synthesized path
		}
		r := &planRoute{p, route.NewTemplate(p.op.Path)}
		// A template that ends in a slash leaves the path without one to others.
		claim := p.op.Info.Method + r.template.Shape()
		if first := claims[claim]; first == nil || first.template.Slash() && !r.template.Slash() {
			claims[claim] = r
		} else {
			rt.hide(r, first)
		}
		key := routeKey{p.op.Info.Method, r.template.Len()}
		rt.routes[key] = append(rt.routes[key], r)
	}
	for _, rs := range rt.routes {
		// More literal segments first; the contract's order breaks ties.
		slices.SortStableFunc(rs, func(a, b *planRoute) int { return b.template.Literals() - a.template.Literals() })
	}
	return rt
}

// hide notes that first, whose template is r's, keeps r from being reached. A
// GraphQL operation is reached by its document too.
func (rt *router) hide(r, first *planRoute) {
	op := r.op
	if op.Protocol() == air.GraphQL {
		return
	}
	rt.hidden = append(rt.hidden, Hidden{op.ID, first.op.ID, op.Info.Method + " " + op.Path})
}

// match finds the route of a path. The params are the still-encoded values of
// the template's parameters, in the template's order.
func (rt *router) match(method, path string) (*plan, []string) {
	slash := len(path) > 1 && strings.HasSuffix(path, "/")
	var buf [16]string
	segments := route.Split(buf[:0], path)
	for _, r := range rt.routes[routeKey{method, len(segments)}] {
		if r.template.Slash() && !slash {
			continue
		}
		if params, ok := r.template.Match(segments); ok {
			return r.plan(), params
		}
	}
	return nil, nil
}
