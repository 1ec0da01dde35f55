package htmlreport_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/htmlreport"
)

func ExampleWrite() {
	input := func(name, state string) trace.Input {
		return trace.Input{Name: name, Reader: strings.NewReader(
			`{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","tool":"tickets_get","request":{"method":"GET","path":"/tickets/T-1"},"response":{"state":"` + state + `"}}` + "\n")}
	}
	golden := input("golden.jsonl", "open")
	var page bytes.Buffer
	found, err := htmlreport.Write(context.Background(), &page, input("run.jsonl", "closed"), &golden, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Findings, "difference; the page begins with", strings.SplitN(page.String(), "\n", 2)[0])
	// Output: 1 difference; the page begins with <!doctype html>
}
