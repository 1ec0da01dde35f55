package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/seed"
)

func newCassetteToFixtures(s cli.Streams) *cobra.Command {
	var contract, output string
	var force bool
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return errors.New("--output names the database file to make, found none")
			}
			tapes, doc, err := withContract(s, args, contract)
			if err != nil {
				return err
			}
			resources, apart, err := replayer.Resources(tapes, doc)
			if err != nil {
				return err
			}
			sayApart(s.Err, apart)
			var recorded []seed.Recorded
			for _, r := range resources {
				recorded = append(recorded, seed.Recorded(r))
			}
			opts := &seed.Options{}
			if force {
				opts.Mode = fixture.Replace
			}
			report, err := seed.FromRecorded(cmd.Context(), output, doc, recorded, opts)
			if errors.Is(err, fixture.ErrExists) {
				return cli.WithHint(err, "--force replaces it")
			}
			if err != nil {
				return err
			}
			for _, n := range report.Notes {
				fmt.Fprintln(s.Err, "anvil-sim: note:", n)
			}
			return printInit(s.Out, output, report)
		},
	}
	f := cmd.Flags()
	f.StringVar(&contract, "contract", "", "the contract (default $ANVIL_CONTRACT)")
	f.StringVarP(&output, "output", "o", "", "the database file to make (required)")
	f.BoolVar(&force, "force", false, "replace an existing database")
	return cmd
}
