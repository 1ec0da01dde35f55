package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/store/compare"
	"github.com/anvil-sim/anvil/store/fixture"
)

func newFixturesDigest(s cli.Streams) *cobra.Command {
	var tables bool
	cmd := &cobra.Command{
		Use:   "digest DB...",
		Short: "Print the content hash of fixture databases",
		Long: `Print the content hash of fixture databases, one a line with the file's name.
Equal content gives equal digests, whatever the files' history: page layout, order
of insertion, gaps between row ids, indexes that are there for speed and the change
log of a saved state do not count. STATE@N is a saved state as it was after call N.`,
		Example: `  anvil-sim fixtures digest fixtures.db
  anvil-sim fixtures digest --tables before.db after.db
  anvil-sim fixtures digest state.db@0 state.db@3 state.db`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.WithHint(fmt.Errorf("digest needs a DB, found no argument"), "run 'anvil-sim fixtures digest --help' for what it takes")
			}
			for _, path := range args {
				err := withFixture(cmd.Context(), s, path, func(db *fixture.DB) error {
					d, err := compare.Sum(cmd.Context(), db)
					if err != nil {
						return fmt.Errorf("%s: %w", path, err)
					}
					return s.Print(func(w io.Writer) {
						fmt.Fprintf(w, "%s  %s\n", d.Sum, path)
						for _, t := range d.Tables {
							if tables {
								fmt.Fprintf(w, "  %s  %s (%s)\n", t.Sum, t.Name, plural.Of(t.Rows, "row"))
							}
						}
					})
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&tables, "tables", false, "print each table's digest too")
	return cmd
}
