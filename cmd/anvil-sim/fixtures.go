package main

import (
	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
)

func newFixtures(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fixtures",
		Short: "Make, look into and compare fixture databases",
		Long: `Make, look into and compare fixture databases: SQLite files that hold the state of a
simulated API. serve --fixtures answers from one.`,
	}
	cmd.AddCommand(newFixturesImport(s), newFixturesExport(s), newFixturesDigest(s), newFixturesDiff(s),
		newFixturesInit(s), newFixturesOptimize(s))
	return cmd
}
