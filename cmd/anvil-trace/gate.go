package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/wholefile"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/output"
)

const gateHelp = `Compare a run with its golden trace. Rules beside the golden are read by
themselves: for tickets.jsonl the files tickets.diff.yaml (what may differ, see
docs/trace-diff.md) and tickets.rules.yaml (what must hold, see
docs/trace-rules.md), where they are there.

--update writes the run over the golden, canonically: one run, each line in its
one spelling. Read the change before committing it. With CI=true in the
environment it is refused.

Exit codes: 0 equal and all rules hold, 1 not so, 2 could not compare.`

func newGate(s cli.Streams) *cobra.Command {
	var f diffFlags
	var update bool
	cmd := &cobra.Command{
		Use:   "gate GOLDEN RUN",
		Short: "Compare a run with its golden trace",
		Long:  gateHelp,
		Example: `  anvil-trace gate testdata/tickets.jsonl run.jsonl
  anvil-trace gate testdata/tickets.jsonl run.jsonl --update
  anvil-trace gate testdata/tickets.jsonl run.jsonl --format github --report junit=gate.xml`,
		Args: cli.Args("GOLDEN", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if update {
				return updateGolden(cmd, s, &f, args[0], args[1])
			}
			return runGate(cmd, s, &f, args[0], args[1])
		},
	}
	f.flags(cmd)
	f.out.flags(cmd, diffFormats()...)
	cmd.Flags().BoolVar(&update, "update", false, "write the run over the golden")
	return cmd
}

// beside is a file that belongs to a golden: tickets.jsonl -> tickets.diff.yaml.
func beside(golden, suffix string) string {
	base := golden
	for _, ext := range []string{".gz", ".zst", ".jsonl", ".ndjson", ".json"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base + suffix
}

func runGate(cmd *cobra.Command, s cli.Streams, f *diffFlags, golden, run string) error {
	side := beside(golden, ".diff.yaml")
	if _, err := os.Stat(side); err == nil {
		f.rules = append(f.rules, side)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(golden); errors.Is(err, fs.ErrNotExist) {
		return cli.WithHint(fmt.Errorf("%s: the golden trace does not exist", golden), "make it with 'anvil-trace gate "+golden+" "+run+" --update'")
	}
	ruleFile := beside(golden, ".rules.yaml")
	_, err := os.Stat(ruleFile)
	judged := err == nil
	if !judged && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if judged && run == "-" {
		return cli.WithHint(fmt.Errorf("%s needs the run as a file, found standard input", ruleFile), "write the run to a file first")
	}
	report, err := compare(cmd, s, f, golden, run)
	if err != nil {
		return err
	}
	var res *output.Result
	if judged {
		if res, err = judge(cmd, s, f, ruleFile, run); err != nil {
			return err
		}
	}
	if err := writeDiff(s, &f.out, report, res); err != nil {
		return err
	}
	if !report.Equal() || res != nil && res.Failed() {
		return cli.Exit(cli.CodeNo, nil)
	}
	return nil
}

// judge applies the rules beside the golden.
func judge(cmd *cobra.Command, s cli.Streams, f *diffFlags, ruleFile, run string) (*output.Result, error) {
	set, err := (&assertFlags{files: []string{ruleFile}}).set(cmd)
	if err != nil {
		return nil, err
	}
	return set.Run(cmd.Context(), input(s, run), f.opts.Run)
}

func updateGolden(cmd *cobra.Command, s cli.Streams, f *diffFlags, golden, run string) error {
	if ci, ok := env(s, "CI"); ok && ci != "" && ci != "false" && ci != "0" {
		return cli.WithHint(fmt.Errorf("--update: CI is set to %q; a golden is updated where somebody reads the change", ci), "run this on your machine and commit the file")
	}
	if strings.HasSuffix(golden, ".gz") || strings.HasSuffix(golden, ".zst") || golden == "-" {
		return fmt.Errorf("--update: found %q, want a plain file: git shows what changed in one", golden)
	}
	if err := f.complete(); err != nil {
		return err
	}
	var text []byte
	n := 0
	_, err := trace.Each(cmd.Context(), input(s, run), f.opts.Run, func(ln trace.Line, v *trace.View) error {
		var err error
		if text, err = canonical(text, v.Text()); err != nil {
			return ln.Check()
		}
		n++
		return nil
	})
	if err != nil {
		return err
	}
	before, err := os.ReadFile(golden)
	if err == nil && bytes.Equal(before, text) {
		_, err := fmt.Fprintf(s.Out, "%s is up to date: %d call(s)\n", golden, n)
		return err
	}
	err = wholefile.Write(golden, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("--update: %w", err)
	}
	_, err = fmt.Fprintf(s.Out, "%s is written: %d call(s)\n", golden, n)
	return err
}

// canonical appends a line in its one spelling. It is idempotent.
func canonical(dst, line []byte) ([]byte, error) {
	dst, err := canon.AppendCompact(dst, line, canon.Strict)
	return append(dst, '\n'), err
}

func env(s cli.Streams, key string) (string, bool) {
	if s.Env == nil {
		return "", false
	}
	return s.Env(key)
}
