package sample

import (
	"slices"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// Schema readies one schema and those inside it. What it shares with others it
// goes on sharing.
func (m *Maker) Schema(s *api.Value) *api.Value {
	if !s.Is(canon.Object) || refName(s) != "" {
		return s
	}
	if out, ok := m.done[s]; ok {
		return out
	}
	m.done[s] = s // a tree has no circles, but costs nothing to be sure
	out := example(api.MapSchemas(s, m.Schema))
	if !given(out) {
		out = m.choice(m.parts(out))
		if ex := m.missing(out, 0); ex != nil {
			out = out.With("example", ex)
		}
	}
	m.done[s] = out
	return out
}

// example reads an example as the type that its schema states, and leaves out
// one that cannot be read so: a client would stumble over it.
func example(s *api.Value) *api.Value {
	ex := s.Get("example")
	if ex == nil || ex.Is(canon.Null) {
		return s
	}
	typ := s.Get("type").Text() // of a choice any branch will do
	if typ == "" && s.Get("properties") != nil {
		typ = "object"
	}
	fit := Fit(ex, typ)
	switch fit {
	case ex:
		return s
	case nil:
		return without(s, "example")
	}
	return s.With("example", fit)
}

func without(s *api.Value, key string) *api.Value {
	return canon.NewObject(slices.DeleteFunc(slices.Clone(s.Members()), func(m canon.Member) bool { return m.Key == key })...)
}

// parts spells an allOf so that a body can be drawn from it: one part that is no
// object is a choice of one, and properties beside parts are a part more.
func (m *Maker) parts(s *api.Value) *api.Value {
	all := s.Get("allOf").Elems()
	if len(all) == 0 {
		return s
	}
	if props := s.Get("properties"); len(props.Members()) > 0 {
		own := object("type", canon.NewString("object"), "properties", props)
		return without(s, "properties").With("allOf", canon.NewArray(append(slices.Clone(all), own)...))
	}
	var says []*api.Value
	for _, p := range all {
		if refName(p) != "" || !annotates(p) {
			says = append(says, p)
		}
	}
	if len(says) == 0 || s.Get("oneOf") != nil || s.Get("anyOf") != nil {
		return s
	}
	if t := m.typ(s); t == "" || t == "object" {
		return s
	}
	if len(says) > 1 { // text with a length, say
		var members []canon.Member
		for _, p := range says {
			members = append(members, m.deref(p).Members()...)
		}
		if ex := m.plain(canon.NewObject(members...)); ex != nil {
			return s.With("example", ex)
		}
		return s
	}
	return without(s, "allOf").With("anyOf", canon.NewArray(says...))
}

// annotates reports whether a schema only describes.
func annotates(s *api.Value) bool {
	for _, m := range s.Members() {
		switch m.Key {
		case "description", "title", "deprecated", "readOnly", "writeOnly", "nullable", "default", "example", "examples", "$comment", "externalDocs", "xml":
		default:
			return false
		}
	}
	return true
}

// choice puts the branch that is null behind the others: the first is the one
// that is drawn.
func (m *Maker) choice(s *api.Value) *api.Value {
	for _, key := range []string{"oneOf", "anyOf"} {
		list := s.Get(key).Elems()
		if len(list) < 2 || list[0].Get("type").Text() != "null" {
			continue
		}
		s = s.With(key, canon.NewArray(append(slices.Clone(list[1:]), list[0])...))
	}
	return s
}

// given reports whether a schema names a value itself.
func given(s *api.Value) bool {
	if s.Get("const") != nil {
		return true
	}
	if ex := s.Get("example"); ex != nil && !ex.Is(canon.Null) {
		return true
	}
	return slices.ContainsFunc(append(slices.Clone(s.Get("examples").Elems()), s.Get("enum").Elems()...),
		func(v *api.Value) bool { return !v.Is(canon.Null) })
}

// typ is the type of a schema, guessed from its keywords and parts when it states
// none.
func (m *Maker) typ(s *api.Value) string {
	return api.GuessType(s, m.deref, "allOf", "oneOf", "anyOf")
}
