package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/store/compare"
	"github.com/anvil-sim/anvil/store/fixture"
)

type diffOptions struct {
	format string
	json   bool
	limit  int
	compare.Options
}

func newFixturesDiff(s cli.Streams) *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the content of two fixture databases",
		Long: `Compare the content of two fixture databases: tables and columns, rows by primary
key, cells. Rows of tables without a key are counted. Nothing is printed when the
content is equal. The exit code is 0 when it is equal, 1 when it differs, 2 when it
could not be compared.`,
		Example: `  anvil-sim fixtures diff expected.db state.db
  anvil-sim fixtures diff --ignore updated_at --table orders before.db after.db
  anvil-sim fixtures diff --json before.db after.db > diff.json`,
		Args: cli.Args("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withFixture(args[0], func(a *fixture.DB) error {
				return withFixture(args[1], func(b *fixture.DB) error { return o.run(cmd.Context(), s.Out, a, b) })
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "text or json")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	f.IntVar(&o.limit, "limit", 20, "differing rows to show a table, 0 for all")
	f.StringArrayVar(&o.Tables, "table", nil, "compare this table alone (repeatable)")
	f.StringArrayVar(&o.Ignore, "ignore", nil, "a column that may differ: column or table.column (repeatable)")
	return cmd
}

func (o *diffOptions) run(ctx context.Context, w io.Writer, a, b *fixture.DB) (err error) {
	var equal bool
	if o.json {
		o.format = "json"
	}
	switch o.format {
	case "text":
		v := compare.NewText(w, o.limit)
		if equal, err = compare.Diff(ctx, a, b, v, &o.Options); err == nil {
			err = v.Flush()
		}
	case "json":
		v := compare.NewJSON(w, o.limit)
		if equal, err = compare.Diff(ctx, a, b, v, &o.Options); err == nil {
			err = v.Flush(equal)
		}
	default:
		return fmt.Errorf("--format: found %q, want text or json", o.format)
	}
	if err != nil {
		return err
	}
	if !equal {
		return cli.Exit(cli.CodeNo, nil)
	}
	return nil
}
