package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/optimize"
)

func newFixturesOptimize(s cli.Streams) *cobra.Command {
	var contract string
	var dry bool
	minRows := 1
	cmd := &cobra.Command{
		Use:   "optimize DB",
		Short: "Add the indexes that filters and sorts want",
		Long: `Add the indexes that a fixture database is asked for: of foreign keys, and with a
contract of the columns that its operations filter and sort by. The content and its
digest stay as they are.`,
		Example: `  anvil-sim fixtures optimize fixtures.db --contract ./bundle
  anvil-sim fixtures optimize fixtures.db --dry-run`,
		Args: cli.Args("DB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var doc *air.Document
			if contract != "" {
				var err error
				if doc, err = loadContract(contract, "all"); err != nil {
					return err
				}
			}
			var plan []optimize.Index
			err := withFixture(args[0], func(db *fixture.DB) (err error) {
				plan, err = optimize.Plan(cmd.Context(), db, doc, minRows)
				return err
			})
			if err != nil {
				return err
			}
			for _, x := range plan {
				fmt.Fprintf(s.Out, "%s.%s: %s\n", x.Table, x.Column, x.Why)
			}
			if len(plan) == 0 {
				fmt.Fprintln(s.Out, "no index is missing")
			}
			if dry || len(plan) == 0 {
				return nil
			}
			return optimize.Apply(cmd.Context(), args[0], plan)
		},
	}
	f := cmd.Flags()
	f.StringVar(&contract, "contract", "", "contract whose filters and sorts count too")
	f.IntVar(&minRows, "min-rows", 1, "leave out tables with fewer rows")
	f.BoolVar(&dry, "dry-run", false, "only say what would be added")
	return cmd
}
