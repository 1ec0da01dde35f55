package surface

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// A typing says how the texts of a parameter or form field become JSON.
type typing struct {
	kind   string            // integer, number, boolean, array, object; else text
	elem   string            // kind of an array's elements
	item   *typing           // of an array's elements that are objects, as deep as is looked
	deep   bool              // of a form's field: its names may have brackets
	sep    string            // of a form's field: what parts the values in one text; "" when each has its own
	binary bool              // the text is bytes: base64 in JSON
	props  map[string]typing // of an object
	order  []string          // property names of an object, as declared
}

// typingOf reads a schema; refs resolves #/components/schemas names, and may be
// nil. Of an object's properties it knows what they are, and no more.
func typingOf(schema, refs *air.Value) typing { return typingTo(1, schema, refs) }

// typingTo reads the properties of objects to a depth.
func typingTo(depth int, schema, refs *air.Value) typing {
	schema = resolve(schema, refs)
	t := typing{kind: typeName(schema, refs), binary: isBinary(schema)}
	switch {
	case t.kind == "array":
		items := resolve(schema.Get("items"), refs)
		t.elem, t.binary = typeName(items, refs), isBinary(items)
		if t.elem == "object" && depth > 0 {
			item := typingTo(depth-1, items, refs)
			t.item = &item
		}
	case t.kind == "object" && depth > 0:
		t.props = map[string]typing{}
		for _, m := range air.Properties(schema) {
			t.props[m.Key] = typingTo(depth-1, m.Value, refs)
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
	if only == "" {
		return enumType(schema.Get("enum").Elems())
	}
	return only
}

// enumType is the type of a schema that lists its values and names no type.
func enumType(values []*air.Value) string {
	names := map[canon.Kind]string{canon.Number: "number", canon.Bool: "boolean"}
	if len(values) == 0 {
		return ""
	}
	for _, v := range values {
		if v.Kind() != values[0].Kind() {
			return ""
		}
	}
	return names[values[0].Kind()]
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

// delimited reads values that stand in one text: of an object, its names and values
// by turns. Texts of an array that are several are its elements.
func (t *typing) delimited(raws []string, sep string) sim.Raw {
	switch {
	case t.kind == "object":
		return t.object(pairUp(splitRaw(raws[len(raws)-1], sep, unescapeForm)))
	case len(raws) > 1:
		texts := make([]string, len(raws))
		for i, raw := range raws {
			texts[i] = unescapeForm(raw)
		}
		return list(t.elem, texts)
	}
	return list(t.elem, splitRaw(raws[0], sep, unescapeForm))
}

// A named is one property of an object as it was sent.
type named struct {
	name   string
	values []string
}

// object types properties as declared: all values of an array, of another one
// the last.
func (t *typing) object(props []named) sim.Raw {
	var in sim.Input
	for _, p := range props {
		if prop := t.props[p.name]; prop.kind == "array" {
			in.Set(p.name, list(prop.elem, p.values))
		} else {
			in.Set(p.name, scalar(prop.kind, p.values[len(p.values)-1]))
		}
	}
	return in.AppendJSON(nil)
}
