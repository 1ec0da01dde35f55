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

// request turns a schema as a contract has it into JSON Schema as a request is
// checked by it.
func request(schema *air.Value) any {
	switch schema.Kind() {
	case canon.Object:
		return object(schema)
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

func object(schema *air.Value) any {
	out := make(map[string]any, len(schema.Members()))
	for _, m := range schema.Members() {
		if v, ok := keyword(schema, m.Key, m.Value); ok {
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
func keyword(schema *air.Value, key string, v *air.Value) (any, bool) {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		obj := map[string]any{}
		for _, m := range v.Members() {
			obj[m.Key] = request(m.Value)
		}
		return obj, true
	case "allOf", "anyOf", "oneOf", "prefixItems":
		if branches, ok := discriminated(schema, key, v); ok {
			return branches, true
		}
		return schemas(v), true
	case "items", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames",
		"additionalProperties", "unevaluatedItems", "unevaluatedProperties":
		if v.Is(canon.Array) {
			return schemas(v), true
		}
		return request(v), true
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

func schemas(v *air.Value) []any {
	list := make([]any, 0, len(v.Elems()))
	for _, e := range v.Elems() {
		list = append(list, request(e))
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

// discriminated picks the branch of a choice that the discriminator names: one
// condition a branch, so that a fault inside it is named. A choice whose
// branches are not all references, or that names none, stays as it is.
func discriminated(schema *air.Value, key string, choice *air.Value) (any, bool) {
	property := schema.Get("discriminator").Get("propertyName").Text()
	if property == "" || key != "oneOf" && key != "anyOf" {
		return nil, false
	}
	names := map[string][]any{}
	for _, m := range schema.Get("discriminator").Get("mapping").Members() {
		ref := refName(m.Value.Text())
		names[ref] = append(names[ref], m.Key)
	}
	branches := []any{}
	for _, b := range choice.Elems() {
		ref := b.Get("$ref").Text()
		if ref == "" {
			return nil, false
		}
		values := names[refName(ref)]
		if values == nil {
			values = []any{refName(ref)}
		}
		branches = append(branches, map[string]any{
			"required":   []any{property},
			"properties": map[string]any{property: map[string]any{"enum": values}},
			"allOf":      []any{request(b)},
		})
	}
	return branches, true
}

func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
