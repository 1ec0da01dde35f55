package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
)

func newInspect(s cli.Streams) *cobra.Command {
	var ids []string
	var unserved, asJSON bool
	var source sourceFlags
	cmd := &cobra.Command{
		Use:   "inspect CONTRACT",
		Short: "Show the operations of a contract and why some are not served",
		Long: `Show the operations of a contract: a bundle, an air.yaml or air.json, or an API
description, which is compiled in memory. --operation tells all about some of them.`,
		Example: `  anvil-sim inspect ./bundle
  anvil-sim inspect openapi.yaml --unserved
  anvil-sim inspect ./bundle --operation petstore.add_pet`,
		Args: cli.Args("CONTRACT"),
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := source.load(args[0], "none")
			if err != nil {
				return err
			}
			ids, err := compile.FindOperations(doc.Tree().Get("operations").Elems(), ids)
			if err != nil {
				return err
			}
			rows := chooseRows(compile.Inspect(doc), ids, unserved)
			switch {
			case asJSON:
				return printRowsJSON(s, rows)
			case len(ids) > 0:
				return s.Print(func(w io.Writer) { printDetails(w, doc, rows) })
			}
			return printRows(s, doc, rows)
		},
	}
	f := cmd.Flags()
	source.add(f)
	f.StringArrayVar(&ids, "operation", nil, "id or operationId of an operation to tell all about; may be repeated")
	f.BoolVar(&unserved, "unserved", false, "only operations that are not served")
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func chooseRows(rows []compile.Row, ids []string, unserved bool) []compile.Row {
	return slices.DeleteFunc(rows, func(r compile.Row) bool {
		return unserved && r.Served || len(ids) > 0 && !slices.Contains(ids, r.ID)
	})
}

func printRows(s cli.Streams, doc *air.Document, rows []compile.Row) error {
	served := 0
	for _, r := range rows {
		if r.Served {
			served++
		}
	}
	fmt.Fprintf(s.Out, "service %s %s: %s shown, %d of them served\n", doc.Service.ID, doc.Service.Version, plural.Of(len(rows), "operation"), served)
	w := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tMETHOD\tPATH\tSTATE\tEFFECT\tRISK\tREPEATS\tPAGING\tAUTH\tNOT SERVED BECAUSE")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s %s %s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Method, r.Path, r.State, r.Effect, r.Action, r.Resource,
			r.Risk, r.Idempotency, dash(r.Paging), r.Auth, dash(r.Why))
	}
	return w.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// printDetails prints operations whole, with the diagnostics about each.
func printDetails(w io.Writer, doc *air.Document, rows []compile.Row) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s\n  %s %s\n  state: %s\n  effect: %s %s of %s, risk %s\n  repeats: %s\n  paging: %s\n  auth: %s\n",
			r.ID, r.Method, r.Path, r.State, r.Effect, r.Action, r.Resource, r.Risk, r.Idempotency, dash(r.Paging), r.Auth)
		if !r.Served {
			fmt.Fprintf(w, "  not served: %s\n", r.Why)
		}
		for _, n := range r.Notes {
			fmt.Fprintf(w, "  note: %s\n", n)
		}
		for _, d := range doc.Tree().Get("diagnostics").Elems() {
			if d.Get("operationId").Text() == r.ID {
				fmt.Fprintf(w, "  %s %s: %s\n", d.Get("level").Text(), d.Get("code").Text(), d.Get("message").Text())
			}
		}
	}
}

func printRowsJSON(s cli.Streams, rows []compile.Row) error {
	enc := json.NewEncoder(s.Out)
	enc.SetEscapeHTML(false)
	for _, r := range rows {
		if err := enc.Encode(map[string]any{
			"id": r.ID, "method": r.Method, "path": r.Path, "state": r.State, "effect": r.Effect, "action": r.Action, "resource": r.Resource,
			"risk": r.Risk, "idempotency": r.Idempotency, "paging": r.Paging, "auth": r.Auth, "served": r.Served, "why": r.Why,
		}); err != nil {
			return err
		}
	}
	return nil
}
