package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace/show"
)

const showHelp = `Show the calls of a trace, one a line: seq, status, what was asked, the tool and
the error code. --seq shows single calls in full.

RUN is a file or "-" for standard input; .gz and .zst content is decompressed.

Exit codes: 0 shown, 2 could not (a seq that is not there is an error too).`

const showExample = `  anvil-trace show run.jsonl
  anvil-trace show run.jsonl --seq 3
  anvil-trace show run.jsonl --seq 3,7-9 --run 1`

func newShow(s cli.Streams) *cobra.Command {
	var o show.Options
	var seqs string
	cmd := &cobra.Command{
		Use:     "show RUN",
		Short:   "Show the calls of a trace",
		Long:    showHelp,
		Example: showExample,
		Args:    cli.Args("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Seqs, err = parseSeqs(seqs); err != nil {
				return err
			}
			o.Color = s.Color(s.Out)
			return writeTo(s, "", func(w io.Writer) error { return show.Write(cmd.Context(), w, input(s, args[0]), &o) })
		},
	}
	cmd.Flags().StringVar(&seqs, "seq", "", "show calls in full: `N`, or 3,7-9")
	addRun(cmd, &o.Run, "last")
	return cmd
}

// parseSeqs reads "3,7-9".
func parseSeqs(text string) (list []show.Range, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		first, errFirst := strconv.ParseInt(from, 10, 64)
		last, errLast := strconv.ParseInt(to, 10, 64)
		if errFirst != nil || errLast != nil || first < 0 || last < first {
			return nil, cli.WithHint(fmt.Errorf("--seq: found %q, want a number or a range", part), "such as --seq 3 or --seq 3,7-9")
		}
		list = append(list, show.Range{First: first, Last: last})
	}
	return list, nil
}
