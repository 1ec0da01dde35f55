package redact_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/redact"
)

func ExampleCopy() {
	const run = `{"schema":"anvil.simulator.trace/v1","seq":1,"request":{"headers":{"x-api-key":"k-123"},"body":{"email":"ada@example.com"}},"response":{"email":"ada@example.com","id":"U-1"}}
`
	rules := redact.Rules{Paths: []string{"/**/email"}, Headers: []string{"X-Api-Key"}}
	counts, err := redact.Copy(context.Background(), os.Stdout, trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, "all", rules)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counts)
	// Output:
	// {"schema":"anvil.simulator.trace/v1","seq":1,"request":{"headers":{"x-api-key":"[redacted 1]"},"body":{"email":"[redacted 2]"}},"response":{"email":"[redacted 2]","id":"U-1"}}
	// [{/**/email 2} {header X-Api-Key 1}]
}
