// Command anvil-sim serves an API contract over HTTP as if it were the API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/anvil-sim/anvil/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A second signal ends the program at once, unless the command has something
	// to end first.
	context.AfterFunc(ctx, stop)
	code := cli.Main(ctx, newRoot(cli.System()), os.Args[1:], cli.System())
	stop()
	os.Exit(code)
}
