package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/cli"
)

func newDrift(s cli.Streams) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "drift OLD NEW",
		Short: "Tell what changed between two contracts, and what it breaks",
		Long: `Tell what changed between two contracts, operation by operation: compatible,
additive, breaking, or safety-sensitive (effect, repeatability, confirmation, access).
Each is a bundle, an air.yaml or air.json, or an API description. Exits 1 when
something is breaking or safety-sensitive.`,
		Example: `  anvil-sim drift ./bundle openapi.yaml
  anvil-sim drift v1.json v2.json`,
		Args: cli.Args("OLD", "NEW"),
		RunE: func(_ *cobra.Command, args []string) error {
			before, err := loadContract(args[0], "none")
			if err != nil {
				return err
			}
			after, err := loadContract(args[1], "none")
			if err != nil {
				return err
			}
			changes := compile.Drift(before, after)
			count := map[compile.Severity]int{}
			for _, c := range changes {
				count[c.Severity]++
				if all || c.Severity > compile.Compatible {
					fmt.Fprintf(s.Out, "%s %s: %s\n", c.Severity, c.Operation, c.What)
				}
			}
			fmt.Fprintf(s.Out, "%d compatible, %d additive, %d breaking, %d safety-sensitive change(s)\n",
				count[compile.Compatible], count[compile.Additive], count[compile.Breaking], count[compile.Safety])
			if compile.Worst(changes) >= compile.Breaking {
				return cli.Exit(cli.CodeNo, nil)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "print compatible changes too")
	return cmd
}
