// Command anvil-trace compares call traces, so that CI can gate on them, and shows
// them to people.
package main

import (
	"context"
	"os"

	"github.com/anvil-sim/anvil/internal/cli"
)

func main() { os.Exit(run()) }

// run leaves signals to the system: nothing that a command here makes outlives
// its process, and a read of a terminal could not be woken otherwise.
func run() int {
	streams := cli.System()
	return cli.Main(context.Background(), newRoot(streams), os.Args[1:], streams)
}
