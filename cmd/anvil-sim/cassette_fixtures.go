package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/seed"
)

type toFixturesOptions struct {
	streams  cli.Streams
	contract string
	output   string
	force    bool
}

func newCassetteToFixtures(s cli.Streams) *cobra.Command {
	o := &toFixturesOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "to-fixtures FILE... --contract C --output DB",
		Short: "Make a fixture database of recorded resources",
		Long: `Make a fixture database of recorded resources: the tables and keys of the contract,
with the rows that recorded answers hold. What lists and single answers say of a row
is put together, the last one seen counts; a row that was deleted is gone. Members
that the contract does not declare become columns too; answers have the declared ones.

'anvil-sim serve --fixtures DB' then answers more than was recorded: any filter and
page, and writes. The file appears whole or not at all.`,
		Example: `  anvil-sim cassette to-fixtures tapes/ --contract ./bundle -o app.db
  anvil-sim serve --contract ./bundle --fixtures app.db`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.contract, "contract", "", "the contract (default $ANVIL_CONTRACT)")
	f.StringVarP(&o.output, "output", "o", "", "the database file to make (required)")
	f.BoolVar(&o.force, "force", false, "replace an existing database")
	return cmd
}

func (o *toFixturesOptions) run(ctx context.Context, args []string) error {
	if o.output == "" {
		return errors.New("--output names the database file to make, found none")
	}
	tapes, doc, err := withContract(o.streams, args, o.contract)
	if err != nil {
		return err
	}
	resources, apart, err := replayer.Resources(tapes, doc)
	if err != nil {
		return err
	}
	sayApart(o.streams.Err, apart)
	var recorded []seed.Recorded
	for _, r := range resources {
		recorded = append(recorded, seed.Recorded(r))
	}
	opts := &seed.Options{}
	if o.force {
		opts.Mode = fixture.Replace
	}
	report, err := seed.FromRecorded(ctx, o.output, doc, recorded, opts)
	if errors.Is(err, fixture.ErrExists) {
		return cli.WithHint(err, "--force replaces it")
	}
	if err != nil {
		return err
	}
	for _, n := range report.Notes {
		fmt.Fprintln(o.streams.Err, "anvil-sim: note:", n)
	}
	return printInit(o.streams.Out, o.output, report)
}
