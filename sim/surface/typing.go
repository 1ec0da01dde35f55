package surface

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// A typing says how the texts of a parameter or form field become JSON.
type typing struct {
	kind   string // integer, number, boolean, array, object; else text
	elem   string // kind of an array's elements
	binary bool   // the text is bytes: base64 in JSON
	props  map[string]string
	order  []string // property names of an object, as declared
}

// typingOf reads a schema; refs resolves #/components/schemas names, and may be
// nil.
func typingOf(schema, refs *air.Value) typing {
	schema = resolve(schema, refs)
	t := typing{kind: typeName(schema, refs), binary: isBinary(schema)}
	switch t.kind {
	case "array":
		items := resolve(schema.Get("items"), refs)
		t.elem, t.binary = typeName(items, refs), isBinary(items)
	case "object":
		t.props = map[string]string{}
		for _, m := range air.Properties(schema) {
			t.props[m.Key] = typeName(resolve(m.Value, refs), refs)
			t.order = append(t.order, m.Key)
		}
	}
	return t
}

// maxRefHops bounds a chain of references: a cycle ends there.
const maxRefHops = 8

func resolve(schema, refs *air.Value) *air.Value {
	for range maxRefHops {
		ref := schema.Get("$ref").Text()
		if ref == "" {
			return schema
		}
		schema = refs.Get(ref[strings.LastIndexByte(ref, '/')+1:])
	}
	return nil
}

// typeName is the declared type: of a list the first that is not null, of a
// schema without one the only type that its branches allow beside null.
func typeName(schema, refs *air.Value) string {
	switch t := schema.Get("type"); t.Kind() {
	case canon.String:
		return t.Text()
	case canon.Array:
		for _, e := range t.Elems() {
			if e.Text() != "null" {
				return e.Text()
			}
		}
		return ""
	}
	only := ""
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		for _, branch := range schema.Get(word).Elems() {
			name := resolve(branch, refs).Get("type").Text()
			switch {
			case name == "" || name == "null":
			case only != "" && only != name:
				return ""
			default:
				only = name
			}
		}
	}
	return only
}

// isBinary tells a field whose value is bytes.
func isBinary(schema *air.Value) bool {
	format := schema.Get("format").Text()
	return format == "binary" || format == "byte" || schema.Get("contentEncoding").Text() == "base64" ||
		schema.Get("contentMediaType").Text() == "application/octet-stream"
}

// scalar types one text. What does not fit its kind stays a string, so that the
// provider, or the value check, sees what was sent.
func scalar(kind, text string) sim.Raw {
	switch kind {
	case "integer", "number":
		if num, ok := sim.NumberText(text); ok {
			return sim.Raw(num)
		}
	case "boolean":
		if text == "true" || text == "false" {
			return sim.Raw(text)
		}
	}
	return canon.AppendString(nil, text)
}

func list(kind string, texts []string) sim.Raw {
	dst := []byte{'['}
	for i, s := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, scalar(kind, s)...)
	}
	return append(dst, ']')
}

// object types name and value pairs by the declared properties; a name that is
// repeated keeps its last value.
func (t *typing) object(pairs [][2]string) sim.Raw {
	var in sim.Input
	for _, p := range pairs {
		in.Set(p[0], scalar(t.props[p[0]], p[1]))
	}
	return in.AppendJSON(nil)
}
