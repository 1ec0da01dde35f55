package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace"
)

const diffHelp = `Compare the calls of two traces. BASELINE is what is expected, OTHER what is
judged; "-" is standard input, and .gz and .zst content is decompressed.

Values count, not their spelling: 1.0 equals 1, and the order of keys in an
object does not matter. --bytes makes both count.

Calls are paired by seq while each pair asks the same, otherwise by what they ask
(tool, method, path, query and body), so that inserted, missing and moved calls
are told apart. A trace that holds several runs is compared by its last one.

--ignore takes a JSON Pointer into the entry; * stands for one segment and ** for
any number of them. What it hides is counted in the report.

Exit codes: 0 equal, 1 different, 2 could not compare (an input that is missing,
empty, cut or no trace is never "equal").`

const diffExample = `  anvil-trace diff golden.jsonl run.jsonl
  anvil-trace diff golden.jsonl run.jsonl --ignore '/provider/meta/**' --ignore '/response/items/*/updated_at'
  anvil-trace diff --unordered golden.jsonl.gz run.jsonl
  anvil-trace diff --run 1 calls.jsonl calls-after.jsonl
  zcat run.jsonl.gz | anvil-trace diff golden.jsonl - --format json`

type diffFlags struct {
	opts   trace.DiffOptions
	align  string
	format string
	max    int
}

func newDiff(s cli.Streams) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:     "diff BASELINE OTHER",
		Short:   "Compare two traces",
		Long:    diffHelp,
		Example: diffExample,
		Args:    cli.Args("BASELINE", "OTHER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDiff(cmd, s, &f, args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.align, "align", string(trace.AlignAuto), "pair calls by: auto, seq or call")
	flags.BoolVar(&f.opts.Unordered, "unordered", false, "pair by call; a call at another place is no difference")
	flags.BoolVar(&f.opts.Bytes, "bytes", false, "let the spelling of values and the order of keys count")
	flags.StringArrayVar(&f.opts.Ignore, "ignore", nil, "JSON `POINTER`, with * and **, of values to leave out (may be repeated)")
	flags.StringVar(&f.opts.Run, "run", "last", "runs to compare: `N` from 1, last or all")
	flags.IntVar(&f.max, "max", 100, "findings to show, 0 for all")
	flags.StringVar(&f.format, "format", "text", "output: text or json (a finding a line)")
	choose(cmd, "align", "auto", "seq", "call")
	choose(cmd, "format", "text", "json")
	choose(cmd, "run", "last", "all")
	return cmd
}

// choose tells the shell's completion which values an option takes.
func choose(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the option is not defined: a mistake in this file
	}
}

func runDiff(cmd *cobra.Command, s cli.Streams, f *diffFlags, baseline, other string) error {
	if f.format != "text" && f.format != "json" {
		return cli.WithHint(fmt.Errorf("--format: found %q, want text or json", f.format), cli.DidYouMean(f.format, []string{"text", "json"}))
	}
	if f.max < 0 {
		return fmt.Errorf("--max: found %d, want a number from 0", f.max)
	}
	if baseline == "-" && other == "-" {
		return fmt.Errorf("standard input (-) can be one of the two traces, not both")
	}
	if f.opts.Max = f.max; f.max == 0 {
		f.opts.Max = -1
	}
	f.opts.Align = trace.Align(f.align)
	report, err := trace.Diff(cmd.Context(), input(s, baseline), input(s, other), &f.opts)
	if err != nil {
		return err
	}
	if f.format == "json" {
		err = report.WriteJSON(s.Out)
	} else {
		err = report.WriteText(s.Out, s.Color(s.Out))
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if !report.Equal() {
		return cli.Exit(cli.CodeNo, nil)
	}
	return nil
}

func input(s cli.Streams, name string) trace.Input {
	if name == "-" {
		return trace.Input{Name: name, Reader: s.In}
	}
	return trace.Input{Name: name}
}
