package assert_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/assert"
	"github.com/anvil-sim/anvil/trace/output"
)

// A run is judged by rules in a test.
func ExampleSet() {
	const run = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","tool":"tickets_create","operationId":"tickets.create","request":{"method":"POST","path":"/tickets"},"status":201,"response":{"id":"T-1"}}
{"schema":"anvil.simulator.trace/v1","seq":2,"requestId":"r2","tool":"tickets_get","operationId":"tickets.get","request":{"method":"GET","path":"/tickets/T-2"},"status":404,"response":null}
`
	const rules = `schema: anvil.trace.rules/v1
rules:
  - {count: tickets.create, exactly: 1}
  - {each: tickets.create, followed_by: tickets.get, same: id}
  - {none: {status: 5xx}}
`
	set, err := assert.New(assert.Facts{})
	if err != nil {
		log.Fatal(err)
	}
	if err := set.Read("rules.yaml", []byte(rules)); err != nil {
		log.Fatal(err)
	}
	res, err := set.Run(context.Background(), trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, "last")
	if err != nil {
		log.Fatal(err)
	}
	if err := output.WriteText(os.Stdout, res, false); err != nil {
		log.Fatal(err)
	}
	fmt.Println("failed:", res.Failed())
	// Output:
	// run: run.jsonl: 2 calls
	// rules: rules.yaml
	// ok   count of tickets.create is exactly 1 (rules.yaml:3): 1 call(s)
	// FAIL each tickets.create is followed by tickets.get (rules.yaml:4)
	//      run.jsonl:1: call 1: tickets_create, POST /tickets -> 201: no call that matches tickets.get follows for "T-1"
	// ok   none status 5xx (rules.yaml:5): 0 call(s) looked at
	// failed: 1 of 3 rule(s) over 2 call(s)
	// failed: true
}
