package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/output"
	"github.com/anvil-sim/anvil/trace/rules"
)

const diffHelp = `Compare the calls of two traces. BASELINE is what is expected, OTHER what is
judged; "-" is standard input, and .gz and .zst content is decompressed.

Values count, not their spelling: 1.0 equals 1, and the order of keys in an
object does not matter. --bytes makes both count.

Calls are paired by seq while each pair asks the same, otherwise by what they ask
(tool, method, path, query and body), so that inserted, missing and moved calls
are told apart. A trace that holds several runs is compared by its last one.

--ignore takes a JSON Pointer into the entry; * stands for one segment and ** for
any number of them. --only leaves everything else out. --tolerance lets numbers
part a little. --rename NAMES pairs values that differ in every run but keep their
identity: ids, tokens, cursors, times, or a JSON Pointer; one renaming that holds
in the whole run is no difference. --rules reads all of these from a file, each
with its reason. What they hide is counted in the report.

--format: text; json (a finding a line); patch (RFC 6902, over the run as an
array of entries); unified; github (annotations); junit; sarif; tap; markdown.
--report writes further formats to files.

Exit codes: 0 equal, 1 different, 2 could not compare (an input that is missing,
empty, cut or no trace is never "equal").`

const diffExample = `  anvil-trace diff golden.jsonl run.jsonl
  anvil-trace diff golden.jsonl run.jsonl --ignore '/provider/meta/**' --ignore '/response/items/*/updated_at'
  anvil-trace diff --unordered golden.jsonl.gz run.jsonl
  anvil-trace diff --run 1 calls.jsonl calls-after.jsonl
  anvil-trace diff golden.jsonl run.jsonl --rename ids --rename times --tolerance /response/score=0.01
  anvil-trace diff golden.jsonl run.jsonl --rules golden.rules.yaml --report junit=result.xml
  zcat run.jsonl.gz | anvil-trace diff golden.jsonl - --format json`

type diffFlags struct {
	opts      trace.DiffOptions
	align     string
	tolerance []string
	rules     []string
	out       reports
	max       int
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
	f.flags(cmd)
	f.out.flags(cmd, diffFormats()...)
	return cmd
}

// diffFormats are the outputs of a comparison.
func diffFormats() []string {
	return append([]string{"text", "json", "patch", "unified"}, output.Formats()...)
}

func (f *diffFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.align, "align", string(trace.AlignAuto), "pair calls by: auto, seq or call")
	flags.BoolVar(&f.opts.Unordered, "unordered", false, "pair by call; a call at another place is no difference")
	flags.BoolVar(&f.opts.Bytes, "bytes", false, "let the spelling of values and the order of keys count")
	flags.StringArrayVar(&f.opts.Ignore, "ignore", nil, "JSON `POINTER`, with * and **, of values to leave out (may be repeated)")
	flags.StringVar(&f.opts.Run, "run", "last", "runs to compare: `N` from 1, last or all")
	flags.IntVar(&f.max, "max", 100, "findings to show, 0 for all")
	choose(cmd, "align", "auto", "seq", "call")
	flags.StringArrayVar(&f.opts.Only, "only", nil, "JSON `POINTER`, with * and **: leave out everything else (may be repeated)")
	flags.StringArrayVar(&f.tolerance, "tolerance", nil, "how far numbers may part: `[POINTER=]AMOUNT`, 0.01 or 5% (may be repeated)")
	flags.StringArrayVar(&f.opts.Rename, "rename", nil, "`NAMES` that may differ consistently: ids, tokens, cursors, times or a JSON Pointer (may be repeated)")
	flags.StringArrayVar(&f.rules, "rules", nil, "read ignore, only, tolerance and rename from a `FILE` (may be repeated)")
	choose(cmd, "run", "last", "all")
}

// choose tells the shell's completion which values an option takes.
func choose(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the option is not defined: a mistake in this file
	}
}

func runDiff(cmd *cobra.Command, s cli.Streams, f *diffFlags, baseline, other string) error {
	report, err := compare(cmd, s, f, baseline, other)
	if err != nil {
		return err
	}
	if err := writeDiff(s, &f.out, report, nil); err != nil {
		return err
	}
	if !report.Equal() {
		return cli.Exit(cli.CodeNo, nil)
	}
	return nil
}

// compare checks the options and compares.
func compare(cmd *cobra.Command, s cli.Streams, f *diffFlags, baseline, other string) (*trace.Report, error) {
	if err := f.complete(); err != nil {
		return nil, err
	}
	if baseline == "-" && other == "-" {
		return nil, fmt.Errorf("standard input (-) can be one of the two traces, not both")
	}
	return trace.Diff(cmd.Context(), input(s, baseline), input(s, other), &f.opts)
}

// complete reads the options that need reading.
func (f *diffFlags) complete() error {
	if err := f.out.check(); err != nil {
		return err
	}
	if f.max < 0 {
		return fmt.Errorf("--max: found %d, want a number from 0", f.max)
	}
	if f.opts.Max = f.max; f.max == 0 {
		f.opts.Max = -1
	}
	f.opts.Align = trace.Align(f.align)
	for _, text := range f.tolerance {
		t, err := trace.ParseTolerance(text)
		if err != nil {
			return err
		}
		f.opts.Tolerance = append(f.opts.Tolerance, t)
	}
	for _, file := range f.rules {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("--rules: %w", err)
		}
		if err := rules.ReadDiff(file, data, &f.opts); err != nil {
			return err
		}
	}
	if f.out.wants("patch") && (f.opts.Run == "all" || f.opts.Unordered) {
		return fmt.Errorf("--format patch: a patch is of one run in order, found --run all or --unordered")
	}
	if f.out.wants("patch", "unified") {
		f.opts.Lines = true
	}
	if f.out.wants("patch") {
		f.opts.Max = -1
	}
	return nil
}

// writeDiff writes the verdict of a comparison, and that of rules beside it
// where there is one: after it, or as more cases. A patch is of the comparison.
func writeDiff(s cli.Streams, out *reports, report *trace.Report, judged *output.Result) error {
	return out.write(s, func(w io.Writer, format string, color bool) error {
		switch format {
		case "text":
			if err := report.WriteText(w, color); err != nil || judged == nil {
				return err
			}
			return output.WriteText(w, judged, color)
		case "json":
			if err := report.WriteJSON(w); err != nil || judged == nil {
				return err
			}
			return output.WriteJSON(w, judged)
		case "patch":
			return output.WritePatch(w, report)
		case "unified":
			return output.WriteUnified(w, report)
		}
		return output.Write(w, format, output.FromReport(report).With(judged))
	})
}

func input(s cli.Streams, name string) trace.Input {
	if name == "-" {
		return trace.Input{Name: name, Reader: s.In}
	}
	return trace.Input{Name: name}
}
