package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/recorder"
	"github.com/anvil-sim/anvil/recorder/vcr"
	"github.com/anvil-sim/anvil/sim/stdio"
)

// providerRecordOptions are the options of provider record as typed.
type providerRecordOptions struct {
	streams   cli.Streams
	provider  string
	cassette  string
	contract  string
	rules     string
	appends   bool
	force     bool
	timeoutMS int
}

func newProviderRecord(s cli.Streams) *cobra.Command {
	o := &providerRecordOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "record --provider-cmd COMMAND --cassette FILE",
		Short: "Keep what another provider answers",
		Long: `Keep what another provider answers: this provider starts it, hands every request
on, and writes each with its answer as one JSON line. Secrets are replaced before
anything is written; the simulator gets the answer unchanged.

The recording is a provider again: anvil-sim provider cassette FILE.`,
		Example: `  anvil-sim serve --contract ./bundle --provider-cmd \
    'anvil-sim provider record --provider-cmd "python provider.py" --cassette calls.jsonl'`,
		Args: cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider-cmd", "", "shell command that starts the provider (required)")
	f.StringVar(&o.cassette, "cassette", "", "the recording to write (required)")
	f.StringVar(&o.contract, "contract", "", "contract whose credential carriers are hidden (default $ANVIL_CONTRACT, which serve sets)")
	f.StringVar(&o.rules, "rules", "", "YAML file with rules for secrets and volatile values")
	f.BoolVar(&o.appends, "append", false, "go on with a recording that exists")
	f.BoolVar(&o.force, "force", false, "replace a recording that exists")
	f.IntVar(&o.timeoutMS, "provider-timeout", 30000, "deadline of each request, in ms")
	cmd.MarkFlagsMutuallyExclusive("append", "force")
	_ = cmd.MarkFlagFilename("cassette", "jsonl")
	_ = cmd.MarkFlagFilename("rules", "yaml", "yml")
	return cmd
}

func (o *providerRecordOptions) run(ctx context.Context) error {
	switch {
	case o.provider == "":
		return errors.New("no provider: --provider-cmd names the command that starts it")
	case o.cassette == "":
		return errors.New("no recording: --cassette names the file to write")
	case o.timeoutMS < 1:
		return fmt.Errorf("--provider-timeout: found %d, want at least 1 (ms)", o.timeoutMS)
	}
	contract, from := namedContract(o.streams, o.contract)
	opts := &recorder.Options{Append: o.appends, Replace: o.force, Warn: warner(o.streams)}
	var err error
	if opts.Rules, opts.Contract, err = loadRules(o.rules, contract, from); err != nil {
		return err
	}
	so := stdio.Options{Command: o.provider, Timeout: time.Duration(o.timeoutMS) * time.Millisecond, Stderr: o.streams.Err,
		Warn: func(line string) { fmt.Fprintf(o.streams.Err, "anvil-sim: %s\n", line) }}
	if exe, err := os.Executable(); err == nil {
		so.PathAppend = []string{filepath.Dir(exe)} // so that "anvil-sim provider ..." is found
	}
	child, err := stdio.Start(ctx, so)
	if err != nil {
		return err
	}
	rec, err := recorder.NewProvider(child, o.cassette, opts)
	if err != nil {
		if errors.Is(err, vcr.ErrExists) {
			err = cli.WithHint(err, "--force replaces it, --append goes on with it")
		}
		err = lockedHint(err)
		return errors.Join(err, child.Close(context.WithoutCancel(ctx)))
	}
	return o.serve(ctx, rec, child)
}

// serve answers until the simulator ends it or the provider behind dies.
func (o *providerRecordOptions) serve(ctx context.Context, rec *recorder.Provider, child *stdio.Process) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-child.Done():
			stop()
		case <-serving.Done():
		}
	}()
	err := provider.Serve(serving, rec, o.streams.In, o.streams.Out, &provider.ServeOptions{Log: o.streams.Err})
	died := child.Err()
	if died != nil {
		err = nil // it says why serving ended
	}
	err = errors.Join(err, rec.Close(context.WithoutCancel(ctx)))
	sum := rec.Summary()
	fmt.Fprintf(o.streams.Err, "anvil-sim: %s, %d recorded, %s of %s\n", plural.Of(sum.Calls, "call"), sum.Written,
		plural.Of(sum.Redactions, "redaction"), plural.Of(sum.Secrets, "secret"))
	switch {
	case died != nil:
		return cli.Exit(cli.CodeNo, died)
	case err == nil && sum.Refused > 0:
		return cli.Exit(cli.CodeNo, fmt.Errorf("not in the recording: %s", plural.Of(sum.Refused, "call")))
	}
	return err
}
