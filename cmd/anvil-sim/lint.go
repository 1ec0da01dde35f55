package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/cli"
)

func newLint(s cli.Streams) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "lint BUNDLE",
		Short: "Check a bundle, as a gate",
		Long: `Check a bundle: the contract loads, both its spellings are one document, the sources
are the bytes that were read, what is approved was approved as it is, and no approved
operation has an error. Exits 1 when something is wrong.`,
		Args: cli.Args("BUNDLE"),
		RunE: func(_ *cobra.Command, args []string) error {
			findings, err := compile.Lint(args[0])
			if err != nil {
				return err
			}
			failed := 0
			err = s.Print(func(w io.Writer) {
				for _, f := range findings {
					if f.Level == api.Error || strict {
						failed++
					}
					fmt.Fprintf(w, "%s %s %s: %s\n", f.Level, f.Code, cmp.Or(f.Operation, args[0]), f.Message)
				}
			})
			if err != nil {
				return err
			}
			if failed > 0 {
				return cli.Exit(cli.CodeNo, fmt.Errorf("%s: %d finding(s)", args[0], failed))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings fail too")
	return cmd
}
