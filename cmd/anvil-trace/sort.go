package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace/arrange"
)

const sortHelp = `Write the calls of each run by seq. Overlapping calls are recorded when they end,
so their lines may stand in another order. Lines stay byte for byte.

RUN is a file or "-" for standard input; .gz and .zst content is decompressed.
A file that --out names appears whole or not at all, and may be RUN itself.

Exit codes: 0 written, 2 could not.`

const sortExample = `  anvil-trace sort run.jsonl > sorted.jsonl
  anvil-trace sort run.jsonl.gz --out sorted.jsonl`

func newSort(s cli.Streams) *cobra.Command {
	var run, out string
	cmd := &cobra.Command{
		Use:     "sort RUN",
		Short:   "Put the calls of a trace in the order of their seq",
		Long:    sortHelp,
		Example: sortExample,
		Args:    cli.Args("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			moved := 0
			err := writeTo(s, out, func(w io.Writer) (err error) {
				moved, err = arrange.Sort(cmd.Context(), w, input(s, args[0]), run)
				return err
			})
			if err == nil {
				fmt.Fprintf(s.Err, "out of order: %d call(s)\n", moved)
			}
			return err
		},
	}
	addOut(cmd, &out)
	addRun(cmd, &run, "all")
	return cmd
}

// addOut adds --out.
func addOut(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVarP(out, "out", "o", "", "write to `FILE`, whole or not at all, instead of standard output; .gz and .zst are compressed")
}
