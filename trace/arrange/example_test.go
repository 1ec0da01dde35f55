package arrange_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/arrange"
)

func ExampleMerge() {
	source := func(name, text string) arrange.Source {
		return arrange.Source{Name: name, Input: trace.Input{Name: name + ".jsonl", Reader: strings.NewReader(text)}}
	}
	const shop = `{"schema":"anvil.simulator.trace/v1","seq":1,"tool":"orders_list"}
{"schema":"anvil.simulator.trace/v1","seq":2,"tool":"orders_create"}
`
	const bank = `{"schema":"anvil.simulator.trace/v1","seq":1,"tool":"charges_create"}
`
	var merged bytes.Buffer
	if err := arrange.Merge(context.Background(), &merged, "all", source("shop", shop), source("bank", bank)); err != nil {
		log.Fatal(err)
	}
	fmt.Print(merged.String())
	// Output:
	// {"schema":"anvil.simulator.trace/v1","seq":1,"tool":"orders_list","source":{"name":"shop","seq":1}}
	// {"schema":"anvil.simulator.trace/v1","seq":2,"tool":"charges_create","source":{"name":"bank","seq":1}}
	// {"schema":"anvil.simulator.trace/v1","seq":3,"tool":"orders_create","source":{"name":"shop","seq":2}}
}
