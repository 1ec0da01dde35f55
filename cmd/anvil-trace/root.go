package main

import (
	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
)

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "anvil-trace",
		Short: "Compare, judge and show call traces",
		Long: `anvil-trace turns call traces, which 'anvil-sim serve --trace FILE' writes, into
a verdict: text or a page that a person reads, and an exit code that CI takes.

Exit codes: 0 fine, 1 the answer is no (the traces differ), 2 it could not run.`,
		Example: `  anvil-trace diff golden.jsonl run.jsonl
  anvil-trace diff golden.jsonl run.jsonl --ignore '/provider/meta/**'
  anvil-trace gate golden.jsonl run.jsonl --report junit=gate.xml
  anvil-trace assert -f rules.yaml --pack client run.jsonl
  anvil-trace filter run.jsonl --status 4xx,5xx
  anvil-trace show run.jsonl --seq 3
  anvil-trace report run.jsonl golden.jsonl --html run.html`,
	}
	root.AddCommand(newDiff(s), newFilter(s), newAssert(s), newGate(s), newGitTextconv(s), newGitDiff(s),
		newMerge(s), newRedact(s), newReport(s), newShow(s), newSort(s), newSplit(s), newStats(s))
	return root
}
