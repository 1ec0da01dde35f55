package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// cassetteProvider is "provider cassette" as typed.
type cassetteProvider struct {
	matchOptions
	streams  cli.Streams
	contract string
}

func newProviderCassette(s cli.Streams) *cobra.Command {
	p := &cassetteProvider{streams: s}
	cmd := &cobra.Command{
		Use:   "cassette FILE...",
		Short: "Answer from recorded traffic",
		Long: `Answer from recorded traffic: go-vcr cassettes (version 1 and 2), HAR, VCR.py and
Ruby VCR cassettes, provider recordings, call traces. The format is told by the
content; a folder is all its recordings, in name order.

Recorded HTTP is tied to the operations of the contract by method and path, and
compared by typed parameters and body fields. Recorded pages of one query are
joined and served in any page size. A request that was not recorded is an error
that says what was asked and what comes closest; nothing is made up.`,
		Example: `  anvil-sim serve --contract ./bundle --provider-cmd "anvil-sim provider cassette tape.yaml"
  anvil-sim serve --contract ./bundle --provider-cmd "anvil-sim provider cassette tapes/ --fail-unused"
  anvil-sim serve --contract ./bundle --provider-cmd "anvil-sim provider cassette calls.jsonl --ignore query.ts"`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args) },
	}
	cmd.Flags().StringVar(&p.contract, "contract", "", "the served contract (default $ANVIL_CONTRACT, which serve sets)")
	p.register(cmd.Flags())
	return cmd
}

func (p *cassetteProvider) run(ctx context.Context, paths []string) error {
	opts, err := p.options(p.streams.Err)
	if err != nil {
		return err
	}
	tapes, err := loadTapes(p.streams.Err, paths)
	if err != nil {
		return err
	}
	doc, err := p.document()
	if err != nil {
		return err
	}
	player, err := replayer.NewProvider(tapes, doc, opts)
	if err != nil {
		return err
	}
	sayApart(p.streams.Err, player.Apart())
	err = provider.Serve(ctx, player, p.streams.In, p.streams.Out, &provider.ServeOptions{Log: p.streams.Err})
	return errors.Join(err, p.finish(p.streams.Err, player.Stats()))
}

// sayApart names the recorded calls that the contract does not have.
func sayApart(w io.Writer, list []*tape.Interaction) {
	for _, it := range list[:min(len(list), mostSaid)] {
		fmt.Fprintf(w, "anvil-sim: %s: no operation of the contract is %s\n", it.Place(), what(it))
	}
	if n := len(list) - mostSaid; n > 0 {
		fmt.Fprintf(w, "anvil-sim: and %d more that no operation of the contract is\n", n)
	}
}

// document is the served contract, nil when none is named.
func (p *cassetteProvider) document() (*air.Document, error) {
	path, from := namedContract(p.streams, p.contract)
	if path == "" {
		return nil, nil
	}
	var source sourceFlags
	source.fromServe(p.streams, from)
	doc, err := source.load(path, "all") // what is served is for serve to say
	return doc, contractError(path, from, err)
}
