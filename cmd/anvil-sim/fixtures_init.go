package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/seed"
)

func newFixturesInit(s cli.Streams) *cobra.Command {
	var contract, output string
	var source sourceFlags
	var force bool
	opts := &seed.Options{}
	cmd := &cobra.Command{
		Use:   "init --contract C --output DB",
		Short: "Make a fixture database of a contract",
		Long: `Make a fixture database of a contract: a table for each resource that can be read,
foreign keys where paths and names tell them, rows synthesized from the seed. The
same contract and seed give the same bytes. Edit the rows with any SQLite tool.`,
		Example: `  anvil-sim fixtures init --contract ./bundle -o fixtures.db
  anvil-sim fixtures init --contract ./bundle -o fixtures.db --rows 100 --seed 7 --resource issue
  anvil-sim fixtures init --contract openapi.yaml --manifest anvil.yaml -o fixtures.db
  anvil-sim serve --contract ./bundle --fixtures fixtures.db`,
		Args: cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case contract == "":
				return errors.New("--contract names the contract, found none")
			case output == "":
				return errors.New("--output names the database file to make, found none")
			case opts.Rows < 0:
				return fmt.Errorf("--rows: found %d, want a whole number from 0", opts.Rows)
			}
			if force {
				opts.Mode = fixture.Replace
			}
			doc, err := source.load(contract, "all")
			if err != nil {
				return err
			}
			return makeFixture(cmd.Context(), s, output, doc, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&contract, "contract", "", "contract: a bundle directory, air.yaml or air.json, also gzipped, or an API description")
	source.add(f)
	f.StringVarP(&output, "output", "o", "", "the database file to make")
	f.IntVar(&opts.Rows, "rows", 10, "rows a table, 0 for the tables alone")
	f.Uint32Var(&opts.Seed, "seed", 0, "seed of the values")
	f.StringVar(&opts.Capability, "capability", "", "only resources of this capability")
	f.StringArrayVar(&opts.Resources, "resource", nil, "only this resource and what it points to (repeatable)")
	f.BoolVar(&force, "force", false, "replace an existing database")
	return cmd
}

func makeFixture(ctx context.Context, s cli.Streams, output string, doc *air.Document, opts *seed.Options) error {
	report, err := seed.Make(ctx, output, doc, opts)
	if errors.Is(err, fixture.ErrExists) {
		return cli.WithHint(err, "--force replaces it")
	}
	if err != nil {
		return err
	}
	return printInit(s.Out, output, report)
}

func printInit(w io.Writer, output string, r *seed.Report) error {
	var b strings.Builder
	for _, t := range r.Tables {
		parents := ""
		if len(t.Parents) > 0 {
			parents = "; " + strings.Join(t.Parents, ", ")
		}
		fmt.Fprintf(&b, "%s: %s, %s, key %s%s\n", t.Name, plural.Of(t.Rows, "row"), plural.Of(t.Columns, "column"), t.Key, parents)
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(&b, "without a table, since no answer is an object with an id: %s\n", strings.Join(r.Left, ", "))
	}
	fmt.Fprintf(&b, "%s: %d table(s)\n", output, len(r.Tables))
	_, err := io.WriteString(w, b.String())
	return err
}
