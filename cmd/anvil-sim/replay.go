package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/replayer"
)

// replayOptions are the options of replay as typed.
type replayOptions struct {
	matchOptions
	streams cli.Streams
	host    string
	port    int
	timing  bool
}

func newReplay(s cli.Streams) *cobra.Command {
	o := &replayOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Play a recording over HTTP, byte for byte, without a contract",
		Long: `Play a recording over HTTP until SIGINT or SIGTERM. The first line on stdout is the
URL. Status, headers, body and streaming come as recorded; go-vcr, HAR, VCR.py,
Ruby VCR and call traces are read, a folder is all its recordings.

Requests are compared by method, path, query and body; the host does not count.
A request that was not recorded is a 503 with the header X-Anvil-Miss and says
what comes closest.`,
		Example: `  anvil-sim replay tape.yaml
  anvil-sim replay session.har --port 8080 --ignore query.ts
  anvil-sim replay tapes/ --after-last repeat --fail-unused`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.host, "host", "127.0.0.1", "address to bind")
	f.IntVar(&o.port, "port", 0, "port to bind; 0 picks a free one")
	f.BoolVar(&o.timing, "timing", false, "answer after the recorded time")
	o.register(f)
	return cmd
}

func (o *replayOptions) run(ctx context.Context, paths []string) error {
	if o.port < 0 || o.port > 65535 {
		return fmt.Errorf("--port: found %d, want 0 to 65535", o.port)
	}
	opts, err := o.options(o.streams.Err)
	if err != nil {
		return err
	}
	tapes, err := loadTapes(o.streams.Err, paths)
	if err != nil {
		return err
	}
	player, err := replayer.NewPlayer(tapes, opts)
	if err != nil {
		return err
	}
	addr := net.JoinHostPort(o.host, strconv.Itoa(o.port))
	server, err := replayer.Listen(ctx, addr, player, &replayer.ServerOptions{Timing: o.timing})
	if err != nil {
		return cli.WithHint(err, "--port 0 picks a free port")
	}
	if _, err := fmt.Fprintln(o.streams.Out, server.URL()); err != nil {
		return errors.Join(fmt.Errorf("cannot write the URL to stdout: %w", err), server.Close())
	}
	err = server.Serve(ctx)
	return errors.Join(err, o.finish(o.streams.Err, player.Stats()))
}
