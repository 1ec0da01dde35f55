package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store"
)

func newProvider(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "provider",
		Short: "Bundled state providers, for --provider-cmd",
		Long: `Bundled state providers. A provider speaks JSON-RPC 2.0 on stdin and stdout, one
message a line; serve starts it with --provider-cmd.`,
	}
	cmd.AddCommand(newProviderSQLite(s), newProviderCassette(s), newProviderRecord(s))
	return cmd
}

func newProviderSQLite(s cli.Streams) *cobra.Command {
	var contract string
	var source sourceFlags
	flags := &fixtureFlags{}
	cmd := &cobra.Command{
		Use:   "sqlite FILE",
		Short: "Answer from the tables of a SQLite file",
		Long: `Answer from the tables of a SQLite file. The provider works on a private copy: the
file never changes. Without a contract it derives one from the tables.`,
		Example: `  anvil-sim serve --provider-cmd "anvil-sim provider sqlite fixtures.db"
  anvil-sim serve --contract ./bundle --provider-cmd "anvil-sim provider sqlite fixtures.db"`,
		Args: cli.Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return serveSQLite(cmd.Context(), s, args[0], contract, &source, flags)
		},
	}
	cmd.Flags().StringVar(&contract, "contract", "", "the served contract, or the API description of it (default $ANVIL_CONTRACT, which serve sets)")
	source.add(cmd.Flags())
	flags.add(cmd.Flags())
	return cmd
}

func serveSQLite(ctx context.Context, s cli.Streams, file, contract string, source *sourceFlags, flags *fixtureFlags) error {
	contract, from := namedContract(s, contract)
	var doc *air.Document
	source.fromServe(s, from)
	if contract == "" {
		if err := source.refuse(""); err != nil {
			return err
		}
	} else {
		var err error
		if doc, err = source.load(contract, "all"); err != nil { // what is served is for serve to say
			return contractError(contract, from, err)
		}
	}
	opts, err := flags.options(s, doc, 0)
	if err != nil {
		return err
	}
	opts.Log = true // the simulator may ask for the state after any call
	db, err := store.Open(ctx, file, opts)
	if err != nil {
		return err
	}
	// Serve closes the database when it is told to shut down; closing twice is
	// harmless and covers the other ways out.
	err = provider.Serve(ctx, db, s.In, s.Out, &provider.ServeOptions{Log: s.Err})
	return errors.Join(err, db.Close(context.WithoutCancel(ctx)))
}
