package assert

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// Init writes a first rule file that a good run passes: what was called how
// often and with which statuses, which errors came, in which order things were
// changed, and what it took.
func Init(ctx context.Context, in trace.Input, which string) (string, error) {
	g := &first{times: map[string]int{}, statuses: map[outcome]int{}, codes: map[outcome][]string{}}
	if _, err := trace.Assert(ctx, in, which, g); err != nil {
		return "", err
	}
	return g.text(in.Name), nil
}

// A first look collects what Init writes.
type first struct {
	times    map[string]int
	statuses map[outcome]int      // how often
	codes    map[outcome][]string // of what failed
	writes   []string             // operations that changed something, in order, repeats left out
	calls    int
	pages    int
	bytes    int
}

// An outcome is how calls of an operation ended: with a status that a rule can
// name, "" in process.
type outcome struct{ op, status string }

func outcomeOf(v *trace.View) outcome {
	status := v.Status()
	if _, err := (&trace.Selector{Status: []string{status}}).Compile(); err != nil {
		status = ""
	}
	return outcome{v.Operation(), status}
}

func sortedOutcomes[V any](m map[outcome]V) []outcome {
	return slices.SortedFunc(maps.Keys(m), func(a, b outcome) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.status, b.status))
	})
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
	end := outcomeOf(v)
	if op != "" {
		g.times[op]++
		g.statuses[end]++
	}
	if failedCall(c) {
		if code := cmp.Or(v.Code(), "none"); !slices.Contains(g.codes[end], code) {
			g.codes[end] = append(g.codes[end], code)
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
	ends := sortedOutcomes(g.statuses)
	for _, op := range slices.Sorted(maps.Keys(g.times)) {
		fmt.Fprintf(&b, "  - {count: {operation: %s}, exactly: %d}\n", quote(op), g.times[op])
		for _, end := range ends {
			if end.op == op && end.status != "" {
				fmt.Fprintf(&b, "  - {count: {operation: %s, status: %s}, exactly: %d}\n", quote(op), end.status, g.statuses[end])
			}
		}
	}
	if len(g.times) > 0 {
		fmt.Fprintf(&b, "  - {coverage: %s}\n", quoteList(slices.Sorted(maps.Keys(g.times))))
	}
	b.WriteString("  - no_errors: true\n")
	g.failures(&b)
	if len(g.writes) > 1 {
		b.WriteString("  - sequence:\n")
		for _, op := range g.writes {
			fmt.Fprintf(&b, "      - {operation: %s}\n", quote(op))
		}
	}
	fmt.Fprintf(&b, "  - {budget: {calls: %d, pages: %d, bytes: %d}}\n", g.calls, g.pages, g.bytes)
	return b.String()
}

// failures writes which calls may fail, each with its status and its codes.
func (g *first) failures(b *bytes.Buffer) {
	for i, end := range sortedOutcomes(g.codes) {
		if i == 0 {
			b.WriteString("    except:\n")
		}
		which := "operation: " + quote(end.op)
		if end.op == "" {
			which = `where: "operationId == null"`
		}
		if end.status != "" {
			which += ", status: " + end.status
		}
		fmt.Fprintf(b, "      - {%s, code: %s}\n", which, quoteList(slices.Sorted(slices.Values(g.codes[end]))))
	}
}
