package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/sim/surface"
)

// commandGrace is how long a command may take to end after SIGTERM.
const commandGrace = 5 * time.Second

// emptyCommand refuses a -- with nothing behind it: the program would run until
// a signal where its caller waits for a command to end.
func emptyCommand(cmd *cobra.Command, args []string) error {
	n := cmd.ArgsLenAtDash()
	if n < 0 || len(args) > n && args[n] != "" {
		return nil
	}
	return cli.WithHint(fmt.Errorf("%s -- has no command behind the --", cmd.Name()),
		"a variable that is not set or empty? to run without a command, leave out the --")
}

// serveCommand serves while a command runs with ANVIL_BASE_URL set. The command
// owns stdout, so the URL goes to stderr. The exit status is the command's, 1
// when the provider died.
func (o *serveOptions) serveCommand(ctx context.Context, stop func(), server *surface.Server, st *state, command []string) error {
	o.say("serving %s while %s runs", server.URL(), command[0])
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	var more []string
	if o.trust != "" {
		more = []string{"ANVIL_CA_CERT=" + o.trust, "NODE_EXTRA_CA_CERTS=" + o.trust}
	}
	status := runCommand(ctx, o.streams, server.URL(), command, more...)
	died := st.death()
	stop()
	if err := <-served; err != nil {
		o.report(fmt.Errorf("serving failed: %w", err))
	}
	if died != nil {
		return died
	}
	return status
}

// runCommand runs a command with ANVIL_BASE_URL, and more variables, set. The
// error carries the command's exit status; it is nil for 0.
func runCommand(ctx context.Context, s cli.Streams, url string, command []string, more ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), "ANVIL_BASE_URL="+url), more...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	// On a terminal the command is in the foreground group and has had the
	// signal that ends this program; a TERM more does no harm.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = commandGrace
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return cli.Exit(exitStatus(exit), nil)
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("cannot run %q: no such program", command[0])
	}
	return fmt.Errorf("cannot run %q: %w", command[0], err)
}

// exitStatus is a status as a shell reports it: 128 and the signal's number for
// a command that a signal ended.
func exitStatus(e *exec.ExitError) int {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return e.ExitCode()
}
