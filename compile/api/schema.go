package api

import "github.com/anvil-sim/anvil/internal/canon"

// MapSchemas applies f to each schema directly inside v, which it returns when f
// changed none.
func MapSchemas(v *Value, f func(*Value) *Value) *Value {
	return canon.MapMembers(v, func(key string, m *Value) *Value {
		switch key {
		case "properties", "patternProperties", "definitions", "$defs", "dependentSchemas":
			return canon.MapMembers(m, func(_ string, s *Value) *Value { return f(s) })
		case "allOf", "anyOf", "oneOf", "prefixItems":
			return MapElems(m, f)
		case "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
			if m.Is(canon.Array) {
				return MapElems(m, f)
			}
			return f(m)
		}
		return m
	})
}

// MapElems applies f to each element of an array, which it returns when f
// changed none; anything else it returns as it is.
func MapElems(v *Value, f func(*Value) *Value) *Value {
	same := true
	elems := make([]*Value, len(v.Elems()))
	for i, e := range v.Elems() {
		elems[i] = f(e)
		same = same && elems[i] == e
	}
	if same {
		return v
	}
	return canon.NewArray(elems...)
}

// OwnType is the type of a schema without its parts: the one it states, the first
// of a list that is not null, else what its keywords tell; "" when nothing does.
func OwnType(schema *Value) string {
	switch t := schema.Get("type"); {
	case t.Is(canon.String):
		return t.Text()
	case t.Is(canon.Array):
		for _, e := range t.Elems() {
			if e.Text() != "null" {
				return e.Text()
			}
		}
	case schema.Get("properties") != nil:
		return "object"
	case schema.Get("items") != nil:
		return "array"
	}
	return ""
}

// GuessType is the type of a schema: its own, else the first that one of the
// parts under the given keywords (allOf, oneOf, anyOf) tells, however deep; ""
// when nothing does. Deref follows a reference.
func GuessType(schema *Value, deref func(*Value) *Value, keywords ...string) string {
	budget := 2000 // parts that name one another cost no more
	return guessType(schema, deref, keywords, 8, &budget)
}

func guessType(schema *Value, deref func(*Value) *Value, keywords []string, depth int, budget *int) string {
	if *budget--; *budget < 0 {
		return ""
	}
	schema = deref(schema)
	if t := OwnType(schema); t != "" || depth < 0 {
		return t
	}
	for _, key := range keywords {
		for _, part := range schema.Get(key).Elems() {
			if t := guessType(part, deref, keywords, depth-1, budget); t != "" {
				return t
			}
		}
	}
	return ""
}
