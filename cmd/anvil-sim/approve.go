package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/cli"
)

func newApprove(s cli.Streams) *cobra.Command {
	var sel compile.Selection
	var reviewer string
	cmd := &cobra.Command{
		Use:   "approve BUNDLE (--operation ID... | --reads | --all | --profile) --reviewer NAME",
		Short: "Approve operations of a bundle for serving",
		Long: `Approve operations of a bundle for serving. approvals.json in the bundle records who
approved which bytes: the digest of the operation with every schema that it reaches.
When the bundle is compiled again, an operation that changed needs approval again.`,
		Example: `  anvil-sim approve ./bundle --reads --reviewer Ada
  anvil-sim approve ./bundle --operation petstore.add_pet --operation updatePet --reviewer Ada`,
		Args: cli.Args("BUNDLE"),
		RunE: func(_ *cobra.Command, args []string) error { return approve(s, args[0], sel, reviewer) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&sel.IDs, "operation", nil, "id or operationId of an operation; may be repeated")
	f.BoolVar(&sel.Reads, "reads", false, "every operation that only reads")
	f.BoolVar(&sel.All, "all", false, "every operation that can be served")
	f.BoolVar(&sel.Exposed, "profile", false, "what the exposure profile of the bundle exposes")
	f.StringVar(&reviewer, "reviewer", "", "who approves (required)")
	_ = cmd.MarkFlagRequired("reviewer")
	cmd.MarkFlagsOneRequired("operation", "reads", "all", "profile")
	cmd.MarkFlagsMutuallyExclusive("operation", "reads", "all", "profile")
	return cmd
}

func approve(s cli.Streams, dir string, sel compile.Selection, reviewer string) error {
	b, err := compile.ReadBundle(dir)
	if err != nil {
		return err
	}
	done, err := b.Approve(sel, reviewer)
	if err != nil {
		var unknown *compile.UnknownError
		if errors.As(err, &unknown) {
			err = cli.WithHint(err, "run 'anvil-sim inspect "+dir+"' for the operations of the bundle")
		}
		return err
	}
	if err := b.Write(dir); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%d operation(s) approved by %s\n", len(done), reviewer)
	return err
}
