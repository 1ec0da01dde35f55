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
simulated API. serve --fixtures and provider sqlite answer from them.`,
	}
	cmd.AddCommand(newFixturesInspect(s), newFixturesCheck(s), newFixturesImport(s), newFixturesExport(s),
		newFixturesInit(s), newFixturesDigest(s), newFixturesDiff(s), newFixturesAt(s), newFixturesOptimize(s))
	return cmd
}
