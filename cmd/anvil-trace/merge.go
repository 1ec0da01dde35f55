package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace/arrange"
)

const mergeHelp = `Merge the traces of several servers into one. Each call gets a new seq and, at its
end, the key "source" with the server's name and the seq it had there; 'split --by
source' gives the traces back, byte for byte.

A trace records no clock, so the order between servers is made up, always in the
same way: the lowest seq first, of equal ones the server named first. Calls of one
server keep their order. First runs are merged with first runs, and so on.

A server is called as its file is without .jsonl, .gz and .zst, or as NAME=FILE
says. One FILE may be "-" for standard input.

Exit codes: 0 written, 2 could not.`

const mergeExample = `  anvil-trace merge shop.jsonl bank.jsonl --out both.jsonl
  anvil-trace merge shop=a/calls.jsonl bank=b/calls.jsonl | anvil-trace show -`

func newMerge(s cli.Streams) *cobra.Command {
	var run, out string
	cmd := &cobra.Command{
		Use:     "merge [NAME=]FILE [NAME=]FILE...",
		Short:   "Merge the traces of several servers",
		Long:    mergeHelp,
		Example: mergeExample,
		Args:    cli.Args("[NAME=]FILE..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, err := mergeSources(s, args)
			if err != nil {
				return err
			}
			return writeTo(s, out, func(w io.Writer) error { return arrange.Merge(cmd.Context(), w, run, sources...) })
		},
	}
	addOut(cmd, &out)
	addRun(cmd, &run, "all")
	return cmd
}

func mergeSources(s cli.Streams, args []string) (sources []arrange.Source, err error) {
	stdin := 0
	for _, arg := range args {
		name, file, named := strings.Cut(arg, "=")
		if !named || strings.ContainsRune(name, filepath.Separator) {
			name, file = serverName(arg), arg
		}
		if file == "-" {
			stdin++
		}
		sources = append(sources, arrange.Source{Name: name, Input: input(s, file)})
	}
	if stdin > 1 {
		return nil, fmt.Errorf("standard input (-) can be one of the traces, found it %d times", stdin)
	}
	return sources, nil
}

// serverName is what a trace file calls its server.
func serverName(file string) string {
	if file == "-" {
		return "stdin"
	}
	name := filepath.Base(file)
	for _, ext := range []string{".gz", ".zst", ".jsonl"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}
