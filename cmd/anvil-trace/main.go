// Command anvil-trace compares call traces, so that CI can gate on them, and shows
// them to people.
package main

import (
	"context"
	"os"

	"github.com/anvil-sim/anvil/internal/cli"
)

func main() { os.Exit(run()) }

// run leaves signals to the system: a read of a terminal could not be woken
// otherwise. A command that makes files removes half of one (removeOnSignal).
func run() int {
	streams := cli.System()
	return cli.Main(context.Background(), newRoot(streams), os.Args[1:], streams)
}
