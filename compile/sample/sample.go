// Package sample readies the schemas of a contract's responses for seeded
// bodies, so that a simulator without fixtures answers in the vendor's shape.
//
// How a body is drawn from a schema is fixed. What the drawing does not look at
// (default, pattern, exclusive bounds, a discriminator, a list of types) is told
// here in words that it does look at: an example, or another spelling of the
// same schema. Nothing is added where the drawing does well by itself, so that
// values still differ from seed to seed.
package sample

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

const prefix = "#/components/schemas/"

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// A Maker readies the schemas of one contract. It is for one goroutine.
type Maker struct {
	order  []canon.Member
	named  map[string]*api.Value // as declared
	kinds  map[string]string     // the value of a schema's discriminator
	keys   map[string]string     // the property that it stands in
	heirs  map[string][]string   // the schemas that take a part from one
	done   map[*api.Value]*api.Value
	ready  map[string]*api.Value // as readied
	index  map[string]int        // of order
	shapes []*shape              // by index; nil when not asked for yet
	rooted map[*api.Value]*api.Value
}

// New makes a maker for named schemas that refer to one another as
// #/components/schemas/NAME.
func New(named []canon.Member) *Maker {
	m := &Maker{
		order: named, named: map[string]*api.Value{}, kinds: map[string]string{}, keys: map[string]string{}, heirs: map[string][]string{},
		done: map[*api.Value]*api.Value{}, ready: map[string]*api.Value{}, index: map[string]int{},
		shapes: make([]*shape, len(named)), rooted: map[*api.Value]*api.Value{},
	}
	for i, s := range named {
		m.named[s.Key], m.index[s.Key] = s.Value, i
		for _, part := range s.Value.Get("allOf").Elems() {
			if base := refName(part); base != "" {
				m.heirs[base] = append(m.heirs[base], s.Key)
			}
		}
	}
	for _, s := range named {
		m.discriminators(s.Key, s.Value, 0)
	}
	for _, s := range named {
		m.ready[s.Key] = m.one(s.Key, s.Value)
	}
	return m
}

// Root is a response's schema, readied: the schemas that its body reaches in
// several steps are listed under $defs, the deepest first, since a reader of
// contracts follows one step and remembers what it has seen.
func (m *Maker) Root(s *api.Value) *api.Value {
	if s == nil {
		return nil
	}
	return m.withDefs(m.Schema(s))
}

// Named lists the named schemas, readied, in their order; those that isRoot
// names are responses of their own.
func (m *Maker) Named(isRoot map[string]bool) []canon.Member {
	out := make([]canon.Member, len(m.order))
	for i, s := range m.order {
		out[i] = canon.Member{Key: s.Key, Value: m.ready[s.Key]}
		if isRoot[s.Key] {
			out[i].Value = m.withDefs(m.ready[s.Key])
		}
	}
	return out
}

// one readies a named schema, which may be told apart by a discriminator.
func (m *Maker) one(name string, s *api.Value) *api.Value {
	out := m.Schema(m.unroll(name, s))
	if kind := m.kinds[name]; kind != "" {
		out = tell(out, m.keys[name], kind)
	}
	return out
}

// tell puts the value of a discriminator into the schema that it stands for.
func tell(s *api.Value, key, kind string) *api.Value {
	value := canon.NewString(kind)
	if knows(s, key, kind) {
		return s
	}
	if p := s.Get("properties").Get(key); p != nil && s.Get("allOf") == nil {
		if refName(p) != "" {
			p = canon.NewObject(canon.Member{Key: "anyOf", Value: canon.NewArray(p)})
		}
		return s.With("properties", s.Get("properties").With(key, p.With("example", value)))
	}
	all := s.Get("allOf")
	if !all.Is(canon.Array) {
		return s
	}
	field := object("type", canon.NewString("string"), "example", value)
	part := object("type", canon.NewString("object"), "properties", object(key, field))
	return s.With("allOf", canon.NewArray(append(all.Elems()[:len(all.Elems()):len(all.Elems())], part)...))
}

// knows reports whether a schema itself, or a part of it that is written out,
// names other values for its discriminator than the one that was found.
func knows(s *api.Value, key, kind string) bool {
	for _, part := range append([]*api.Value{s}, s.Get("allOf").Elems()...) {
		p := part.Get("properties").Get(key)
		enum := p.Get("enum").Elems()
		same := func(v *api.Value) bool { return v.Text() == kind }
		if p.Get("const") != nil || len(enum) > 0 && !slices.ContainsFunc(enum, same) {
			return true
		}
	}
	return false
}

// discriminators remembers what tells the branches of a choice, or the heirs of
// a schema, apart.
func (m *Maker) discriminators(name string, s *api.Value, depth int) {
	d := s.Get("discriminator")
	key := d.Get("propertyName").Text()
	if !d.Is(canon.Object) {
		key = d.Text() // as Swagger 2.0 has it
	}
	if key != "" {
		for _, e := range d.Get("mapping").Members() {
			target := unescape.Replace(strings.TrimPrefix(e.Value.Text(), prefix))
			m.kind(target, key, e.Key)
		}
		for _, word := range []string{"oneOf", "anyOf"} {
			for _, b := range s.Get(word).Elems() {
				m.kind(refName(b), key, refName(b))
			}
		}
		m.tellHeirs(name, key)
		if name != "" && !choosesOf(s) && !exemplified(s, key) {
			m.kind(name, key, name)
		}
	}
	if depth < 32 {
		api.MapSchemas(s, func(part *api.Value) *api.Value {
			m.discriminators("", part, depth+1)
			return part
		})
	}
}

// choosesOf reports whether a schema is one of several others, whose values its own are.
func choosesOf(s *api.Value) bool { return s.Get("oneOf") != nil || s.Get("anyOf") != nil }

// exemplified reports whether a schema says itself what a property looks like.
func exemplified(s *api.Value, key string) bool {
	for _, part := range append([]*api.Value{s}, s.Get("allOf").Elems()...) {
		p := part.Get("properties").Get(key)
		if p.Get("example") != nil || len(p.Get("examples").Elems()) > 0 || p.Get("default") != nil {
			return true
		}
	}
	return s.Get("example") != nil
}

// tellHeirs tells the schemas that take a part from one with a discriminator, and
// theirs: each by its name.
func (m *Maker) tellHeirs(base, key string) {
	seen := map[string]bool{base: true}
	for next := []string{base}; len(next) > 0; next = next[1:] {
		for _, heir := range m.heirs[next[0]] {
			if !seen[heir] {
				seen[heir], next = true, append(next, heir)
				m.kind(heir, key, heir)
			}
		}
	}
}

func (m *Maker) kind(name, key, kind string) {
	if m.named[name] != nil && m.kinds[name] == "" {
		m.kinds[name], m.keys[name] = kind, key
	}
}

// refName is the name of the schema that v refers to, "" when it is no
// reference.
func refName(v *api.Value) string {
	ref := v.Get("$ref")
	if !ref.Is(canon.String) {
		return ""
	}
	name, ok := strings.CutPrefix(ref.Text(), prefix)
	if !ok {
		return ""
	}
	return unescape.Replace(name)
}

// maxChain is how many references may lead to one another.
const maxChain = 16

// deref is the schema that v stands for; nil when a reference leads nowhere.
func (m *Maker) deref(v *api.Value) *api.Value {
	for range maxChain {
		name := refName(v)
		if name == "" {
			return v
		}
		v = m.named[name]
	}
	return nil
}

// object makes an object of keys and values in turn.
func object(pairs ...any) *api.Value {
	var members []canon.Member
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, canon.Member{Key: pairs[i].(string), Value: pairs[i+1].(*api.Value)})
	}
	return canon.NewObject(members...)
}
