package main

import (
	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
)

func newFixtures(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fixtures",
		Short: "Make, look into and compare fixture databases",
	}
	cmd.AddCommand(newFixturesImport(s), newFixturesExport(s), newFixturesDigest(s), newFixturesDiff(s),
		newFixturesInit(s), newFixturesOptimize(s))
	return cmd
}
