package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/anvil-sim/anvil/trace"
)

func ExampleWriter() {
	w := trace.NewWriter(os.Stdout)
	tool := "tickets_get"
	err := w.Write(&trace.Entry{
		Seq: 1, RequestID: "r1", Transport: "http", Tool: &tool, Operation: &tool,
		Request:  json.RawMessage(`{"method":"GET","path":"/tickets/T-1"}`),
		Result:   json.RawMessage(`{"ok":true,"output":{"id":"T-1"}}`),
		Status:   200,
		Response: json.RawMessage(`{"id":"T-1"}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","transport":"http","tool":"tickets_get","operationId":"tickets_get","request":{"method":"GET","path":"/tickets/T-1"},"normalized":null,"provider":null,"result":{"ok":true,"output":{"id":"T-1"}},"status":200,"response":{"id":"T-1"}}
}

// Two traces are compared in a test; what changes with every run is left out and
// counted.
func ExampleDiff() {
	const golden = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","tool":"tickets_get","request":{"method":"GET","path":"/tickets/T-1"},"provider":{"result":{"id":"T-1","open":true},"meta":{"ms":3}}}
`
	const run = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","tool":"tickets_get","request":{"method":"GET","path":"/tickets/T-1"},"provider":{"result":{"id":"T-1","open":false},"meta":{"ms":5}}}
`
	report, err := trace.Diff(context.Background(),
		trace.Input{Name: "golden.jsonl", Reader: strings.NewReader(golden)}, // without a Reader, the file of that name
		trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)},
		&trace.DiffOptions{Ignore: []string{"/provider/meta/**"}})
	if err != nil {
		log.Fatal(err) // an input that is missing, empty or cut: no verdict
	}
	if err := report.WriteText(os.Stdout, false); err != nil {
		log.Fatal(err)
	}
	fmt.Println("equal:", report.Equal())
	// Output:
	// --- golden.jsonl (baseline): 1 call
	// +++ run.jsonl: 1 call
	// options: --align auto --run last --ignore '/provider/meta/**'
	// calls are paired by seq
	// first difference: call 1 changed: tickets_get, GET /tickets/T-1; stage: provider answer
	//
	// call 1 changed: tickets_get, GET /tickets/T-1 [provider answer]
	//   /provider/result/open
	//     - true
	//     + false
	//
	// ignored: 1 difference at /provider/meta/**
	// differ: 1 finding; calls: 1 changed, 0 the same
	// equal: false
}

// A check of one's own is shown every call of a run. Package assert makes checks
// from rules.
func ExampleAssert() {
	const run = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","tool":"tickets_get","status":404}
{"schema":"anvil.simulator.trace/v1","seq":2,"requestId":"r2","tool":"tickets_list","status":200}
`
	failed := &failures{}
	side, err := trace.Assert(context.Background(), trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, "last", failed)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(side)
	fmt.Println(strings.Join(failed.calls, "\n"))
	// Output:
	// run.jsonl: 2 calls
	// call 1: tickets_get -> 404
}

// failures collects the calls that failed.
type failures struct{ calls []string }

func (f *failures) Call(_ trace.Line, v *trace.View) error {
	if v.Status() >= "400" {
		f.calls = append(f.calls, v.Describe())
	}
	return nil
}

func (f *failures) End() error { return nil }

func ExampleSelector() {
	filter, err := (&trace.Selector{Status: []string{"4xx"}, Tool: []string{"tickets_*"}}).Compile()
	if err != nil {
		log.Fatal(err)
	}
	var v trace.View
	v.Reset([]byte(`{"seq":1,"tool":"tickets_get","status":404}`))
	fmt.Println(filter.Match(&v))
	// Output:
	// true <nil>
}
