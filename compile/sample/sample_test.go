package sample_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/synth"
	"github.com/anvil-sim/anvil/compile/sample"
	"github.com/anvil-sim/anvil/internal/canon"
)

func parse(t testing.TB, text string) *canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text), canon.Lenient)
	if err != nil {
		t.Fatalf("parse %.200s: %v", text, err)
	}
	return v
}

// What is drawn from a readied schema fits the schema as it was declared.
func TestSchema(t *testing.T) {
	named := parse(t, `{
		"Kind": {"type": "string", "enum": ["cat", "dog"]},
		"Code": {"type": "string"},
		"Pet": {"type": "object", "properties": {"kind": {"type": "string"}, "name": {"type": "string", "example": "Rex"}}},
		"Dog": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"bark": {"type": "string", "default": "wuff"}}}]},
		"Any": {"oneOf": [{"$ref": "#/components/schemas/Dog"}, {"$ref": "#/components/schemas/Pet"}], "discriminator": {"propertyName": "kind", "mapping": {"a dog": "#/components/schemas/Dog"}}},
		"Base": {"type": "object", "properties": {"as": {"type": "string"}}, "discriminator": "as"},
		"Heir": {"allOf": [{"$ref": "#/components/schemas/Base"}]},
		"Grand": {"allOf": [{"$ref": "#/components/schemas/Heir"}]},
		"Alone": {"type": "object", "properties": {"as": {"type": "string"}}, "discriminator": {"propertyName": "as"}},
		"Shown": {"type": "object", "properties": {"as": {"type": "string", "example": "this"}}, "discriminator": {"propertyName": "as"}},
		"Fixed": {"type": "object", "properties": {"as": {"type": "string", "enum": ["only"]}}, "discriminator": {"propertyName": "as"}},
		"Mapped": {"type": "object", "properties": {"as": {"type": "string"}}, "discriminator": {"propertyName": "as", "mapping": {"m": "#/components/schemas/Mapped"}}},
		"Code as": {"type": "object", "properties": {"as": {"$ref": "#/components/schemas/Code"}}, "discriminator": {"propertyName": "as"}}
	}`)
	tests := []struct{ in, want string }{
		{`{"type": "string", "default": "blue"}`, `"blue"`},
		{`{"type": "integer", "default": "7"}`, `7`},
		{`{"type": "integer", "default": "seven", "minimum": 3, "maximum": 3}`, `3`},
		{`{"type": "string", "pattern": "^[A-Z]{3}-\\d{2,4}$"}`, `"DKR-18"`},
		{`{"type": "string", "pattern": "^(?=a).*$", "example": "a look-around"}`, `"a look-around"`},
		{`{"type": "string", "pattern": "^a+$", "minLength": 5}`, `"aaaaa"`},
		{`{"type": "string", "format": "date", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"}`, `"2026-01-01"`},
		{`{"type": "string", "format": "byte"}`, `"ZXhhbXBsZQ=="`},
		{`{"format": "date-time"}`, `"2026-01-01T00:00:00Z"`},
		{`{"type": ["string", "null"], "maxLength": 3}`, `"exa"`},
		{`{"type": ["null", "integer", "string"]}`, `1`},
		{`{"type": "number", "minimum": 0, "maximum": 1}`, `1`},
		{`{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}`, `0.5`},
		{`{"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 1}`, `1`},
		{`{"type": "integer", "multipleOf": 25, "minimum": 30}`, `50`},
		{`{"type": "integer", "maximum": -5}`, `-5`},
		{`{"type": "integer", "example": "12"}`, `12`},
		{`{"type": "string", "example": 12.50}`, `"12.50"`},
		{`{"type": "boolean", "example": "true"}`, `true`},
		{`{"type": "object", "example": "{\"a\": [1]}"}`, `{"a":[1]}`},
		{`{"type": "integer", "example": "none", "enum": [4]}`, `4`},
		{`{"type": "array"}`, `[]`},
		{`{"items": {"type": "string", "example": "x"}}`, `["x"]`},
		{`{"type": "array", "prefixItems": [{"type": "integer"}, {"const": "b"}]}`, `[1,"b"]`},
		{`{"allOf": [{"$ref": "#/components/schemas/Kind"}], "nullable": true}`, `"dog"`},
		{`{"allOf": [{"$ref": "#/components/schemas/Code"}, {"maxLength": 2}]}`, `"ex"`},
		{`{"allOf": [{"properties": {"a": {"const": 1}}}], "properties": {"b": {"const": 2}}}`, `{"a":1,"b":2}`},
		{`{"anyOf": [{"type": "null"}, {"const": 3}]}`, `3`},
		{`{"oneOf": [{"$ref": "#/components/schemas/Dog"}]}`, `{"kind":"a dog","name":"Rex","bark":"wuff"}`},
		{`{"$ref": "#/components/schemas/Base"}`, `{"as":"Base"}`},
		{`{"$ref": "#/components/schemas/Heir"}`, `{"as":"Heir"}`},
		{`{"$ref": "#/components/schemas/Grand"}`, `{"as":"Grand"}`},
		{`{"$ref": "#/components/schemas/Alone"}`, `{"as":"Alone"}`},
		{`{"$ref": "#/components/schemas/Shown"}`, `{"as":"this"}`},
		{`{"$ref": "#/components/schemas/Fixed"}`, `{"as":"only"}`},
		{`{"$ref": "#/components/schemas/Mapped"}`, `{"as":"m"}`},
		{`{"$ref": "#/components/schemas/Code as"}`, `{"as":"Code as"}`},
	}
	for _, tt := range tests {
		m := sample.New(named.Members())
		if got := body(t, m, m.Root(parse(t, tt.in))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

// body is drawn as a simulator draws it: from the contract.
func body(t testing.TB, m *sample.Maker, root *canon.Value) string {
	t.Helper()
	op := `{"id": "x.a", "canonicalName": "a", "displayName": "A", "sourceRef": {"kind": "openapi", "path": "/a", "method": "get"},
		"effect": {"kind": "read"}, "input": {}, "idempotency": {"mode": "natural"}, "retries": {"mode": "safe"}, "confirmation": {},
		"auth": {"type": "none"}, "cli": {"command": "a"}, "mcp": {"toolName": "a"}, "skill": {}}`
	tree := parse(t, `{"service": {"id": "x", "version": "1", "source": {"kind": "openapi"}}}`)
	o := parse(t, op).With("output", canon.NewObject(canon.Member{Key: "schema", Value: root}))
	tree = tree.With("operations", canon.NewArray(o)).With("schemas", canon.NewObject(m.Named(nil)...))
	doc, err := air.FromTree("x", tree)
	if err != nil {
		t.Fatal(err)
	}
	v := synth.Body(doc.Response(doc.Operations[0]), 1, "x.a:1")
	return v.String()
}

// A body is as deep as its schema, stops at what stands in itself, and has no
// empty object where a plain value belongs.
func TestDepth(t *testing.T) {
	named := parse(t, `{
		"A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}, "id": {"const": "a"}}},
		"B": {"type": "object", "properties": {"cs": {"type": "array", "items": {"$ref": "#/components/schemas/C"}}, "a": {"$ref": "#/components/schemas/A"}}},
		"C": {"type": "object", "properties": {"d": {"$ref": "#/components/schemas/D"}, "id": {"const": "c"}}},
		"D": {"type": "object", "properties": {"id": {"const": "d"}}},
		"L1": {"type": "object", "properties": {"l": {"$ref": "#/components/schemas/L2"}, "n": {"const": 1}}},
		"L2": {"type": "object", "properties": {"l": {"$ref": "#/components/schemas/L3"}, "n": {"const": 2}}},
		"L3": {"type": "object", "properties": {"l": {"$ref": "#/components/schemas/L4"}, "n": {"const": 3}}},
		"L4": {"type": "object", "properties": {"l": {"properties": {"l": {"properties": {"l": {"properties": {"l": {"properties": {"n": {"type": "string"}}}}}}}}}}}
	}`)
	tests := []struct{ in, want string }{
		{`{"properties": {"a": {"$ref": "#/components/schemas/A"}}}`, `{"a":{"b":{"cs":[{"d":{"id":"d"},"id":"c"}],"a":{}},"id":"a"}}`},
		{`{"type": "array", "items": {"properties": {"c": {"$ref": "#/components/schemas/C"}}}}`, `[{"c":{"d":{"id":"d"},"id":"c"}}]`},
		{`{"properties": {"l": {"$ref": "#/components/schemas/L1"}}}`, `{"l":{"l":{"l":{"l":{},"n":3},"n":2},"n":1}}`},
	}
	for _, tt := range tests {
		m := sample.New(named.Members())
		if got := body(t, m, m.Root(parse(t, tt.in))); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// A schema that stands in itself is drawn once inside, and ends as it may.
func TestSelf(t *testing.T) {
	named := parse(t, `{
		"Tree": {"type": "object", "required": ["id", "next"], "additionalProperties": false, "properties": {"id": {"const": 1},
			"kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}, "up": {"$ref": "#/components/schemas/Tree"},
			"next": {"allOf": [{"$ref": "#/components/schemas/Tree"}], "nullable": true},
			"by": {"type": "object", "properties": {"tree": {"$ref": "#/components/schemas/Tree"}, "n": {"const": 2}}}}},
		"Must": {"type": "object", "required": ["m"], "properties": {"m": {"$ref": "#/components/schemas/Must"}, "n": {"const": 1}}},
		"Map": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Map"}},
		"List": {"type": "array", "items": {"$ref": "#/components/schemas/List"}},
		"Part": {"allOf": [{"type": "object", "properties": {"n": {"const": 1}, "part": {"$ref": "#/components/schemas/Part"}}}]}
	}`)
	const end = `{"id":1,"kids":[],"next":null,"by":{"n":2}}`
	for name, want := range map[string]string{
		"Tree": `{"id":1,"kids":[` + end + `],"up":` + end + `,"next":` + end + `,"by":{"tree":` + end + `,"n":2}}`,
		"Must": `{"m":{"m":{},"n":1},"n":1}`,
		"Map":  `{"key":{}}`,
		"List": `[[]]`,
		"Part": `{"n":1,"part":{"n":1}}`,
	} {
		m := sample.New(named.Members())
		for _, in := range []string{`{"$ref": "#/components/schemas/` + name + `"}`, `{"properties": {"x": {"$ref": "#/components/schemas/` + name + `"}}}`} {
			got := body(t, m, m.Root(parse(t, in)))
			if got != want && got != `{"x":`+want+`}` {
				t.Errorf("%s:\n got %s\nwant %s", in, got, want)
			}
		}
	}
}

// A body stays small however many schemas name one another.
func TestSize(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		name, next := fmt.Sprint("S", i), fmt.Sprint("S", i+1)
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"` + name + `":{"properties":{`)
		for j := range 10 {
			if j > 0 {
				b.WriteString(",")
			}
			b.WriteString(`"p` + string(rune('0'+j)) + `":{"$ref":"#/components/schemas/` + next + `"}`)
		}
		b.WriteString("}}")
	}
	m := sample.New(parse(t, "{"+b.String()+"}").Members())
	got := body(t, m, m.Root(parse(t, `{"properties":{"a":{"$ref":"#/components/schemas/S0"}}}`)))
	if len(got) > 20000 || !strings.Contains(got, `{"p0":{"p0":`) {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
}

// Whatever a pattern is: a text that it matches, of the length asked for, or
// none.
func FuzzMatch(f *testing.F) {
	for _, p := range []string{`^[A-Z]\d+$`, `^(foo|bar)*$`, `[^a-z]{2,}`, `^\S+@\S+\.\w{2,3}$`, `(?i)abc`, `^$`, `a{1000}`, `((a*)*)*`, `\bword\b`, `[[:alpha:]]?x`, `\x{10FFFF}`, `[^\x00-\x{10FFFF}]`} {
		f.Add(p, uint8(0), uint8(20))
		f.Add(p, uint8(5), uint8(5))
	}
	f.Fuzz(func(t *testing.T, pattern string, least, most uint8) {
		text, ok := sample.Match(pattern, int(least), int(most))
		if !ok {
			if text != "" {
				t.Errorf("%q: a text that does not count: %q", pattern, text)
			}
			return
		}
		n := len([]rune(text))
		if n < int(least) || n > int(most) || !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%q, %d to %d: got %q", pattern, least, most, text)
		}
	})
}
