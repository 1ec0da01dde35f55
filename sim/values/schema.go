package values

import (
	"encoding/json"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// wording is the library's own text for a fault.
type wording struct{ jsonschema.ErrorKind }

// String implements fmt.Stringer.
func (w wording) String() string {
	return w.LocalizedString(message.NewPrinter(language.English))
}

// A translator turns schemas as a contract has them into JSON Schema as a
// request is checked by it.
type translator struct {
	named *air.Value // the contract's schemas by name
}

func (t translator) request(schema *air.Value) any {
	switch schema.Kind() {
	case canon.Object:
		return t.object(schema)
	case canon.Absent:
		return true
	}
	return literal(schema)
}

// literal is a value of a schema that is no schema itself.
func literal(v *air.Value) any {
	switch v.Kind() {
	case canon.Bool:
		return v.True()
	case canon.Number:
		return json.Number(v.Text())
	case canon.String:
		return v.Text()
	case canon.Array:
		list := make([]any, 0, len(v.Elems()))
		for _, e := range v.Elems() {
			list = append(list, literal(e))
		}
		return list
	case canon.Object:
		obj := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			obj[m.Key] = literal(m.Value)
		}
		return obj
	}
	return nil
}

func (t translator) object(schema *air.Value) any {
	out := make(map[string]any, len(schema.Members()))
	for _, m := range schema.Members() {
		if v, ok := t.keyword(schema, m.Key, m.Value); ok {
			out[m.Key] = v
		}
	}
	bounds(out, schema)
	if schema.Get("nullable").True() {
		return nullable(out)
	}
	return out
}

// keyword translates one keyword; false leaves it out.
func (t translator) keyword(schema *air.Value, key string, v *air.Value) (any, bool) {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		obj := map[string]any{}
		for _, m := range v.Members() {
			obj[m.Key] = t.request(m.Value)
		}
		return obj, true
	case "allOf", "anyOf", "oneOf", "prefixItems":
		if key == "anyOf" || key == "oneOf" {
			return t.branches(schema, v), true
		}
		return t.schemas(v), true
	case "items", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames",
		"additionalProperties", "unevaluatedItems", "unevaluatedProperties":
		if v.Is(canon.Array) {
			return t.schemas(v), true
		}
		return t.request(v), true
	case "$ref":
		ref := v.Text()
		if name, ok := strings.CutPrefix(ref, "#/components/schemas/"); ok {
			ref = sharedURL + "#/components/schemas/" + name
		}
		return ref, true
	case "required":
		return requiredOf(schema, v), v.Is(canon.Array)
	case "nullable", "discriminator", "example", "examples", "xml", "externalDocs", "exclusiveMinimum", "exclusiveMaximum", "default":
		return nil, false
	case "$schema":
		return v.Text(), v.Is(canon.String)
	}
	return literal(v), !strings.HasPrefix(key, "x-")
}

func (t translator) schemas(v *air.Value) []any {
	list := make([]any, 0, len(v.Elems()))
	for _, e := range v.Elems() {
		list = append(list, t.request(e))
	}
	return list
}

// requiredOf leaves out what is readOnly: a request need not carry it.
func requiredOf(schema, required *air.Value) []any {
	list := []any{}
	for _, name := range required.Elems() {
		if !schema.Get("properties").Get(name.Text()).Get("readOnly").True() {
			list = append(list, name.Text())
		}
	}
	return list
}

// bounds reads exclusiveMinimum and exclusiveMaximum in both their forms: a
// bound of its own, or a boolean beside minimum or maximum.
func bounds(out map[string]any, schema *air.Value) {
	for _, b := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		switch v := schema.Get(b[0]); {
		case v.Is(canon.Number):
			out[b[0]] = literal(v)
		case v.True() && schema.Get(b[1]).Is(canon.Number):
			out[b[0]] = literal(schema.Get(b[1]))
			delete(out, b[1])
		}
	}
}

// nullable lets null through beside what the schema allows.
func nullable(schema map[string]any) any {
	return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, schema}}
}
