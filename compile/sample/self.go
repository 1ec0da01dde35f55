package sample

import (
	"slices"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// unroll writes a schema that stands in itself out once: a reader of contracts
// ends such a schema as {}, which lacks what the schema requires. Inside the one
// inner copy the schema ends by what it allows.
func (m *Maker) unroll(name string, s *api.Value) *api.Value {
	if !mentions(s, name) {
		return s
	}
	inner := m.last(name, s)
	return replace(s, name, inner)
}

// mentions reports whether a schema refers to a named one, not through others.
func mentions(s *api.Value, name string) bool {
	found := refName(s) == name
	if !found && s.Is(canon.Object) {
		api.MapSchemas(s, func(part *api.Value) *api.Value {
			found = found || mentions(part, name)
			return part
		})
	}
	return found
}

// replace puts a schema in the place of the references to a named one.
func replace(s *api.Value, name string, by *api.Value) *api.Value {
	switch {
	case refName(s) == name:
		return by
	case !s.Is(canon.Object):
		return s
	}
	return api.MapSchemas(s, func(part *api.Value) *api.Value { return replace(part, name, by) })
}

// last is a schema without itself inside: an array is empty, an optional
// property is left out, a nullable one is null. What must be there and may not
// be null stays a reference.
func (m *Maker) last(name string, s *api.Value) *api.Value {
	if !s.Is(canon.Object) || !mentions(s, name) || refName(s) != "" {
		return s
	}
	if m.typ(s) == "array" {
		return s.With("example", canon.NewArray())
	}
	required := s.Get("required").Elems()
	var props []canon.Member
	for _, p := range s.Get("properties").Members() {
		needed := slices.ContainsFunc(required, func(r *api.Value) bool { return r.Text() == p.Key })
		switch {
		case !mentions(p.Value, name):
		case refName(p.Value) == "" && m.typ(p.Value) == "array":
			p.Value = p.Value.With("example", canon.NewArray())
		case refName(p.Value) == "" && p.Value.Get("properties") != nil:
			p.Value = m.last(name, p.Value)
		case !needed:
			continue
		case nullable(p.Value):
			p.Value = object("type", canon.NewArray(canon.NewString("null")))
		}
		props = append(props, p)
	}
	out := without(without(s, "additionalProperties"), "properties")
	if s.Get("properties") != nil {
		out = out.With("properties", canon.NewObject(props...))
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		if list := s.Get(key); list.Is(canon.Array) {
			out = out.With(key, api.MapElems(list, func(part *api.Value) *api.Value { return m.last(name, part) }))
		}
	}
	return out
}

// nullable reports whether a schema takes null.
func nullable(s *api.Value) bool {
	isNull := func(t *api.Value) bool { return t.Text() == "null" || t.Get("type").Text() == "null" }
	return s.Get("nullable").True() || s.Get("x-nullable").True() ||
		slices.ContainsFunc(slices.Concat(s.Get("type").Elems(), s.Get("oneOf").Elems(), s.Get("anyOf").Elems()), isNull)
}
