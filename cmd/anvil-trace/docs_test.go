package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/assert"
	"github.com/anvil-sim/anvil/trace/rules"
)

// block is the first fenced block of a language in a document that holds mark.
func block(t interface{ Fatalf(string, ...any) }, doc, lang, mark string) string {
	data, err := os.ReadFile(doc)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i, part := range strings.Split(string(data), "\n```") {
		if text, ok := strings.CutPrefix(part, lang+"\n"); ok && i%2 == 1 && strings.Contains(text, mark) {
			return text + "\n"
		}
	}
	t.Fatalf("%s has no %s block with %q", doc, lang, mark)
	return ""
}

func compileSchema(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate judges a YAML text by a schema.
func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	n, err := rules.Parse("doc", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.AppendJSON(nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// The examples of the guides are read by the programs and by their schemas.
func TestDocumentedRules(t *testing.T) {
	text := block(t, "../../docs/trace-rules.md", "yaml", "schema: "+assert.Schema)
	set, err := assert.New(assert.Facts{Operations: []string{"tickets.list", "tickets.get", "tickets.create", "tickets.update"}, State: "3b1f", Changed: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Read("doc", []byte(text)); err != nil {
		t.Error(err)
	}
	s := compileSchema(t, "../../docs/trace-rules.schema.json")
	if err := validate(t, s, text); err != nil {
		t.Error(err)
	}
	diff := block(t, "../../docs/trace-diff.md", "yaml", "schema: "+rules.DiffSchema)
	var o trace.DiffOptions
	if err := rules.ReadDiff("doc", []byte(diff), &o); err != nil || len(o.Rename) != 2 || len(o.Reasons) != 5 {
		t.Errorf("%+v (%v)", o, err)
	}
	ds := compileSchema(t, "../../docs/trace-diff-rules.schema.json")
	if err := validate(t, ds, diff); err != nil {
		t.Error(err)
	}
	// What the reader refuses, the schema refuses too.
	for _, bad := range []string{"{cuont: any}", "{count: any}", "{count: {tol: x}, exactly: 1}", "{every: any}", "{never: any}", "{each: any}",
		"{every: any, have: {response: {equal: 1}}}", "{every: any, have: {/r: {}}}", "{sequence: [any]}", "{no_errors: false}", "{budget: {}}",
		"{count: any, exactly: -1}", "{count: any, exactly: 1, gaps: true}", "{coverage: contract, at_least: 80}"} {
		text := "schema: " + assert.Schema + "\nrules:\n  - " + bad + "\n"
		set, err := assert.New(assert.Facts{Operations: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		if set.Read("doc", []byte(text)) == nil || validate(t, s, text) == nil {
			t.Errorf("%s: taken by the reader or by the schema", bad)
		}
	}
	for _, bad := range []string{"ignore: [{path: /x}]", "ignore: [{path: x, reason: y}]", "rename: [{reason: x}]", "rename: [{class: id, reason: x, path: /y}]", "tolerance: [{path: /x, reason: y}]", "x: 1"} {
		text := "schema: " + rules.DiffSchema + "\n" + bad + "\n"
		if rules.ReadDiff("doc", []byte(text), &trace.DiffOptions{}) == nil || validate(t, ds, text) == nil {
			t.Errorf("%s: taken by the reader or by the schema", bad)
		}
	}
}

// docScript writes a shell script of a guide to a file: doc generic FILE, or doc
// github FILE, which joins the steps of the workflow that run anvil-trace.
func docScript(ts *testscript.TestScript, _ bool, args []string) {
	const guide = "docs/ci.md"
	root := ts.Getenv("REPO") + "/"
	text := ""
	switch args[0] {
	case "generic":
		text = block(ts, root+guide, "sh", "#!/bin/sh")
	case "github":
		var flow struct {
			Jobs map[string]struct {
				Steps []struct{ Name, Uses, Run string }
			}
		}
		ts.Check(yaml.Unmarshal([]byte(block(ts, root+guide, "yaml", "jobs:")), &flow))
		text = "code=0\n"
		for _, step := range flow.Jobs["gate"].Steps {
			if strings.HasPrefix(step.Run, "anvil-trace") || strings.HasPrefix(step.Run, "cat") {
				text += "( " + strings.TrimSpace(step.Run) + "\n) || code=$?\n"
			}
		}
		text += "exit $code\n"
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o755))
}
