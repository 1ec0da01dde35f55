package main

import (
	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
)

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "anvil-sim",
		Short: "Serve an API contract over HTTP as if it were the API",
		Long: `anvil-sim serves an API contract over HTTP as if it were the API: routes, auth
scopes, idempotency and replay, paging, faults and error shapes. Its state comes
from a provider: a fixture database, or any program that answers one JSON line a
request. The same calls give the same bytes.`,
		Example: `  anvil-sim serve                                     # the built-in demo
  anvil-sim serve --fixtures app.sqlite               # any SQLite file as an API
  anvil-sim serve --contract openapi.yaml --approve all   # a description as it is
  anvil-sim serve --contract ./bundle --provider-cmd "python provider.py"
  anvil-sim serve --contract ./bundle --trace calls.jsonl -- pytest -q`,
	}
	root.AddCommand(newServe(s), newReplay(s), newRecord(s), newCassette(s), newProvider(s), newFixtures(s), newSimulate(s),
		newCompile(s), newApprove(s), newInspect(s), newLint(s), newDrift(s))
	return root
}

// newSimulate is the group under which the specification's examples call serve.
func newSimulate(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "simulate", Short: "Same as the commands without it", Hidden: true}
	cmd.AddCommand(newServe(s))
	return cmd
}
