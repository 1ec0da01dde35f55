package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/redact"
)

const redactHelp = `Write a trace with values taken out by rule. Each different value gets a placeholder
of its own, "[redacted 1]" and so on by first appearance, which is the same at all
its places: calls still belong together, and two redacted runs still compare.

--path takes a JSON Pointer into the entry; * stands for one segment and ** for any
number of them. --header takes a header or cookie name in any case, and looks where
an entry has headers. --rules takes a YAML file with the lists paths and headers.

What else the trace says stays byte for byte: a value that also stands in a path, a
query or a message needs a rule there, or --everywhere (everywhere: true in the
file). That takes out what the rules find wherever else it stands, in keys and in
parts of longer texts too, when it is a text or number of eight bytes or more. What each rule took out is said on standard
error. schema and seq are never taken out, null says nothing and stays.

A file that --out names appears whole or not at all, and may be RUN itself.

Exit codes: 0 written, 2 could not.`

const redactExample = `  anvil-trace redact run.jsonl --path '/**/email' --header X-Api-Key --out shared.jsonl
  anvil-trace redact run.jsonl --header Authorization --everywhere --out shared.jsonl
  anvil-trace redact run.jsonl --rules redact.yaml > shared.jsonl`

type redactFlags struct {
	rules    redact.Rules
	file     string
	out, run string
}

func newRedact(s cli.Streams) *cobra.Command {
	var f redactFlags
	cmd := &cobra.Command{
		Use:     "redact RUN",
		Short:   "Take values out of a trace by rule",
		Long:    redactHelp,
		Example: redactExample,
		Args:    cli.Args("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRedact(cmd, s, &f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.rules.Paths, "path", nil, "JSON `POINTER`, with * and **, of values to take out (may be repeated)")
	flags.StringArrayVar(&f.rules.Headers, "header", nil, "`NAME` of a header or cookie to take out (may be repeated)")
	flags.BoolVar(&f.rules.Everywhere, "everywhere", false, "take what the rules find out of other values, keys and longer texts too")
	flags.StringVar(&f.file, "rules", "", "YAML `FILE` with the lists paths and headers")
	addOut(cmd, &f.out)
	addRun(cmd, &f.run, "all")
	return cmd
}

func runRedact(cmd *cobra.Command, s cli.Streams, f *redactFlags, file string) error {
	rules := f.rules
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return fmt.Errorf("--rules: %w", err)
		}
		more, err := redact.ParseRules(f.file, text)
		if err != nil {
			return err
		}
		rules.Paths = append(more.Paths, rules.Paths...)
		rules.Headers = append(more.Headers, rules.Headers...)
		rules.Everywhere = rules.Everywhere || more.Everywhere
	}
	var counts []redact.Count
	err := writeTo(s, f.out, func(w io.Writer) (err error) {
		counts, err = redact.Copy(cmd.Context(), w, input(s, file), f.run, rules)
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range counts {
		fmt.Fprintf(s.Err, "redacted: %d value(s) by %s\n", c.Values, trace.Clean(c.Rule))
	}
	return nil
}
