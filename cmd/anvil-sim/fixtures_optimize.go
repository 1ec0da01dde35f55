package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/store"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/optimize"
)

func newFixturesOptimize(s cli.Streams) *cobra.Command {
	from := &inspectOptions{streams: s}
	var dry bool
	minRows := 1
	cmd := &cobra.Command{
		Use:   "optimize DB",
		Short: "Add the indexes that filters and sorts want",
		Long: `Add the indexes that a fixture database is asked for: of foreign keys, and with a
contract of the columns that its operations filter and sort by, as fixtures inspect
shows them: --map counts too. The content and its digest stay as they are.`,
		Example: `  anvil-sim fixtures optimize fixtures.db --contract ./bundle
  anvil-sim fixtures optimize fixtures.db --contract ./bundle --map map.yaml
  anvil-sim fixtures optimize fixtures.db --dry-run`,
		Args: cli.Args("DB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var operations []store.Mapping
			if from.contract != "" || from.mapFile != "" {
				var err error
				if operations, err = from.inspect(cmd.Context(), args[0]); err != nil {
					return err
				}
			}
			var plan []optimize.Index
			db, err := fixture.Open(args[0])
			if err != nil {
				return err
			}
			plan, err = optimize.Plan(cmd.Context(), db, operations, minRows)
			if err := errors.Join(err, db.Close()); err != nil {
				return err
			}
			err = s.Print(func(w io.Writer) {
				for _, x := range plan {
					fmt.Fprintf(w, "%s.%s: %s\n", x.Table, x.Column, x.Why)
				}
				if len(plan) == 0 {
					fmt.Fprintln(w, "no index is missing")
				}
			})
			if err != nil || dry || len(plan) == 0 {
				return err
			}
			return optimize.Apply(cmd.Context(), args[0], plan)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from.contract, "contract", "", "contract whose filters and sorts count too")
	f.StringVar(&from.mapFile, "map", "", "YAML file that overrides what is mapped by rule; its filters count")
	f.IntVar(&minRows, "min-rows", 1, "leave out tables with fewer rows")
	f.BoolVar(&dry, "dry-run", false, "only say what would be added")
	return cmd
}
