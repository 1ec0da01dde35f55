package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/store"
)

// inspectOptions are the options of fixtures inspect and fixtures check.
type inspectOptions struct {
	streams  cli.Streams
	contract string
	source   sourceFlags
	mapFile  string
	match    string
	json     bool
}

func (o *inspectOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.contract, "contract", "", "bundle directory, its air.yaml or air.json, or an API description (default $ANVIL_CONTRACT; without one, the contract derived from the tables)")
	o.source.add(f)
	f.StringVar(&o.mapFile, "map", "", "YAML file that overrides what is mapped by rule")
	f.StringVar(&o.match, "match", "", "only operations whose id, or method and path, contain this text")
	f.BoolVar(&o.json, "json", false, "print JSON")
	_ = cmd.MarkFlagFilename("contract", "yaml", "json", "gz")
	_ = cmd.MarkFlagFilename("map", "yaml", "json")
}

func newFixturesInspect(s cli.Streams) *cobra.Command {
	o := &inspectOptions{streams: s}
	var schema bool
	cmd := &cobra.Command{
		Use:   "inspect DB",
		Short: "Show which table each operation reads and writes",
		Long: `Show which table each operation of a contract reads and writes: its id column,
filters, sort and body columns, and for every operation that has none the reason.`,
		Example: `  anvil-sim fixtures inspect app.sqlite --contract ./bundle
  anvil-sim fixtures inspect app.sqlite --contract ./bundle --map map.yaml --match issues
  anvil-sim fixtures inspect --map-schema > map.schema.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if schema {
				return cli.Args("[DB]")(cmd, args)
			}
			return cli.Args("DB")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema {
				_, err := io.WriteString(s.Out, store.MapSchema())
				return err
			}
			list, err := o.inspect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if o.json {
				return printMappingsJSON(s.Out, list)
			}
			return printMappings(s.Out, list, true)
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&schema, "map-schema", false, "print the JSON Schema of map files")
	return cmd
}

func newFixturesCheck(s cli.Streams) *cobra.Command {
	o := &inspectOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "check DB",
		Short: "Check that every operation has a table",
		Long: `Check that every operation of a contract has a table, and print those that have
none with the reason. The exit status is 1 when there is one.`,
		Example: `  anvil-sim fixtures check app.sqlite --contract ./bundle --map map.yaml`,
		Args:    cli.Args("DB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := o.inspect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			all := len(list)
			list = slices.DeleteFunc(list, func(m store.Mapping) bool { return m.Reason == "" })
			if o.json {
				err = printMappingsJSON(s.Out, list)
			} else {
				err = printMappings(s.Out, list, false)
			}
			if err == nil && len(list) > 0 {
				err = cli.Exit(cli.CodeNo, cli.WithHint(fmt.Errorf("%d of %d operations have no table", len(list), all),
					"--map FILE gives an operation a table or SQL of its own"))
			}
			return err
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *inspectOptions) inspect(ctx context.Context, file string) (list []store.Mapping, err error) {
	opts := &store.Options{Logf: tellOn(o.streams.Err)}
	contract, from := namedContract(o.streams, o.contract)
	if contract == "" {
		if err := o.source.refuse(""); err != nil {
			return nil, err
		}
	} else {
		if opts.Contract, err = o.source.load(contract, "all"); err != nil {
			return nil, contractError(contract, from, err)
		}
	}
	if o.mapFile != "" {
		if opts.Map, err = store.LoadMap(o.mapFile); err != nil {
			return nil, err
		}
	}
	db, err := store.Open(ctx, file, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	if list, err = db.Inspect(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(m store.Mapping) bool {
		return !strings.Contains(m.OperationID, o.match) && !strings.Contains(m.Method+" "+m.Path, o.match)
	}), nil
}

// printMappings prints a paragraph for each operation, those without a table
// last.
func printMappings(w io.Writer, list []store.Mapping, summary bool) error {
	var b strings.Builder
	mapped := 0
	for _, m := range list {
		if m.Reason != "" {
			continue
		}
		mapped++
		fmt.Fprintf(&b, "%s %s  (%s)\n", m.Method, m.Path, m.OperationID)
		fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(m.Does+" "+m.Table))
		line := func(name string, items []string) {
			if len(items) > 0 {
				fmt.Fprintf(&b, "  %-8s %s\n", name, strings.Join(items, ", "))
			}
		}
		line("key", boundTexts(m.Key))
		line("under", boundTexts(m.Parents))
		line("filters", boundTexts(m.Filters))
		if m.Does == "list" {
			line("order", m.Sort)
		}
		line("body", boundTexts(m.Body))
		line("fields", boundTexts(m.Fields))
		line("ignored", m.Ignored)
		line("absent", shortened(m.Absent))
	}
	for _, m := range list {
		if m.Reason != "" {
			fmt.Fprintf(&b, "%s %s  (%s)\n  no table: %s\n", m.Method, m.Path, m.OperationID, m.Reason)
		}
	}
	if summary {
		fmt.Fprintf(&b, "%d of %d operations have a table\n", mapped, len(list))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortened cuts a list that is long in real contracts.
func shortened(list []string) []string {
	const most = 12
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("%d more", len(list)-most))
}

func boundTexts(list []store.Bound) []string {
	out := make([]string, len(list))
	for i, b := range list {
		if out[i] = b.Name; b.Name != b.Column {
			out[i] += "=" + b.Column
		}
	}
	return out
}

func printMappingsJSON(w io.Writer, list []store.Mapping) error {
	elems := make([]*canon.Value, len(list))
	for i, m := range list {
		elems[i] = canon.NewObject(
			text("operationId", m.OperationID), text("method", m.Method), text("path", m.Path),
			text("does", m.Does), text("table", m.Table), text("reason", m.Reason),
			boundsJSON("key", m.Key), boundsJSON("under", m.Parents), boundsJSON("filters", m.Filters),
			textsJSON("sort", m.Sort), boundsJSON("body", m.Body), boundsJSON("fields", m.Fields),
			textsJSON("ignored", m.Ignored), textsJSON("absent", m.Absent))
	}
	_, err := w.Write(append(canon.NewArray(elems...).AppendJSON(nil), '\n'))
	return err
}

func text(key, s string) canon.Member {
	if s == "" {
		return canon.Member{Key: key}
	}
	return canon.Member{Key: key, Value: canon.NewString(s)}
}

func textsJSON(key string, list []string) canon.Member {
	if list == nil {
		return canon.Member{Key: key}
	}
	elems := make([]*canon.Value, len(list))
	for i, s := range list {
		elems[i] = canon.NewString(s)
	}
	return canon.Member{Key: key, Value: canon.NewArray(elems...)}
}

func boundsJSON(key string, list []store.Bound) canon.Member {
	if list == nil {
		return canon.Member{Key: key}
	}
	members := make([]canon.Member, len(list))
	for i, b := range list {
		members[i] = canon.Member{Key: b.Name, Value: canon.NewString(b.Column)}
	}
	return canon.Member{Key: key, Value: canon.NewObject(members...)}
}
