package air

import (
	"strings"
	"sync"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A lazySchema is a schema that is worked out once, when it is first asked for.
type lazySchema struct {
	once   sync.Once
	schema *Value
}

// Response is the schema of the operation's success body: output.schema when it
// is not empty, else the schema that output.schemaRef names (whole, or by its
// part after the last slash), nil when there is neither.
//
// References to #/components/schemas/NAME in it are resolved one hop deep, as
// far as they do resolve; a second hop becomes a stub with the type and a
// description alone, unless the name was resolved before. Beyond 4,000 objects
// and arrays schemas become stubs too.
func (d *Document) Response(o *Operation) *Value {
	o.response.once.Do(func() {
		o.response.schema = d.resolve(d.declaredOutput(o))
	})
	return o.response.schema
}

func (d *Document) declaredOutput(o *Operation) *Value {
	if len(o.OutputSchema.Members()) > 0 {
		return o.OutputSchema
	}
	ref := o.OutputSchemaRef
	if ref == "" {
		return nil
	}
	if s := d.Schemas.Get(ref); s != nil {
		return s
	}
	return d.Schemas.Get(ref[strings.LastIndexByte(ref, '/')+1:])
}

const (
	schemaPrefix = "#/components/schemas/"
	schemaBudget = 4000 // objects and arrays
)

// A resolver writes out the references of one schema.
type resolver struct {
	schemas *Value
	left    int               // of schemaBudget
	done    map[string]*Value // nil while the name is being resolved
}

func (d *Document) resolve(schema *Value) *Value {
	r := resolver{schemas: d.Schemas, left: schemaBudget, done: map[string]*Value{}}
	return r.schema(schema, 0)
}

// schema resolves what stands where a schema may stand.
func (r *resolver) schema(v *Value, hop int) *Value {
	if !v.Is(canon.Object) {
		return r.parts(v, hop, r.schema)
	}
	if name, target := r.target(v); target != nil {
		return r.named(name, target, hop)
	}
	if r.left <= 0 {
		return stub(v, "")
	}
	r.left--
	return canon.MapMembers(v, func(key string, part *Value) *Value {
		switch key {
		case "enum", "const", "default", "example", "examples":
			return part // data, not schemas
		case "properties", "patternProperties", "definitions", "$defs", "dependentSchemas":
			return r.parts(part, hop, r.schema)
		}
		return r.schema(part, hop)
	})
}

// parts resolves the elements of an array or the values of a map of schemas.
func (r *resolver) parts(v *Value, hop int, each func(*Value, int) *Value) *Value {
	switch v.Kind() {
	case canon.Object:
		r.left--
		return canon.MapMembers(v, func(_ string, part *Value) *Value { return each(part, hop) })
	case canon.Array:
		r.left--
		elems := make([]*Value, len(v.Elems()))
		same := true
		for i, e := range v.Elems() {
			elems[i] = each(e, hop)
			same = same && elems[i] == e
		}
		if !same {
			return canon.NewArray(elems...)
		}
	}
	return v
}

// target is the named schema that v refers to, nil when v is no such reference.
func (r *resolver) target(v *Value) (string, *Value) {
	ref := v.Get("$ref")
	name, ok := strings.CutPrefix(ref.Text(), schemaPrefix)
	if !ok || !ref.Is(canon.String) {
		return "", nil
	}
	if t := r.schemas.Get(name); t != nil {
		return name, t
	}
	name = unescapePointer.Replace(name)
	return name, r.schemas.Get(name)
}

func (r *resolver) named(name string, target *Value, hop int) *Value {
	resolved, known := r.done[name]
	switch {
	case resolved != nil:
		return resolved
	case known || hop > 0 || r.left <= 0:
		return stub(target, name)
	}
	r.done[name] = nil
	r.done[name] = r.schema(target, hop+1)
	return r.done[name]
}

// stub stands for a schema that is not written out.
func stub(v *Value, name string) *Value {
	description := v.Get("description")
	switch {
	case description.Is(canon.String):
	case name != "":
		description = canon.NewString(name + ", not written out here.")
	default:
		description = canon.NewString("Not written out here.")
	}
	return canon.NewObject(canon.Member{Key: "type", Value: v.Get("type")}, canon.Member{Key: "description", Value: description})
}

// ItemSchema is the schema of one item of a page: items of an array response,
// else of the array at [Document.ItemsPath]; nil when the contract declares none.
func (d *Document) ItemSchema(o *Operation) *Value {
	o.item.once.Do(func() {
		s := d.Response(o)
		if path, ok := d.ItemsPath(o); ok {
			s = schemaAt(s, path)
		}
		o.item.schema = s.Get("items")
	})
	return o.item.schema
}

// ItemsPath is where the items of a page stand in the response body: at
// pagination.itemsField when the contract names one (a dotted path; with a
// leading @ it is one key) and declares an array there, or declares no array
// property at all; else at the first declared array property. Ok is false for a
// response that is an array itself, and when the contract tells nothing.
func (d *Document) ItemsPath(o *Operation) (path []string, ok bool) {
	s := d.Response(o)
	if isArray(s) {
		return nil, false
	}
	if o.Pagination != nil && o.Pagination.ItemsField != "" {
		path = FieldPath(o.Pagination.ItemsField)
		if isArray(schemaAt(s, path)) {
			return path, true
		}
	}
	for _, m := range Properties(s) {
		if isArray(m.Value) {
			return []string{m.Key}, true
		}
	}
	return path, path != nil
}

func isArray(schema *Value) bool { return schema.Get("type").Text() == "array" }

// FieldPath splits a field that pagination names: at dots, unless it begins
// with @.
func FieldPath(field string) []string {
	if strings.HasPrefix(field, "@") {
		return []string{field}
	}
	return strings.Split(field, ".")
}

// maxAllOf is how deep allOf is followed inside allOf.
const maxAllOf = 8

// Properties lists the properties that a schema declares, in order: its own,
// then those of its allOf parts. A name that stands twice keeps its first place
// and takes its last schema.
func Properties(schema *Value) []canon.Member {
	if schema.Get("allOf") == nil {
		return schema.Get("properties").Members()
	}
	return canon.NewObject(properties(nil, schema, maxAllOf)...).Members()
}

func properties(dst []canon.Member, schema *Value, depth int) []canon.Member {
	dst = append(dst, schema.Get("properties").Members()...)
	if depth > 0 {
		for _, part := range schema.Get("allOf").Elems() {
			dst = properties(dst, part, depth-1)
		}
	}
	return dst
}

// Property is the schema of one property, the schema's own or of its allOf
// parts; nil when it declares none.
func Property(schema *Value, key string) *Value {
	if schema.Get("allOf") == nil {
		return schema.Get("properties").Get(key)
	}
	return canon.NewObject(Properties(schema)...).Get(key)
}
