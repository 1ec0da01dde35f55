package compile

import (
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

const schemaPrefix = "#/components/schemas/"

var tokenUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// schemas are the named schemas of a description.
type schemas map[string]*api.Value

// refName is the name of the schema that v refers to, "" when it is no
// reference.
func refName(v *api.Value) string {
	ref := v.Get("$ref")
	if !ref.Is(canon.String) {
		return ""
	}
	name, ok := strings.CutPrefix(ref.Text(), schemaPrefix)
	if !ok {
		return ""
	}
	return tokenUnescaper.Replace(name)
}

// deref is what v stands for: the named schema, or the only part of an allOf
// that is there to annotate a reference.
func (s schemas) deref(v *api.Value) *api.Value {
	for range 16 {
		if name := refName(v); name != "" {
			v = s[name]
			continue
		}
		if all := v.Get("allOf").Elems(); len(all) == 1 && v.Get("properties") == nil {
			v = all[0]
			continue
		}
		break
	}
	return v
}

// typ is the type of a schema, guessed from its keywords and the parts of its
// allOf when it states none.
func (s schemas) typ(v *api.Value) string { return api.GuessType(v, s.deref, "allOf") }

// maxParts is how deep allOf is followed in allOf.
const maxParts = 8

// properties lists the declared properties of an object, those of its allOf
// parts after its own; the values are as they stand, perhaps references.
func (s schemas) properties(v *api.Value) []canon.Member {
	v = s.deref(v)
	if v.Get("allOf") == nil {
		return v.Get("properties").Members()
	}
	budget := 2000 // allOf parts that name one another cost no more
	var out []canon.Member
	s.addProperties(&out, v, maxParts, &budget)
	return canon.NewObject(out...).Members()
}

func (s schemas) addProperties(out *[]canon.Member, v *api.Value, depth int, budget *int) {
	if *budget--; *budget < 0 {
		return
	}
	v = s.deref(v)
	*out = append(*out, v.Get("properties").Members()...)
	if depth > 0 {
		for _, part := range v.Get("allOf").Elems() {
			s.addProperties(out, part, depth-1, budget)
		}
	}
}

// required are the names that an object requires, its allOf parts included.
func (s schemas) required(v *api.Value) map[string]bool {
	set := map[string]bool{}
	budget := 2000
	s.addRequired(set, v, maxParts, &budget)
	return set
}

func (s schemas) addRequired(set map[string]bool, v *api.Value, depth int, budget *int) {
	if *budget--; *budget < 0 {
		return
	}
	v = s.deref(v)
	for _, r := range v.Get("required").Elems() {
		if r.Is(canon.String) {
			set[r.Text()] = true
		}
	}
	if depth > 0 {
		for _, part := range v.Get("allOf").Elems() {
			s.addRequired(set, part, depth-1, budget)
		}
	}
}

// at walks property names.
func (s schemas) at(v *api.Value, path ...string) *api.Value {
	for _, name := range path {
		var next *api.Value
		for _, m := range s.properties(v) {
			if m.Key == name {
				next = m.Value
			}
		}
		if next == nil {
			return nil
		}
		v = next
	}
	return v
}

// An expander writes references out, so that a schema can stand alone, to a
// depth of named schemas: beyond it a schema becomes a stub of its type and
// description. What was written out once is shared.
type expander struct {
	schemas schemas
	done    map[expanded]*api.Value
}

type expanded struct {
	v    *api.Value
	hops int
}

func newExpander(s schemas) *expander { return &expander{s, map[expanded]*api.Value{}} }

// maxNodes bounds what one schema is written out to, in objects and arrays.
const maxNodes = 4000

// expand writes a schema out.
func (e *expander) expand(v *api.Value, hops int) *api.Value {
	for ; hops >= 0; hops-- {
		out := e.schema(v, hops)
		if nodes(out, maxNodes) <= maxNodes {
			return out
		}
	}
	return stub(e.schemas.deref(v))
}

// nodes counts the objects and arrays of a value, at most limit and one more.
func nodes(v *api.Value, limit int) int {
	if !v.Is(canon.Object) && !v.Is(canon.Array) {
		return 0
	}
	n := 1
	for _, m := range v.Members() {
		if n > limit {
			return n
		}
		n += nodes(m.Value, limit-n)
	}
	for _, el := range v.Elems() {
		if n > limit {
			return n
		}
		n += nodes(el, limit-n)
	}
	return n
}

func (e *expander) schema(v *api.Value, hops int) *api.Value {
	if !v.Is(canon.Object) {
		return v
	}
	key := expanded{v, hops}
	if out, ok := e.done[key]; ok {
		return out
	}
	var out *api.Value
	if name := refName(v); name != "" {
		target := e.schemas[name]
		switch {
		case target == nil:
			out = canon.NewObject()
		case hops == 0:
			out = stub(target)
		default:
			out = e.schema(target, hops-1)
		}
	} else {
		out = api.MapSchemas(v, func(s *api.Value) *api.Value { return e.schema(s, hops) })
		out = keepNames(v, out)
	}
	e.done[key] = out
	return out
}

// nameKeyword is where a branch of a choice that is written out keeps its name:
// a discriminator knows it by that.
const nameKeyword = "x-anvil-schema"

// keepNames marks the branches of a choice with a discriminator with the names
// that they had before they were written out.
func keepNames(v, out *api.Value) *api.Value {
	if v.Get("discriminator").Get("propertyName").Text() == "" {
		return out
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		before := v.Get(word).Elems()
		if len(before) == 0 {
			continue
		}
		elems := make([]*api.Value, len(before))
		for i, branch := range out.Get(word).Elems() {
			elems[i] = branch
			if name := refName(before[i]); name != "" {
				elems[i] = branch.With(nameKeyword, canon.NewString(name))
			}
		}
		out = out.With(word, canon.NewArray(elems...))
	}
	return out
}

func stub(v *api.Value) *api.Value {
	return canon.NewObject(canon.Member{Key: "type", Value: v.Get("type")}, canon.Member{Key: "description", Value: v.Get("description")})
}
