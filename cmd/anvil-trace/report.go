package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/htmlreport"
)

const reportHelp = `Write one HTML page that shows the calls of a run: the timeline with filters,
request and response side by side and, with a BASELINE, what differs from it.

The page holds all it needs and loads nothing, so that it can be attached to a CI
run or sent to somebody. FILE.html#12 opens call 12. Press ? in the page for its
keys. With --html - the page goes to standard output.

Options that say what counts as a difference are those of 'anvil-trace diff'. The
page is written whether there are differences or not; the gate is 'diff'.

Exit codes: 0 written, 2 could not.`

const reportExample = `  anvil-trace report run.jsonl --html run.html
  anvil-trace report run.jsonl golden.jsonl --html run.html --ignore '/provider/meta/**'`

func newReport(s cli.Streams) *cobra.Command {
	var f diffFlags
	var file, title string
	cmd := &cobra.Command{
		Use:     "report RUN [BASELINE] --html FILE",
		Short:   "Write a page that shows a run",
		Long:    reportHelp,
		Example: reportExample,
		Args:    cli.Args("RUN", "[BASELINE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return cli.WithHint(fmt.Errorf("--html is missing"), "name the page to write: --html run.html")
			}
			f.opts.Align = trace.Align(f.align)
			run, baseline := input(s, args[0]), (*trace.Input)(nil)
			if len(args) == 2 {
				if args[0] == "-" && args[1] == "-" {
					return fmt.Errorf("standard input (-) can be one of the two traces, not both")
				}
				in := input(s, args[1])
				baseline = &in
			}
			return writeTo(s, file, func(w io.Writer) error {
				_, err := htmlreport.Write(cmd.Context(), w, run, baseline, &htmlreport.Options{Title: title, Diff: f.opts})
				return err
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&file, "html", "", "the page to write: `FILE`, or - for standard output")
	flags.StringVar(&title, "title", "", "title of the page")
	flags.StringVar(&f.align, "align", string(trace.AlignAuto), "pair calls by: auto, seq or call")
	flags.BoolVar(&f.opts.Unordered, "unordered", false, "pair by call; a call at another place is no difference")
	flags.BoolVar(&f.opts.Bytes, "bytes", false, "let the spelling of values and the order of keys count")
	flags.StringArrayVar(&f.opts.Ignore, "ignore", nil, "JSON `POINTER`, with * and **, of values to leave out (may be repeated)")
	addRun(cmd, &f.opts.Run, "last")
	choose(cmd, "align", "auto", "seq", "call")
	return cmd
}

// addRun adds --run.
func addRun(cmd *cobra.Command, run *string, def string) {
	cmd.Flags().StringVar(run, "run", def, "runs to take: `N` from 1, last or all")
	choose(cmd, "run", "last", "all")
}
