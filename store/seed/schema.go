package seed

import (
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/internal/naming"
	"github.com/anvil-sim/anvil/store/internal/stub"
)

const (
	refPrefix = "#/components/schemas/"
	maxHops   = 3   // how deep nested objects are written out
	maxRefs   = 8   // references in a row
	maxProps  = 400 // columns of a table; SQLite takes 2000
)

// A resolver writes schemas out, references and all, as far as synthesizing a
// value needs it.
type resolver struct{ schemas *canon.Value }

func (r *resolver) target(s *canon.Value) *canon.Value {
	for range maxRefs {
		name, ok := strings.CutPrefix(s.Get("$ref").Text(), refPrefix)
		if !ok {
			cut := r.schemas.Get(stub.Name(s))
			if cut == nil {
				return s
			}
			s = cut
			continue
		}
		s = r.schemas.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
	}
	return nil
}

// properties lists a schema's properties, those of allOf and of the first
// branch of oneOf or anyOf too. A name that stands twice keeps its first place
// and its last schema.
func (r *resolver) properties(s *canon.Value, depth int) []canon.Member {
	members := canon.NewObject(r.collect(nil, s, depth)...).Members()
	return members[:min(len(members), maxProps)]
}

func (r *resolver) collect(dst []canon.Member, s *canon.Value, depth int) []canon.Member {
	s = r.target(s)
	if !s.Is(canon.Object) || depth > maxRefs {
		return dst
	}
	dst = append(dst, s.Get("properties").Members()...)
	for _, part := range s.Get("allOf").Elems() {
		dst = r.collect(dst, part, depth+1)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if branches := s.Get(key).Elems(); len(branches) > 0 && len(dst) == 0 {
			dst = r.collect(dst, branches[0], depth+1)
		}
	}
	if items := s.Get("items"); len(dst) == 0 && typeOf(s) != "array" && items != nil {
		dst = r.collect(dst, items, depth+1) // some descriptions hold choices in items without a type
	}
	return dst
}

// resolve writes a schema out: one type, its properties, no references. Beyond
// maxHops an object has none.
func (r *resolver) resolve(s *canon.Value, depth int) *canon.Value {
	s = r.target(s)
	if !s.Is(canon.Object) {
		return canon.NewObject()
	}
	var out []canon.Member
	for _, m := range s.Members() {
		switch m.Key {
		case "const", "example", "examples", "enum", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems":
			out = append(out, m)
		}
	}
	kind := typeOf(s)
	props := r.properties(s, depth)
	if (kind == "" || kind == "array" && s.Get("items") == nil) && len(props) > 0 {
		kind = "object"
	}
	if kind == "" {
		for _, key := range []string{"oneOf", "anyOf", "allOf"} {
			for _, branch := range s.Get(key).Elems() {
				if depth < maxHops && typeOf(r.target(branch)) != "null" {
					return r.resolve(branch, depth+1)
				}
			}
		}
	}
	if items := s.Get("items"); kind == "" && items != nil && len(props) == 0 && depth < maxHops {
		return r.resolve(items, depth+1) // choices that stand in items without a type
	}
	switch {
	case kind == "object" && depth < maxHops:
		var inner []canon.Member
		for _, p := range props {
			inner = append(inner, canon.Member{Key: p.Key, Value: r.resolve(p.Value, depth+1)})
		}
		out = append(out, canon.Member{Key: "properties", Value: canon.NewObject(inner...)})
	case kind == "array" && depth < maxHops && s.Get("items") != nil:
		out = append(out, canon.Member{Key: "items", Value: r.resolve(s.Get("items"), depth+1)})
	case kind == "array":
		out = append(out, canon.Member{Key: "maxItems", Value: canon.NewInt(0)})
	}
	if kind != "" {
		out = append(out, canon.Member{Key: "type", Value: canon.NewString(kind)})
	}
	return canon.NewObject(out...)
}

// refOf is the name of the schema that a property refers to, in an allOf, oneOf
// or anyOf too, or that it is a stub of; "" when it is written out.
func refOf(s *canon.Value) string {
	if name := stub.Name(s); name != "" {
		return name
	}
	if name, ok := strings.CutPrefix(s.Get("$ref").Text(), refPrefix); ok {
		return name
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		for _, part := range s.Get(key).Elems() {
			if name, ok := strings.CutPrefix(part.Get("$ref").Text(), refPrefix); ok {
				return name
			}
		}
	}
	return ""
}

// affixes are words of schema names that say how much of a thing they show.
var affixes = map[string]bool{
	"nullable": true, "simple": true, "minimal": true, "full": true, "base": true, "compact": true, "response": true, "details": true,
	"detail": true, "bean": true, "ref": true, "reference": true, "summary": true, "item": true, "objs": true, "dto": true, "model": true,
	"basic": true, "short": true, "public": true, "private": true,
}

// coreName is the thing that a schema is named after: user, of
// nullable-simple-user and UserCompact.
func coreName(schema string) string {
	var words []string
	start := 0
	add := func(end int) {
		if w := schema[start:end]; naming.Plain(w) != "" && !affixes[strings.ToLower(strings.Trim(w, "-_. "))] {
			words = append(words, strings.Trim(w, "-_. "))
		}
		start = end
	}
	for i := 1; i < len(schema); i++ {
		c, before := schema[i], schema[i-1]
		if c == '-' || c == '_' || c == '.' || c == ' ' || c >= 'A' && c <= 'Z' && (before < 'A' || before > 'Z') {
			add(i)
		}
	}
	add(len(schema))
	if words == nil {
		return ""
	}
	return naming.Thing(strings.Join(words, "_"))
}

// typeOf is a schema's type; of a list the first that is not null.
func typeOf(s *canon.Value) string {
	t := s.Get("type")
	if t.Is(canon.String) {
		return t.Text()
	}
	for _, e := range t.Elems() {
		if e.Text() != "null" {
			return e.Text()
		}
	}
	return ""
}

// declOf is the SQLite type of a resolved property.
func declOf(s *canon.Value) string {
	switch typeOf(s) {
	case "integer":
		return "INTEGER"
	case "number":
		return "REAL"
	case "boolean":
		return "BOOLEAN"
	case "array", "object":
		return "JSON"
	case "string":
		switch s.Get("format").Text() {
		case "date":
			return "DATE"
		case "date-time":
			return "DATETIME"
		}
		return "TEXT"
	}
	for _, word := range []string{"example", "enum", "const", "format", "pattern", "minLength", "maxLength"} {
		if s.Get(word) != nil && !s.Get(word).Is(canon.Object) {
			return "TEXT"
		}
	}
	return "JSON" // anything at all
}
