package assert

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// Init writes a first rule file that a good run passes: what was called how
// often, which errors came, in which order things were changed, and what it
// took.
func Init(ctx context.Context, in trace.Input, which string) (string, error) {
	g := &first{times: map[string]int{}, codes: map[string][]string{}}
	if _, err := trace.Assert(ctx, in, which, g); err != nil {
		return "", err
	}
	return g.text(in.Name), nil
}

// A first look collects what Init writes.
type first struct {
	times  map[string]int
	codes  map[string][]string // of an operation
	writes []string            // operations that changed something, in order, repeats left out
	calls  int
	pages  int
	bytes  int
}

// Call implements [trace.Check].
func (g *first) Call(_ trace.Line, v *trace.View) error {
	c := &call{View: v}
	g.calls++
	g.bytes += len(v.Get("response"))
	if v.Kind() == "list" {
		g.pages++
	}
	op := v.Operation()
	if op != "" {
		g.times[op]++
	}
	if failedCall(c) {
		if code := v.Code(); !slices.Contains(g.codes[op], code) {
			g.codes[op] = append(g.codes[op], code)
		}
		return nil
	}
	if op != "" && v.Write() && !slices.Contains(g.writes, op) && len(g.writes) < 64 {
		g.writes = append(g.writes, op)
	}
	return nil
}

// End implements [trace.Check].
func (g *first) End() error { return nil }

func quote(s string) string { return string(canon.AppendString(nil, s)) }

func quoteList(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, quote(s))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (g *first) text(name string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What %s did, as rules. Loosen what may differ, and say more where it matters.\nschema: %s\nrules:\n", trace.Clean(name), Schema)
	for _, op := range slices.Sorted(maps.Keys(g.times)) {
		fmt.Fprintf(&b, "  - {count: {operation: %s}, exactly: %d}\n", quote(op), g.times[op])
	}
	if len(g.times) > 0 {
		fmt.Fprintf(&b, "  - {coverage: %s}\n", quoteList(slices.Sorted(maps.Keys(g.times))))
	}
	b.WriteString("  - no_errors: true\n")
	for i, op := range slices.Sorted(maps.Keys(g.codes)) {
		if i == 0 {
			b.WriteString("    except:\n")
		}
		which := "operation: " + quote(op)
		if op == "" {
			which = `where: "operationId == null"`
		}
		codes := slices.Sorted(slices.Values(g.codes[op]))
		if slices.Contains(codes, "") {
			fmt.Fprintf(&b, "      - {%s}\n", which)
		} else {
			fmt.Fprintf(&b, "      - {%s, code: %s}\n", which, quoteList(codes))
		}
	}
	if len(g.writes) > 1 {
		b.WriteString("  - sequence:\n")
		for _, op := range g.writes {
			fmt.Fprintf(&b, "      - {operation: %s}\n", quote(op))
		}
	}
	fmt.Fprintf(&b, "  - {budget: {calls: %d, pages: %d, bytes: %d}}\n", g.calls, g.pages, g.bytes)
	return b.String()
}
