package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/output"
)

func newGitTextconv(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "git-textconv FILE",
		Short: "Spread a trace over lines, for git diff",
		Long: `Write each entry over indented lines under a line that names the call, so that
git shows what changed in a recorded trace.`,
		Example: `  echo '*.jsonl diff=anvil-trace' >> .gitattributes
  git config diff.anvil-trace.textconv 'anvil-trace git-textconv'`,
		Args: cli.Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(s.Out)
			_, err := trace.Each(cmd.Context(), input(s, args[0]), "all", func(ln trace.Line, v *trace.View) error {
				text, err := output.Spread(v.Text())
				if err != nil {
					return ln.Check()
				}
				_, err = fmt.Fprintf(out, "# %s\n%s", v.Describe(), text)
				return err
			})
			if err != nil {
				return err
			}
			return out.Flush()
		},
	}
}

func newGitDiff(s cli.Streams) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "git-diff PATH OLD-FILE OLD-HEX OLD-MODE NEW-FILE NEW-HEX NEW-MODE",
		Short: "Compare as git's external diff",
		Long: `Compare two versions of a trace as git calls an external diff. The exit code is 0
when the comparison could be made, as git wants it.`,
		Example: `  echo '*.jsonl diff=anvil-trace' >> .gitattributes
  git config diff.anvil-trace.command 'anvil-trace git-diff'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 7 && len(args) != 9 {
				return fmt.Errorf("git calls this with 7 arguments (9 for a rename), found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return gitDiff(cmd, s, &f, args) },
	}
	f.flags(cmd)
	f.out.flags(cmd, diffFormats()...)
	return cmd
}

func gitDiff(cmd *cobra.Command, s cli.Streams, f *diffFlags, args []string) error {
	if err := f.complete(); err != nil {
		return err
	}
	sides := [2]trace.Input{}
	for i, file := range []string{args[1], args[4]} {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if len(strings.TrimSpace(string(data))) == 0 {
			what := map[int]string{0: "new trace", 1: "trace removed or emptied"}[i]
			_, err := fmt.Fprintf(s.Out, "%s: %s\n", trace.Clean(args[0]), what)
			return err
		}
		sides[i] = trace.Input{Name: []string{"a/", "b/"}[i] + args[0], Reader: strings.NewReader(string(data))}
	}
	report, err := trace.Diff(cmd.Context(), sides[0], sides[1], &f.opts)
	if err != nil {
		_, err = io.WriteString(s.Out, trace.Clean(fmt.Sprintf("%s: cannot be compared as traces: %s", args[0], cli.Text(err)))+"\n")
		return err
	}
	return writeDiff(s, &f.out, report, nil)
}
