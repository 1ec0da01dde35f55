package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/recorder/vcr"
	"github.com/anvil-sim/anvil/replayer/tape"
)

func newCassetteSort(s cli.Streams) *cobra.Command {
	o := &editOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "sort FILE...",
		Short: "Put the interactions of recordings in canonical order",
		Long: `Put the interactions of recordings in canonical order, each file in its place and
whole or not at all: the order that a recorder leaves at a clean end, so that a
recording of parallel calls, or one that was killed, makes a quiet diff.

Interactions are sorted by path, method, query and body, as far as that leaves
effects behind their causes: a read stays behind the writes before it to its
resource, its collection or its members, and equal requests keep their order.
Placeholders of secrets are numbered anew. The entries keep their bytes.

Provider recordings and call traces are in the order of their calls and are left
as they are.`,
		Example: `  anvil-sim cassette sort tape.yaml
  anvil-sim cassette sort tapes/
  anvil-sim cassette sort tape.yaml -o sorted.yaml`,
		Args: cli.Args("FILE", "[FILE...]"),
		RunE: func(_ *cobra.Command, args []string) error { return o.each(args, o.sort) },
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *editOptions) sort(path string, data []byte) ([]byte, error) {
	p, err := tape.Cut(path, data)
	if err != nil {
		return nil, err
	}
	if f := p.Tape.Format; f == tape.Provider || f == tape.Trace {
		fmt.Fprintf(o.streams.Err, "anvil-sim: %s: a %s is in the order of its calls and stays so\n", path, f)
		return data, nil
	}
	order := canonicalOrder(p)
	text, err := p.Select(order)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out bytes.Buffer
	n := vcr.NewNumberer(&out)
	if _, err := n.Write(text); err != nil {
		return nil, err
	}
	if err := n.Flush(); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.streams.Err, "anvil-sim: %s: %d of %d interaction(s) moved\n", path, moves(order), p.Len())
	return out.Bytes(), nil
}

// canonicalOrder are the positions of a recording in the recorder's order. Entries
// that cannot be replayed stay in the end.
func canonicalOrder(p *tape.Pieces) []int {
	var list []*vcr.Interaction
	var at []int
	known := make([]bool, p.Len())
	for _, it := range p.Tape.Interactions {
		known[it.Position] = true
		at = append(at, it.Position)
		list = append(list, &vcr.Interaction{Request: vcr.Request{Method: it.Request.Method, URL: it.Request.URL, Body: vcr.Bytes(it.Request.Body)}})
	}
	var order []int
	for _, i := range vcr.Order(list) {
		order = append(order, at[i])
	}
	for i, ok := range known {
		if !ok {
			order = append(order, i)
		}
	}
	return order
}

// moves is how many entries change their place among the others: all but those of
// the longest ascending row of positions.
func moves(order []int) int {
	var ends []int // the lowest end of an ascending row of each length
	for _, at := range order {
		i, _ := slices.BinarySearch(ends, at)
		if i == len(ends) {
			ends = append(ends, at)
		} else {
			ends[i] = at
		}
	}
	return len(order) - len(ends)
}
