package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace/stats"
)

const statsHelp = `Count the calls of a trace by operation, status and error code.

RUN is a file or "-" for standard input; .gz and .zst content is decompressed.
--json writes one object: trace, runs, run, calls, ok, asked (a provider answered),
bytes; operations, a list with operation, tool, status, code, source and calls;
statuses, codes and sources, the sums.

Exit codes: 0 counted, 2 could not.`

const statsExample = `  anvil-trace stats run.jsonl
  anvil-trace stats run.jsonl --run all --json`

func newStats(s cli.Streams) *cobra.Command {
	var run string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats RUN",
		Short:   "Count the calls of a trace",
		Long:    statsHelp,
		Example: statsExample,
		Args:    cli.Args("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := stats.Count(cmd.Context(), input(s, args[0]), run)
			if err != nil {
				return err
			}
			write := st.WriteText
			if asJSON {
				write = st.WriteJSON
			}
			return writeTo(s, "", func(w io.Writer) error {
				if err := write(w); err != nil {
					return fmt.Errorf("writing the counts: %w", err)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	addRun(cmd, &run, "last")
	return cmd
}
