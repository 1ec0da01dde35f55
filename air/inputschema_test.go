package air_test

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/google/go-cmp/cmp"
)

// TestInputSchema: the schema that is built when the contract has none.
func TestInputSchema(t *testing.T) {
	d, err := air.Load("testdata/digests/trace-digest-variants.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const limits = `{"type":"string","minLength":1,"maxLength":255,"pattern":"^[\\u0021-\\u007E]+$"}`
	const required = `"description":"A key that makes repeating this call safe: the same key and the same input give the first answer again."`
	const supported = `"description":"Optional. With the same key and the same input, the first answer is given again."`
	for id, want := range map[string]string{
		"digests.z.get": `{"id":{"type":"string","description":"the id","x-anvil-aliases":["identifier"],"x-anvil-wire-name":"id","examples":["Z1"]},` +
			`"query_text":{"type":"integer","x-anvil-wire-name":"q"}} ["id"]`,
		"digests.a.create": `{"name":{"type":"string","description":"the name","x-anvil-aliases":["title"],"x-anvil-wire-name":"Name"},` +
			`"confirm":{"type":"boolean","x-anvil-wire-name":"confirm"},"idempotency_key":` + limits[:len(limits)-1] + `,` + required + `},` +
			`"anvil_confirm":{"type":"boolean","const":true,"description":"because"}} ["name","idempotency_key","anvil_confirm"]`,
		"digests.b.create": `{"body":{"type":"object","properties":{"meta":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},` +
			`"description":"Body text","example":{"meta":{"x":1}}},` +
			`"idempotency_key":{"allOf":[{"type":"string","minLength":3},` + limits + `],` + supported + `}} ["body"]`,
		"digests.c.create": `{"idempotency_key":{"allOf":[{"type":"string","description":"req id","maxLength":64},` + limits + `],` + required + `}} []`,
		"digests.d.create": `{"body":{"type":"object","properties":{"x":{"type":"string"}},"description":"The request body."},` +
			`"idempotency_key":{"allOf":[{"type":"string","minLength":8,"description":"key"},` + limits + `],` + required + `},` +
			`"confirm":{"type":"boolean","const":true,"description":"Must be true: says that this change is wanted."}} ["idempotency_key","confirm"]`,
		"digests.a2.get": `{} []`,
	} {
		for _, o := range d.Operations {
			if o.ID != id {
				continue
			}
			s := o.InputSchema()
			got := s.Get("properties").String() + " " + s.Get("required").String()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", id, diff)
			}
			frame := s.With("properties", nil).With("required", nil).String()
			if id == "digests.z.get" && frame != `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"z_get",`+
				`"description":"Zed — naïve ✓","additionalProperties":false}` {
				t.Errorf("frame %s", frame)
			}
		}
	}
}

func TestInputSchemaDetails(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"its own", "{schema: {x: 1}}", `{"x":1}`},
		{"an empty description is none", "{params: [{name: a, in: query, description: ''}]}", `"properties":{"a":{"type":"string","x-anvil-wire-name":"a"}}`},
		{"the schema's description wins", "{params: [{name: a, in: query, description: p, schema: {description: s}}]}", `{"description":"s","x-anvil-wire-name":"a"}`},
		{"the schema's examples win", "{params: [{name: a, in: query, example: 1, schema: {examples: [2]}}]}", `{"examples":[2],"x-anvil-wire-name":"a"}`},
		{"a null example", "{params: [{name: a, in: query, example: ~, schema: {}}]}", `{"x-anvil-wire-name":"a","examples":[null]}`},
		{"the last of two on one key, in the first's place", "{params: [{name: aB, in: path, required: true}, {name: c, in: query}, {name: a-b, in: query}]}",
			`"properties":{"a_b":{"type":"string","x-anvil-wire-name":"a-b"},"c":{"type":"string","x-anvil-wire-name":"c"}},"required":["a_b"]`},
	} {
		o := operation(t, "input: {}", "input: "+tt.input)
		if got := o.InputSchema().String(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s in it", tt.name, got, tt.want)
		}
	}
}
