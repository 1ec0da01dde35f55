// Package synth makes seeded values from a JSON Schema: the bodies of the
// built-in store. The same seed and label give the same bytes.
//
// The formulas, their constants and the order of the draws are the
// specification's: recorded runs hold them, so none may be improved.
package synth

import (
	"math"

	"github.com/anvil-sim/anvil/internal/canon"
)

// MaxDepth is the depth at which a synthesized value stops: a node there is []
// for an array and {} for anything else. The root is at depth 0.
const MaxDepth = 8

// maxWork bounds one body, since ten items at each of eight levels would be
// 10^8 nodes. A node costs 1, a token its length. Once it is spent a node is
// what it is at MaxDepth and no further draw is made.
const maxWork = 1 << 18

// Hash is the label hash: over UTF-16 code units, h = h*31 + unit from 0.
func Hash(label string) uint32 {
	var h uint32
	for u := range canon.Units(label) {
		h = h*31 + uint32(u)
	}
	return h
}

// BodySeed mixes the run's seed with a label, `<operation id>:<record id>` for
// the body of a record.
func BodySeed(seed uint32, label string) uint32 {
	return (seed^Hash(label))*0x9E3779B1 ^ seed>>3
}

// Body synthesizes the value of a schema from a stream of its own, seeded by
// seed and label. It is nil when schema is nil, and JSON null when the schema
// describes nothing that can be made (no type, a list of types, a boolean
// schema).
//
// Members stand in the order in which the schema declares them. A keyword with
// a value of the wrong type is ignored.
func Body(schema *canon.Value, seed uint32, label string) *canon.Value {
	if schema == nil {
		return nil
	}
	m := maker{rng: NewRng(BodySeed(seed, label)), work: maxWork}
	return m.node(schema, 0)
}

// A maker draws one body.
type maker struct {
	rng  *Rng
	work int // what may still be made
}

// node makes the value of one schema. The order of the cases is the order in
// which the specification names them, and so the order of the draws.
func (m *maker) node(s *canon.Value, depth int) *canon.Value {
	if !s.Is(canon.Object) {
		return canon.NewNull()
	}
	if m.work--; m.work <= 0 {
		return stub(s)
	}
	if v := m.given(s); v != nil {
		return v
	}
	if depth >= MaxDepth {
		return stub(s)
	}
	if all := s.Get("allOf"); all.Is(canon.Array) {
		return m.all(all.Elems(), depth)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if branches := s.Get(key).Elems(); len(branches) > 0 {
			return m.branch(s, branches[0], depth)
		}
	}
	return m.own(s, depth)
}

// given is the value that the schema itself names: const, example, examples or
// one of enum. Nil when it names none; an empty enum takes its draw all the same.
func (m *maker) given(s *canon.Value) *canon.Value {
	if c := s.Get("const"); c != nil {
		return c
	}
	if e := s.Get("example"); e != nil && !e.Is(canon.Null) {
		return e
	}
	for _, e := range s.Get("examples").Elems() {
		if !e.Is(canon.Null) {
			return e
		}
	}
	enum := s.Get("enum")
	if !enum.Is(canon.Array) {
		return nil
	}
	var values []*canon.Value
	for _, e := range enum.Elems() {
		if !e.Is(canon.Null) {
			values = append(values, e)
		}
	}
	if n := m.rng.Int(len(values)); n < len(values) {
		return values[n]
	}
	return nil
}

func stub(s *canon.Value) *canon.Value {
	if s.Get("type").Text() == "array" {
		return canon.NewArray()
	}
	return canon.NewObject()
}

// all merges the members of an allOf: a later one wins, and one that makes no
// object adds nothing.
func (m *maker) all(parts []*canon.Value, depth int) *canon.Value {
	var members []canon.Member
	for _, p := range parts {
		if p.Is(canon.Object) {
			members = append(members, m.node(p, depth+1).Members()...)
		}
	}
	return canon.NewObject(members...)
}

// branch makes the first branch of a oneOf or anyOf over the node's own value.
// The branch is drawn first.
func (m *maker) branch(s, first *canon.Value, depth int) *canon.Value {
	b := m.node(first, depth+1)
	if !s.Get("type").Is(canon.String) && s.Get("properties") == nil {
		return b
	}
	own := m.own(s, depth)
	switch {
	case own.Is(canon.Object) && b.Is(canon.Object):
		return merge(own, b)
	case b.Is(canon.Null) || own.Is(canon.Object):
		return own
	}
	return b
}

func merge(under, over *canon.Value) *canon.Value {
	members := make([]canon.Member, 0, len(under.Members())+len(over.Members()))
	members = append(members, under.Members()...)
	return canon.NewObject(append(members, over.Members()...)...)
}

// own makes a value of the schema's own type. A list of types is none.
func (m *maker) own(s *canon.Value, depth int) *canon.Value {
	t := s.Get("type")
	if !t.Is(canon.String) {
		return m.untyped(s, depth)
	}
	switch t.Text() {
	case "string":
		return m.text(s)
	case "integer":
		return canon.NewFloat(m.integer(s))
	case "number":
		whole := m.integer(s)
		return canon.NewFloat(whole + math.Floor(m.rng.Float()*100)/100)
	case "boolean":
		return canon.NewBool(m.rng.Float() < 0.5)
	case "array":
		return m.array(s, depth)
	case "object":
		return m.object(s, depth)
	}
	return canon.NewNull()
}

func (m *maker) untyped(s *canon.Value, depth int) *canon.Value {
	if s.Get("properties") != nil || s.Get("required") != nil {
		return m.object(s, depth)
	}
	for _, member := range s.Members() {
		if !annotates(member.Key) {
			return canon.NewNull()
		}
	}
	return canon.NewObject()
}

// annotates reports whether a keyword only describes.
func annotates(keyword string) bool {
	switch keyword {
	case "description", "title", "deprecated", "readOnly", "writeOnly",
		"nullable", "default", "$comment", "externalDocs", "xml":
		return true
	}
	return false
}

func (m *maker) text(s *canon.Value) *canon.Value {
	switch s.Get("format").Text() {
	case "date":
		return canon.NewString("2026-01-01")
	case "date-time":
		return canon.NewString("2026-01-01T00:00:00Z")
	case "time":
		return canon.NewString("00:00:00Z")
	case "email":
		return canon.NewString("user@example.com")
	case "uri", "url":
		return canon.NewString("https://example.com/resource")
	case "hostname":
		return canon.NewString("api.example.com")
	case "ipv4":
		return canon.NewString("192.0.2.1")
	case "ipv6":
		return canon.NewString("2001:db8::1")
	case "uuid":
		return canon.NewString(m.uuid())
	}
	length := max(number(s, "minLength", 0), min(number(s, "maxLength", 8), 8))
	n := int(min(math.Ceil(length), float64(m.work)))
	m.work -= n
	return canon.NewString(m.rng.Token(n))
}

func (m *maker) uuid() string {
	t := m.rng.Token
	return t(8) + "-" + t(4) + "-4" + t(3) + "-a" + t(3) + "-" + t(12)
}

func (m *maker) integer(s *canon.Value) float64 {
	low := number(s, "minimum", 0)
	count := 1000.0
	if s.Get("maximum").Is(canon.Number) {
		count = max(1, math.Floor(number(s, "maximum", 0)-low)+1)
	}
	return low + math.Floor(m.rng.Float()*count)
}

// maxItems is the longest array that is made.
const maxItems = 10

func (m *maker) array(s *canon.Value, depth int) *canon.Value {
	least := number(s, "minItems", 1)
	if least == 0 {
		least = 1
	}
	most := number(s, "maxItems", math.Inf(1))
	n := min(maxItems, max(0, min(most, max(1, least))))
	elems := make([]*canon.Value, 0, maxItems)
	for i := 0.0; i < n; i++ {
		elems = append(elems, m.node(s.Get("items"), depth+1))
	}
	return canon.NewArray(elems...)
}

func (m *maker) object(s *canon.Value, depth int) *canon.Value {
	declared := s.Get("properties").Members()
	if len(declared) == 0 {
		if extra := s.Get("additionalProperties"); extra.Is(canon.Object) {
			return canon.NewObject(canon.Member{Key: "key", Value: m.node(extra, depth+1)})
		}
		return canon.NewObject()
	}
	members := make([]canon.Member, len(declared))
	for i, p := range declared {
		members[i] = canon.Member{Key: p.Key, Value: m.node(p.Value, depth+1)}
	}
	return canon.NewObject(members...)
}

// number is the value of a numeric keyword, def when it is absent or no number.
func number(s *canon.Value, keyword string, def float64) float64 {
	if v := s.Get(keyword); v.Is(canon.Number) {
		return v.Float()
	}
	return def
}
