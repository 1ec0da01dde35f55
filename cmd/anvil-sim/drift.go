package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/cli"
)

func newDrift(s cli.Streams) *cobra.Command {
	var all bool
	var source sourceFlags
	cmd := &cobra.Command{
		Use:   "drift OLD NEW",
		Short: "Tell what changed between two contracts, and what it breaks",
		Long: `Tell what changed between two contracts, operation by operation: compatible,
additive, breaking, or safety-sensitive (effect, repeatability, confirmation, access).
Each is a bundle, an air.yaml or air.json, or an API description, which --manifest
and --profile are for. Exits 1 when
something is breaking or safety-sensitive.`,
		Example: `  anvil-sim drift ./bundle openapi.yaml
  anvil-sim drift v1.json v2.json`,
		Args: cli.Args("OLD", "NEW"),
		RunE: func(_ *cobra.Command, args []string) error {
			before, after, err := source.pair(args[0], args[1])
			if err != nil {
				return err
			}
			changes := compile.Drift(before, after)
			if err := s.Print(func(w io.Writer) { printDrift(w, changes, all) }); err != nil {
				return err
			}
			if compile.Worst(changes) >= compile.Breaking {
				return cli.Exit(cli.CodeNo, nil)
			}
			return nil
		},
	}
	source.add(cmd.Flags())
	cmd.Flags().BoolVar(&all, "all", false, "print compatible changes too")
	return cmd
}

func printDrift(w io.Writer, changes []compile.Change, all bool) {
	count := map[compile.Severity]int{}
	for _, c := range changes {
		count[c.Severity]++
		if all || c.Severity > compile.Compatible {
			fmt.Fprintf(w, "%s %s: %s\n", c.Severity, c.Operation, c.What)
		}
	}
	fmt.Fprintf(w, "%d compatible, %d additive, %d breaking, %d safety-sensitive change(s)\n",
		count[compile.Compatible], count[compile.Additive], count[compile.Breaking], count[compile.Safety])
}

// pair loads two contracts. The options are about those that are API
// descriptions: one at least must be.
func (d *sourceFlags) pair(a, b string) (before, after *air.Document, err error) {
	var docs [2]*air.Document
	var refused error
	described := false
	for i, path := range []string{a, b} {
		c, err := readContract(path)
		if err != nil {
			return nil, nil, err
		}
		if c.description {
			described = true
			docs[i], err = d.compile(c, "none")
		} else {
			refused = c.refuse(d.refuse(path))
			docs[i], err = c.parse()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if !described && refused != nil {
		return nil, nil, refused
	}
	return docs[0], docs[1], nil
}
