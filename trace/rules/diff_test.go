package rules

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/trace"
)

const head = "schema: " + DiffSchema + "\n"

func TestReadDiff(t *testing.T) {
	o := trace.DiffOptions{Ignore: []string{"/seq"}}
	err := ReadDiff("r.yaml", []byte(head+"ignore: [{path: /a, reason: x}]\nonly: [{path: /b, reason: y}]\ntolerance: [{amount: 5%, reason: z}]\n"+
		"rename: [{class: ids, reason: w}]\nalign: call\nunordered: true\n"), &o)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.String(); got != "--align call --run  --unordered --ignore /seq --ignore /a --only /b --tolerance 5% --rename ids" {
		t.Errorf("got %s", got)
	}
	if o.Reasons["/a"] != "x" || o.Reasons["ids"] != "w" || o.Reasons[""] != "z" {
		t.Errorf("reasons %v", o.Reasons)
	}
}

func TestReadDiffErrors(t *testing.T) {
	tests := []struct{ file, want string }{
		{"", "r.yaml: the rule file is empty"},
		{"a: 1\n---\nb: 1", "line 1, column 1: holds more than one document"},
		{"ignore: []", "has no schema, want schema: " + DiffSchema},
		{"schema: x", `line 1, column 9: found the schema "x"`},
		{head + "ingore: []", `line 2, column 1: unknown key "ingore"`},
		{head + "ignore: []\nignore: []", `line 3, column 1: the key "ignore" stands twice`},
		{head + "ignore: {path: /x}", "line 2, column 9: found a mapping, want a list"},
		{head + "ignore: [/x]", `found "/x", want a mapping`},
		{head + "ignore: [{path: /x}]", "has no reason"},
		{head + "ignore: [{path: /x, reason: ' '}]", "the reason is empty"},
		{head + "ignore: [{reason: x}]", "has no path"},
		{head + "ignore: [{path: x, reason: x}]", `found "x", want a JSON Pointer`},
		{head + "tolerance: [{path: /x, reason: x}]", "has no amount"},
		{head + "tolerance: [{path: /x, reason: x, amount: much}]", `found "much"`},
		{head + "rename: [{reason: x}]", "want either path or class"},
		{head + "align: best", `found "best", want auto, seq or call`},
		{head + "unordered: 1", `found "1", want true or false`},
		{"\t", "found character that cannot start any token"},
		{"a: &x {b: *x}", "is larger than"},
	}
	for _, tt := range tests {
		err := ReadDiff("r.yaml", []byte(tt.file), &trace.DiffOptions{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q\n got %v\nwant %s", tt.file, err, tt.want)
		}
	}
}

// FuzzReadDiff: nothing makes the reader panic, and what it reads can be used.
func FuzzReadDiff(f *testing.F) {
	f.Add(head + "ignore: [{path: /a/**, reason: x}]")
	f.Add(head + "tolerance: [{amount: 5%, reason: z}]\nrename: [{path: /x, reason: y}]")
	f.Add("a: &x [*x]")
	f.Fuzz(func(t *testing.T, text string) {
		var o trace.DiffOptions
		if ReadDiff("r", []byte(text), &o) != nil {
			return
		}
		const line = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1"}`
		_, _ = trace.Diff(t.Context(), trace.Input{Name: "a", Reader: strings.NewReader(line)}, trace.Input{Name: "b", Reader: strings.NewReader(line)}, &o)
	})
}
