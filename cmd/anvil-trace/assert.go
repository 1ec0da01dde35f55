package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace/assert"
	"github.com/anvil-sim/anvil/trace/output"
)

const assertHelp = `Judge a run by rules. -f names a rule file (see docs/trace-rules.md), --pack a
built-in set of rules; both may stand together and be repeated.

--init writes a first rule file from a good run instead.

Rules about a contract's operations need --contract, rules about the state
--state (what 'anvil-sim fixtures digest' printed) or --state-diff (a file with
what 'anvil-sim fixtures diff --json' printed).

Exit codes: 0 all rules hold, 1 some do not, 2 could not judge (a bad rule file,
a trace that is missing, empty or cut).`

const assertExample = `  anvil-trace assert --init golden.jsonl > rules.yaml
  anvil-trace assert -f rules.yaml run.jsonl
  anvil-trace assert -f rules.yaml --pack client run.jsonl --report junit=result.xml
  anvil-trace assert --pack client --at-most-changed tickets --state-diff diff.json run.jsonl`

type assertFlags struct {
	files, packs, changed []string
	init                  bool
	contract, state, diff string
	run                   string
	out                   reports
}

func newAssert(s cli.Streams) *cobra.Command {
	var f assertFlags
	cmd := &cobra.Command{
		Use:     "assert RUN",
		Short:   "Judge a run by rules",
		Long:    assertHelp,
		Example: assertExample,
		Args:    cli.Args("RUN"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runAssert(cmd, s, &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "file", "f", nil, "`FILE` of rules (may be repeated)")
	flags.StringArrayVar(&f.packs, "pack", nil, "built-in `RULES`: client (may be repeated)")
	flags.BoolVar(&f.init, "init", false, "write a rule file that the run passes")
	flags.StringVar(&f.contract, "contract", "", "contract whose operations 'coverage: contract' means: a `PATH` of a bundle or file")
	flags.StringVar(&f.state, "state", "", "`DIGEST` of the state after the run")
	flags.StringVar(&f.diff, "state-diff", "", "`FILE` with what the run changed in the state")
	flags.StringSliceVar(&f.changed, "at-most-changed", nil, "`TABLES` that may have changed, and no other")
	flags.StringVar(&f.run, "run", "last", "run to judge: `N` from 1, last or all")
	f.out.flags(cmd, append([]string{"text", "json"}, output.Formats()...)...)
	choose(cmd, "pack", assert.Packs()...)
	choose(cmd, "run", "last", "all")
	return cmd
}

func runAssert(cmd *cobra.Command, s cli.Streams, f *assertFlags, run string) error {
	if f.init {
		text, err := assert.Init(cmd.Context(), input(s, run), f.run)
		if err == nil {
			_, err = io.WriteString(s.Out, text)
		}
		return err
	}
	if err := f.out.check(); err != nil {
		return err
	}
	set, err := f.set(cmd)
	if err != nil {
		return err
	}
	if set.Len() == 0 {
		return cli.WithHint(fmt.Errorf("no rule is given"), "give -f FILE or --pack client; --init writes a first file")
	}
	res, err := set.Run(cmd.Context(), input(s, run), f.run)
	if err != nil {
		return err
	}
	return writeResult(s, &f.out, res)
}

func (f *assertFlags) set(cmd *cobra.Command) (*assert.Set, error) {
	facts := assert.Facts{State: f.state}
	if f.contract != "" {
		doc, err := air.Load(f.contract)
		if err != nil {
			return nil, fmt.Errorf("--contract: %w", err)
		}
		for _, op := range doc.Operations {
			facts.Operations = append(facts.Operations, op.ID)
			facts.Tools = append(facts.Tools, op.ToolName)
		}
	}
	if f.diff != "" {
		data, err := os.ReadFile(f.diff)
		if err == nil {
			facts.Changed, err = assert.ReadStateDiff(data)
		}
		if err != nil {
			return nil, fmt.Errorf("--state-diff: %w", err)
		}
	}
	set, err := assert.New(facts)
	if err != nil {
		return nil, err
	}
	for _, file := range f.files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("-f: %w", err)
		}
		if err := set.Read(file, data); err != nil {
			return nil, err
		}
	}
	for _, p := range f.packs {
		if err := set.AddPack(p); err != nil {
			return nil, cli.WithHint(fmt.Errorf("--pack: %w", err), cli.DidYouMean(p, assert.Packs()))
		}
	}
	if cmd.Flags().Changed("at-most-changed") {
		if facts.Changed == nil {
			return nil, cli.WithHint(fmt.Errorf("--at-most-changed needs --state-diff FILE"), "write it with 'anvil-sim fixtures diff --json'")
		}
		set.AtMostChanged(slices.DeleteFunc(f.changed, func(t string) bool { return t == "" }))
	}
	return set, nil
}

func writeResult(s cli.Streams, out *reports, res *output.Result) error {
	err := out.write(s, func(w io.Writer, format string, color bool) error {
		switch format {
		case "text":
			return output.WriteText(w, res, color)
		case "json":
			return output.WriteJSON(w, res)
		}
		return output.Write(w, format, res)
	})
	if err == nil && res.Failed() {
		return cli.Exit(cli.CodeNo, nil)
	}
	return err
}
