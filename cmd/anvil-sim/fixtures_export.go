package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/wholefile"
	"github.com/anvil-sim/anvil/store/export"
	"github.com/anvil-sim/anvil/store/fixture"
)

func newFixturesExport(s cli.Streams) *cobra.Command {
	var format, output string
	var force bool
	var tables []string
	cmd := &cobra.Command{
		Use:   "export DB",
		Short: "Write a fixture database as SQL, JSON, JSON Lines or CSV",
		Long: `Write a fixture database as text: equal content gives equal text. An output that
ends in / is a folder: one file a table, and schema.sql, from which an import makes
the very same database again.`,
		Example: `  anvil-sim fixtures export fixtures.db > fixtures.sql
  anvil-sim fixtures export fixtures.db --format csv --table Track
  anvil-sim fixtures export fixtures.db --format jsonl --output data/`,
		Args: cli.Args("DB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("format") && output != "" {
				if ext := strings.TrimPrefix(filepath.Ext(output), "."); ext != "" {
					format = ext
				}
			}
			opts := &export.Options{Format: export.Format(format), Tables: tables}
			return withFixture(cmd.Context(), s, args[0], func(db *fixture.DB) error {
				if err := onlyRead(args[0], output); err != nil {
					return err
				}
				return exportTo(cmd.Context(), s, db, output, force, opts)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "sql", "sql, json, jsonl or csv (default by the output's name)")
	f.StringVarP(&output, "output", "o", "", "file, or folder with a / at its end (default stdout)")
	f.StringArrayVar(&tables, "table", nil, "export this table alone (repeatable)")
	f.BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}

// onlyRead refuses an output that is the input, under whatever name.
func onlyRead(input, output string) error {
	one, err := os.Stat(input)
	other, otherErr := os.Stat(output)
	if err == nil && otherErr == nil && os.SameFile(one, other) {
		return fmt.Errorf("%s is what is read, and that is never written; name another file", output)
	}
	return nil
}

func exportTo(ctx context.Context, s cli.Streams, db *fixture.DB, output string, force bool, opts *export.Options) error {
	switch {
	case output == "" || output == "-":
		return export.Write(ctx, db, s.Out, opts)
	case strings.HasSuffix(output, "/"):
		return export.Folder(ctx, db, output, opts)
	}
	info, err := os.Lstat(output)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; end the name with / for one file a table", output)
	case err == nil && !force:
		return cli.WithHint(fmt.Errorf("%s: the file exists", output), "--force replaces it")
	case err == nil && !info.Mode().IsRegular(): // a pipe is written to, a link stays a link
		return wholefile.Write(output, func(w io.Writer) error { return export.Write(ctx, db, w, opts) })
	}
	return export.File(ctx, db, output, opts)
}
