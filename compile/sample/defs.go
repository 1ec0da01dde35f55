package sample

import (
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// Limits of what is written out for one body.
const (
	maxBody  = 800  // values of the body
	maxParts = 2500 // objects and arrays of the schemas listed; a reader stops at 4,000
	maxTries = 64   // named schemas that are tried
	maxDepth = 8    // the depth at which a value is not drawn any more
)

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// A shape is what the drawing meets of one schema, until it comes to a named one.
type shape struct {
	edges  []edge
	values int // that are not of a named schema
	height int // of the deepest plain value
	parts  int // objects and arrays
}

// An edge is a named schema inside another one, so many levels deeper.
type edge struct {
	to    int // index of the named schema
	depth int
}

// withDefs lists the named schemas that a root reaches through others, deepest
// first: the nearest ones, as many as make a body of a sensible size.
func (m *Maker) withDefs(root *api.Value) *api.Value {
	if !root.Is(canon.Object) || given(root) || root.Get("$defs") != nil || refName(root) != "" {
		return root
	}
	if out, ok := m.rooted[root]; ok {
		return out
	}
	r := reach{m: m, root: m.shape(root), in: map[int]bool{}}
	out := root
	if defs := r.defs(); len(defs) > 0 {
		members := []canon.Member{{Key: "$defs", Value: canon.NewObject(defs...)}}
		out = canon.NewObject(append(members, root.Members()...)...)
	}
	m.rooted[root] = out
	return out
}

// shape walks a schema as the drawing does.
func (m *Maker) shape(s *api.Value) *shape {
	sh := &shape{parts: composites(s, maxParts)}
	m.walk(s, 0, sh)
	return sh
}

func (m *Maker) walk(s *api.Value, depth int, sh *shape) {
	if name := refName(s); name != "" {
		if to, ok := m.index[name]; ok {
			sh.edges = append(sh.edges, edge{to, depth})
		}
		return
	}
	sh.values++
	if !s.Is(canon.Object) || given(s) || depth >= maxDepth {
		return
	}
	inside := drawnParts(s)
	for _, part := range inside {
		m.walk(part, depth+1, sh)
	}
	if t := m.typ(s); len(inside) == 0 && t != "object" && t != "array" && t != "" {
		sh.height = max(sh.height, depth)
	}
}

// inner is the shape of a named schema.
func (m *Maker) inner(i int) *shape {
	if m.shapes[i] == nil {
		m.shapes[i] = m.shape(m.ready[m.order[i].Key])
	}
	return m.shapes[i]
}

// A reach finds the named schemas to list for one root.
type reach struct {
	m    *Maker
	root *shape
	in   map[int]bool // those that are written out
	list []int        // the same, in the order in which they came
	post []int        // the same, what is inside before what is around
	place,
	values, depth map[int]int
}

// defs picks the schemas. Those in the root itself are always written out, since
// a reader follows one step.
func (r *reach) defs() []canon.Member {
	for _, e := range r.root.edges {
		r.add(e.to)
	}
	direct := len(r.list)
	tried := map[int]bool{}
	for i := 0; i < len(r.list) && len(tried) < maxTries; i++ {
		for _, e := range r.m.inner(r.list[i]).edges {
			if r.in[e.to] || tried[e.to] || len(tried) == maxTries {
				continue
			}
			tried[e.to] = true
			if r.add(e.to); !r.fits(direct) {
				r.list = r.list[:len(r.list)-1]
				delete(r.in, e.to)
			}
		}
	}
	if len(r.list) == 0 {
		return nil
	}
	r.measure()
	within := map[int]bool{}
	for _, n := range r.list {
		for _, e := range r.m.inner(n).edges {
			within[e.to] = within[e.to] || r.follows(n, e.to)
		}
	}
	var out []canon.Member
	for _, n := range r.post {
		if within[n] {
			name := r.m.order[n].Key
			out = append(out, canon.Member{Key: name, Value: object("$ref", canon.NewString(prefix+escape.Replace(name)))})
		}
	}
	return out
}

func (r *reach) add(n int) {
	if !r.in[n] {
		r.in[n] = true
		r.list = append(r.list, n)
	}
}

// fits reports whether the body stays small, and every plain value of what was
// added to the root's own schemas stands where values are still drawn.
func (r *reach) fits(direct int) bool {
	values := r.measure()
	parts := r.root.parts
	for i, n := range r.list {
		sh := r.m.inner(n)
		parts += sh.parts
		if i >= direct && r.depth[n]+sh.height >= maxDepth {
			return false
		}
	}
	return values <= maxBody && parts <= maxParts
}

// measure counts the values of the body, and finds the greatest depth of each
// schema that is written out.
func (r *reach) measure() int {
	r.post, r.place, r.values, r.depth = r.post[:0], map[int]int{}, map[int]int{}, map[int]int{}
	for _, e := range r.root.edges {
		r.visit(e.to)
	}
	total := r.root.values
	for _, e := range r.root.edges {
		r.depth[e.to] = max(r.depth[e.to], e.depth)
		total += r.values[e.to]
	}
	for i := len(r.post) - 1; i >= 0; i-- {
		n := r.post[i]
		for _, e := range r.m.inner(n).edges {
			if r.follows(n, e.to) {
				r.depth[e.to] = max(r.depth[e.to], r.depth[n]+e.depth)
			}
		}
	}
	return total
}

// follows reports whether one schema is written out inside another: one that
// stands around it is not.
func (r *reach) follows(from, to int) bool { return r.in[to] && r.place[to] < r.place[from] }

const walking = 1 << 30

func (r *reach) visit(n int) {
	if !r.in[n] || r.place[n] != 0 {
		return
	}
	r.place[n] = walking
	sh := r.m.inner(n)
	values := sh.values
	for _, e := range sh.edges {
		r.visit(e.to)
		if r.in[e.to] && r.place[e.to] != walking {
			values = min(values+r.values[e.to], 1<<30)
		} else {
			values++
		}
	}
	r.post = append(r.post, n)
	r.place[n], r.values[n] = len(r.post), values
}

// drawnParts are the schemas inside s that a body is drawn from.
func drawnParts(s *api.Value) []*api.Value {
	if all := s.Get("allOf").Elems(); len(all) > 0 {
		return all
	}
	var out []*api.Value
	for _, key := range []string{"oneOf", "anyOf"} {
		if list := s.Get(key).Elems(); len(list) > 0 {
			out = append(out, list[0])
			break
		}
	}
	for _, p := range s.Get("properties").Members() {
		out = append(out, p.Value)
	}
	if len(s.Get("properties").Members()) == 0 && s.Get("additionalProperties").Is(canon.Object) {
		out = append(out, s.Get("additionalProperties"))
	}
	if items := s.Get("items"); items.Is(canon.Object) {
		out = append(out, items)
	}
	return out
}

// composites counts the objects and arrays of a schema, up to a limit.
func composites(v *api.Value, limit int) int {
	if !v.Is(canon.Object) && !v.Is(canon.Array) || limit <= 0 {
		return 0
	}
	n := 1
	for _, m := range v.Members() {
		n += composites(m.Value, limit-n)
	}
	for _, e := range v.Elems() {
		n += composites(e, limit-n)
	}
	return n
}
