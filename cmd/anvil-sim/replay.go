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
		Use:   "replay FILE... [-- COMMAND [ARGS...]]",
		Short: "Play a recording over HTTP, byte for byte, without a contract",
		Long: `Play a recording over HTTP until SIGINT or SIGTERM. The first line on stdout is the
URL. Status, headers, body and streaming come as recorded; go-vcr, HAR, VCR.py,
Ruby VCR and call traces are read, a folder is all its recordings.

With a command after --, the command runs with ANVIL_BASE_URL set to the URL; when
it ends the server stops, and its exit status is the command's. Where that is 0,
--fail-miss and --fail-unused make it 1.

Requests are compared by method, path, query and body; the host does not count.
A request that was not recorded is a 503 with the header X-Anvil-Miss and says
what comes closest.`,
		Example: `  anvil-sim replay tape.yaml
  anvil-sim replay session.har --port 8080 --ignore query.ts
  anvil-sim replay tapes/ --after-last repeat --fail-unused
  anvil-sim replay tape.yaml --fail-miss -- pytest -q tests/`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := emptyCommand(cmd, args); err != nil {
				return err
			}
			files, _ := cutCommand(cmd, args)
			return cli.Args("FILE", "[FILE...]")(cmd, files)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			files, command := cutCommand(cmd, args)
			return o.run(cmd.Context(), files, command)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.host, "host", "127.0.0.1", "address to bind")
	f.IntVar(&o.port, "port", 0, "port to bind; 0 picks a free one")
	f.BoolVar(&o.timing, "timing", false, "answer after the recorded time")
	o.register(f)
	return cmd
}

// cutCommand parts arguments from the command behind the --.
func cutCommand(cmd *cobra.Command, args []string) (own, command []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

func (o *replayOptions) run(ctx context.Context, paths, command []string) error {
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
	server, err := replayer.Listen(ctx, addr, player, &replayer.ServerOptions{
		Timing: o.timing, MaxConns: maxConns(freeFiles()), ErrorLog: connLog(o.streams),
	})
	if err != nil {
		return cli.WithHint(err, "--port 0 picks a free port")
	}
	if len(command) > 0 {
		err = o.serveCommand(ctx, server, command)
	} else if _, err = fmt.Fprintln(o.streams.Out, server.URL()); err != nil {
		return errors.Join(fmt.Errorf("cannot write the URL to stdout: %w", err), server.Close())
	} else {
		err = server.Serve(ctx)
	}
	if told := o.finish(o.streams.Err, player.Stats()); err == nil {
		err = told
	}
	return err
}

// serveCommand plays while a command runs. The command owns stdout.
func (o *replayOptions) serveCommand(ctx context.Context, server *replayer.Server, command []string) error {
	fmt.Fprintf(o.streams.Err, "anvil-sim: playing on %s while %s runs\n", server.URL(), command[0])
	playing, stop := context.WithCancel(ctx)
	defer stop()
	played := make(chan error, 1)
	go func() { played <- server.Serve(playing) }()
	status := runCommand(ctx, o.streams, server.URL(), command)
	stop()
	if err := <-played; err != nil && status == nil {
		status = err
	}
	return status
}
