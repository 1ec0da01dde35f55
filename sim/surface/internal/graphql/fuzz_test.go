package graphql

import (
	"bytes"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
)

// FuzzDocument reads any document both ways, and runs it when it is valid: no
// panic, a validated document always runs, and what comes out is JSON in
// canonical spelling.
func FuzzDocument(f *testing.F) {
	for _, v := range validations {
		f.Add(v.document, "", `{"x":1}`, `{"id":"1","any":[{"__typename":"A","a":1},2,null]}`)
	}
	f.Add(`query Q($o: String! = "d", $b: Boolean!) { repo(owner: $o) { ...F any @include(if: $b) { a { b } } } } fragment F on Repo { __typename id }`,
		"Q", `{"b":true}`, `{"id":1.10,"any":{"a":{"b":[]}}}`)
	f.Add("{ repo(owner: \"\"\"\n  block\n \"\"\") { \u00e9 } }", "", `null`, `[1]`)
	f.Add(`{ repo(owner: "\u{1F600}\ud83d\ude00\ud800") { id } }`, "", ``, `"\ud800"`)
	if len(validations) == 0 {
		f.Fatal("no seeds")
	}
	schema := testSchema(f)
	f.Fuzz(func(t *testing.T, document, operation, variables, answer string) {
		for _, r := range Parse(document).RootFields(operation) {
			if r.Name == "" || r.Kind == "" {
				t.Errorf("root field %+v", r)
			}
		}
		KindOf(document)
		d := Parse(document)
		if d.ast != nil {
			d.errors = schema.validate(d)
		}
		vars, err := canon.AppendCompact(nil, []byte(variables), canon.Lenient)
		if err != nil {
			vars = nil
		}
		val, err := canon.AppendCompact(nil, []byte(answer), canon.Lenient)
		if err != nil {
			val = []byte("null")
		}
		req, errs := schema.Prepare(d, operation, vars)
		checkErrors(t, errs)
		if len(errs) > 0 {
			return
		}
		for _, field := range req.Fields {
			if field.Binding < 0 {
				canonical(t, field.Typename())
				continue
			}
			canonical(t, field.Variables)
			out, errs := field.Select(nil, val)
			canonical(t, out)
			checkErrors(t, errs)
		}
	})
}

func checkErrors(t *testing.T, errs []*Error) {
	for _, e := range errs {
		canonical(t, e.Append(nil))
		if e.Code == "" || e.Message == "" {
			t.Errorf("error %+v", e)
		}
	}
}

func canonical(t *testing.T, got []byte) {
	t.Helper()
	again, err := canon.AppendCompact(nil, got, canon.Strict)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("%q is not canonical JSON: %v", got, err)
	}
}
