package main

import (
	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
)

func newCassette(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Look into recordings",
		Long:  `Look into recordings of any format that anvil-sim reads.`,
	}
	cmd.AddCommand(newCassetteScan(s))
	return cmd
}
