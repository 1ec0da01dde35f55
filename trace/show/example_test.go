package show_test

import (
	"context"
	"log"
	"os"
	"strings"

	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/show"
)

func ExampleWrite() {
	const run = `{"schema":"anvil.simulator.trace/v1","seq":1,"tool":"tickets_get","request":{"method":"GET","path":"/tickets/T-1"},"result":{"ok":true},"status":200}
{"schema":"anvil.simulator.trace/v1","seq":2,"tool":"tickets_get","request":{"method":"GET","path":"/tickets/T-9"},"result":{"ok":false,"error":{"code":"not_found"}},"status":404}
`
	err := show.Write(context.Background(), os.Stdout, trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// run.jsonl: 2 calls
	//     1  200    GET /tickets/T-1                          tickets_get
	//     2  404    GET /tickets/T-9                          tickets_get               not_found
}
