package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/trace"
	"github.com/anvil-sim/anvil/trace/expr"
)

const filterHelp = `Write the calls of traces that all conditions choose, each line byte for byte as
it stood. A condition takes several values, separated by commas; one of them must
hold.

--where takes a CEL expression. It sees the entry's keys under their names (seq,
tool, request, result, status, response, ...) and code, kind, principal, tenant,
method, path and write. A call without what the expression asks for is not
chosen; when that is so for every call, it is an error. One call may cost 20
million steps.

A tool or operation that no call has at all is an error, since it is likely
misspelled; tickets.delete* is none, whether such calls are there or not.

Exit codes: 0 done, also when no call is chosen; 2 could not run.`

const filterExample = `  anvil-trace filter run.jsonl --status 4xx,5xx
  anvil-trace filter run.jsonl --operation 'tickets.*' --where 'size(response.items) > 10'
  anvil-trace filter run.jsonl --kind mutation --count
  anvil-trace filter run.jsonl --code conflict --fields seq,request/path,response`

type filterFlags struct {
	sel           trace.Selector
	where         string
	invert, count bool
	fields        []string
	run           string
}

func newFilter(s cli.Streams) *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{
		Use:     "filter FILE...",
		Short:   "Choose calls of traces",
		Long:    filterHelp,
		Example: filterExample,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runFilter(cmd, s, &f, args) },
	}
	selectorFlags(cmd, &f.sel)
	flags := cmd.Flags()
	flags.StringVar(&f.where, "where", "", "CEL `EXPRESSION` over the entry")
	flags.BoolVar(&f.invert, "invert", false, "choose the other calls")
	flags.BoolVar(&f.count, "count", false, "write how many calls are chosen, not the calls")
	flags.StringSliceVar(&f.fields, "fields", nil, "write only these `FIELDS`, keys or paths such as request/path")
	flags.StringVar(&f.run, "run", "all", "runs to read: `N` from 1, last or all")
	choose(cmd, "run", "last", "all")
	return cmd
}

func selectorFlags(cmd *cobra.Command, sel *trace.Selector) {
	flags := cmd.Flags()
	flags.StringSliceVar(&sel.Tool, "tool", nil, "calls of these `TOOLS`, * stands for any text")
	flags.StringSliceVar(&sel.Operation, "operation", nil, "calls of these `OPERATIONS`, * stands for any text")
	flags.StringSliceVar(&sel.Status, "status", nil, "`STATUS` such as 409 or 4xx")
	flags.StringSliceVar(&sel.Code, "code", nil, "error `CODE` of the result; none is a success")
	flags.StringSliceVar(&sel.Kind, "kind", nil, "`KIND`: list, read or mutation")
	flags.StringSliceVar(&sel.Principal, "principal", nil, "`ID` of who called")
	flags.StringSliceVar(&sel.Tenant, "tenant", nil, "`ID` of the tenant")
	flags.StringSliceVar(&sel.Seq, "seq", nil, "numbers of calls: 7, `3-9` or 12-")
	choose(cmd, "kind", "list", "read", "mutation")
}

// A lenient expression chooses no call that lacks what it asks for, unless all
// calls do.
type lenient struct {
	prg      *expr.Program
	told     int // calls that it could tell of
	complain error
}

func compileWhere(source string) (*lenient, error) {
	env, err := expr.NewEnv()
	if err != nil {
		return nil, err
	}
	prg, err := env.CompileBool(source)
	if err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	return &lenient{prg: prg}, nil
}

func (l *lenient) holds(v *trace.View) (bool, error) {
	ok, err := l.prg.True(v)
	switch {
	case err == nil:
		l.told++
	case expr.Limited(err):
		return false, fmt.Errorf("--where: %w", err)
	case l.complain == nil:
		l.complain = err
	}
	return ok, nil
}

func (l *lenient) err() error {
	if l == nil || l.told > 0 || l.complain == nil {
		return nil
	}
	return cli.WithHint(fmt.Errorf("--where: no call has what it asks for: %w", l.complain), "guard with has(), or check the names")
}

func runFilter(cmd *cobra.Command, s cli.Streams, f *filterFlags, files []string) error {
	var where *lenient
	if f.where != "" {
		var err error
		if where, err = compileWhere(f.where); err != nil {
			return err
		}
		f.sel.Where = where.holds
	}
	filter, err := f.sel.Compile()
	if err != nil {
		return err
	}
	fields, err := pointers(f.fields)
	if err != nil {
		return err
	}
	out, n := bufio.NewWriterSize(s.Out, 256<<10), 0
	var buf []byte
	for _, file := range files {
		_, err := trace.Select(cmd.Context(), input(s, file), f.run, filter, f.invert, func(ln trace.Line, v *trace.View) error {
			n++
			switch {
			case f.count:
				return nil
			case fields == nil:
				out.Write(ln.Text)
			default:
				buf = project(buf[:0], v, f.fields, fields)
				out.Write(buf)
			}
			return out.WriteByte('\n')
		})
		if err != nil {
			out.Flush()
			return err
		}
	}
	if f.count {
		fmt.Fprintln(out, n)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the calls: %w", err)
	}
	if err := where.err(); err != nil {
		return err
	}
	return filter.Unknown()
}

// pointers are the JSON Pointers of fields: a key, or keys joined by slashes.
func pointers(fields []string) ([]string, error) {
	var out []string
	for _, f := range fields {
		p := "/" + strings.TrimPrefix(f, "/")
		if p == "/" || strings.HasSuffix(p, "/") {
			return nil, fmt.Errorf("--fields: found %q, want a key or a path such as request/path", f)
		}
		out = append(out, p)
	}
	return out, nil
}

// project writes the values of some fields, as they stand, as one object; what a
// call does not have is left out.
func project(dst []byte, v *trace.View, names, pointers []string) []byte {
	dst = append(dst, '{')
	for i, p := range pointers {
		val := v.Pointer(p)
		if val == nil {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, strings.TrimPrefix(names[i], "/")), ':')
		dst = append(dst, val...)
	}
	return append(dst, '}')
}
