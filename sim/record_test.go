package sim_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/sim"
)

// A compiled contract shows of a record what its responses declare, as they
// declare it; any other shows every field, as recorded.
func TestDeclaredRecords(t *testing.T) {
	const plain, uuid = `{"type":"object","properties":{"n":{"const":1}}}`, `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}`
	tests := []struct{ name, records, schema, get, put string }{
		{"recorded", "", plain, `{"n":1,"id":"ticket_\w{6}","status":"active"}`, `{"n":1,"id":"7","photo_urls":"a","status":"active"}`},
		{"undeclared", "declared", plain, `{"n":1}`, `{"n":1}`},
		{"typed", "declared", `{"type":"object","properties":{"id":{"type":"integer"},"status":{"enum":["open"]},"photoUrls":{"type":"string","format":"date"}}}`,
			`{"id":\d{1,9},"status":"open","photoUrls":"2026-01-01"}`, `{"id":7,"status":"open","photoUrls":"a"}`},
		{"uuid", "declared", `{"type":"object","properties":{"id":{"type":"string","format":"uuid"}}}`, `{"id":"` + uuid + `"}`, `{"id":"` + uuid + `"}`},
		{"allOf", "declared", `{"allOf":[{"type":"object","properties":{"id":{"type":"string"}}},{"type":"object","properties":{"n":{"const":1}}}]}`,
			`{"id":"ticket_\w{6}","n":1}`, `{"id":"7","n":1}`},
		{"choice", "declared", `{"oneOf":[{"type":"object","properties":{"id":{"type":"number","minimum":3}}}]}`, `{"id":\d{1,9}}`, `{"id":7}`},
		{"map", "declared", `{"type":"object","additionalProperties":{"const":5}}`, `{"key":5}`, `{"key":5}`},
		{"free", "declared", `{"type":"object"}`, `{"id":"ticket_\w{6}","status":"active"}`, `{"id":"7","photo_urls":"a","status":"active"}`},
		{"text", "declared", `{"type":"string","const":"tok"}`, `"tok"`, `"tok"`},
		{"closed", "declared", `{"type":"object","additionalProperties":false}`, `{}`, `{}`},
	}
	for _, tt := range tests {
		s := recordSim(t, tt.records, tt.schema)
		for _, c := range []struct{ tool, input, want string }{{"get", `{}`, tt.get}, {"put", `{"id":"7","photo_urls":"a"}`, tt.put}} {
			got, err := s.Invoke(t.Context(), "desk_"+c.tool, json.RawMessage(c.input), sim.CallContext{})
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile("^" + c.want + "$").Match(got.Output) {
				t.Errorf("%s: %s: got %s, want %s", tt.name, c.tool, got.Output, c.want)
			}
		}
	}
}

// An id that was shown as a number names its record.
func TestShownIDs(t *testing.T) {
	s := recordSim(t, "declared", `{"type":"object","properties":{"id":{"type":"integer"},"status":{"type":"string"}}}`)
	first, err := s.Invoke(t.Context(), "desk_get", json.RawMessage(`{}`), sim.CallContext{})
	if err != nil {
		t.Fatal(err)
	}
	var shown struct{ ID int }
	if err := json.Unmarshal(first.Output, &shown); err != nil {
		t.Fatal(err)
	}
	input, _ := json.Marshal(map[string]any{"id": shown.ID})
	gone, err := s.Invoke(t.Context(), "desk_drop", json.RawMessage(input), sim.CallContext{})
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Invoke(t.Context(), "desk_get", json.RawMessage(`{}`), sim.CallContext{})
	if err != nil {
		t.Fatal(err)
	}
	if string(gone.Output) != string(after.Output) || string(after.Output) == string(first.Output) {
		t.Errorf("the record is %s, answered as %s when it was dropped, then %s", first.Output, gone.Output, after.Output)
	}
}

// A record is found by what the end of a path names: by its id, however it is
// shown, or by the field of that name. What names none answers as recorded.
func TestNamedRecords(t *testing.T) {
	const typed = `{"type":"object","properties":{"id":{"type":"integer"},"uuid":{"type":"string"},"n":{"type":"integer"}}}`
	steps := []struct{ tool, input, want string }{
		{"make", `{"id":77,"n":1}`, `{"id":77,"uuid":"\w+","n":1}`},
		{"one", `{"pet_id":"77"}`, `{"id":77,"uuid":"\w+","n":1}`},
		{"change", `{"pet_id":77,"n":2}`, `{"id":77,"uuid":"\w+","n":2}`},
		{"one", `{"pet_id":77}`, `{"id":77,"uuid":"\w+","n":2}`},
		{"make", `{"uuid":"u-1","n":3}`, `{"id":\d{1,9},"uuid":"u-1","n":3}`},
		{"by_uuid", `{"uuid":"u-1"}`, `{"id":\d{1,9},"uuid":"u-1","n":3}`},
		{"make", `{"uuid":"u-1","n":4}`, `{"id":\d{1,9},"uuid":"u-1","n":4}`}, // a path that names nothing makes another
		{"by_uuid", `{"uuid":"u-1"}`, `{"id":\d{1,9},"uuid":"u-1","n":4}`},
		{"drop", `{"pet_id":77}`, `{"id":77,"uuid":"\w+","n":2}`},
		{"one", `{"pet_id":404}`, `{"id":\d{1,9},"uuid":"\w{8}","n":\d+}`},
	}
	s := namedSim(t, "declared", typed)
	for _, c := range steps {
		got, err := s.Invoke(t.Context(), "desk_"+c.tool, json.RawMessage(c.input), sim.CallContext{})
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile("^" + c.want + "$").Match(got.Output) {
			t.Errorf("%s %s: got %s, want %s", c.tool, c.input, got.Output, c.want)
		}
	}
	recorded := namedSim(t, "", typed)
	for _, c := range []struct{ tool, input, want string }{
		{"make", `{"id":"77"}`, `"id":"77"`}, {"one", `{"pet_id":"77"}`, `"id":"ticket_\w{6}"`}, {"drop", `{"pet_id":"77"}`, `"id":"ticket_\w{6}"`},
	} {
		got, err := recorded.Invoke(t.Context(), "desk_"+c.tool, json.RawMessage(c.input), sim.CallContext{})
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(c.want).Match(got.Output) {
			t.Errorf("recorded: %s: got %s, want %s", c.tool, got.Output, c.want)
		}
	}
}

func namedSim(t *testing.T, records, schema string) *sim.Simulator {
	t.Helper()
	out := "  output: {schema: " + schema + "}"
	pet := "  input: {params: [{name: petId, agentName: pet_id, in: path}]}"
	return parsedSim(t, records, operation("make", "post", "/pets", "mutation", "create", out)+
		operation("one", "get", "/pets/{petId}", "read", "get", pet, out)+
		operation("change", "put", "/pets/{petId}", "mutation", "replace", pet, out)+
		operation("drop", "delete", "/pets/{petId}", "mutation", "delete", pet, out)+
		operation("by_uuid", "get", "/pets/uuid/{uuid}", "read", "get", "  input: {params: [{name: uuid, in: path}]}", out))
}

func recordSim(t *testing.T, records, schema string) *sim.Simulator {
	t.Helper()
	out := "  output: {schema: " + schema + "}"
	return parsedSim(t, records, operation("get", "get", "/thing", "read", "get", out)+
		operation("put", "put", "/thing", "mutation", "update", "  input: {params: [{name: id, in: query}, {name: photo_urls, in: query}]}", out)+
		operation("drop", "delete", "/thing", "mutation", "delete", "  input: {params: [{name: id, in: query}]}", out))
}

func parsedSim(t *testing.T, records, operations string) *sim.Simulator {
	t.Helper()
	doc, err := air.Parse("test", []byte("service: {id: desk, version: '1', source: {kind: openapi}, records: '"+records+"'}\noperations:\n"+operations))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
