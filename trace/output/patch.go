package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// WritePatch writes the difference as a JSON Patch (RFC 6902) over the baseline
// read as an array of entries: applied to it, the patch gives the other run. The
// report must be complete: made with DiffOptions.Lines and a negative Max, of one
// run. What an option ignores is in the patch where its call differs otherwise.
func WritePatch(w io.Writer, r *trace.Report) error {
	p := patch{}
	var gone, added []*trace.Call
	stay := inOrder(r.Calls)
	for i := range r.Calls {
		c := &r.Calls[i]
		if stay[i] {
			old, new, err := entries(c)
			if err != nil {
				return err
			}
			p.values("/"+strconv.Itoa(c.Old.Index), old, new)
			continue
		}
		if c.Old != nil {
			gone = append(gone, c)
		}
		if c.New != nil {
			added = append(added, c)
		}
	}
	slices.SortFunc(gone, func(x, y *trace.Call) int { return y.Old.Index - x.Old.Index })
	for _, c := range gone {
		p.op("remove", "/"+strconv.Itoa(c.Old.Index), nil)
	}
	slices.SortFunc(added, func(x, y *trace.Call) int { return x.New.Index - y.New.Index })
	for _, c := range added {
		p.op("add", "/"+strconv.Itoa(c.New.Index), c.NewLine)
	}
	out := bufio.NewWriter(w)
	out.WriteString("[")
	for i, op := range p.ops {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n  ")
		out.Write(op)
	}
	if len(p.ops) > 0 {
		out.WriteString("\n")
	}
	out.WriteString("]\n")
	return out.Flush()
}

// inOrder marks the changed calls that can stay where they are: the longest
// series of them whose places rise in both runs.
func inOrder(calls []trace.Call) []bool {
	var at, tails []int // tails[n]: the last call of the best series of n+1
	before := make([]int, len(calls))
	for i := range calls {
		if calls[i].Kind == trace.CallChanged {
			at = append(at, i)
		}
	}
	slices.SortFunc(at, func(x, y int) int { return calls[x].Old.Index - calls[y].Old.Index })
	for _, i := range at {
		n, _ := slices.BinarySearchFunc(tails, calls[i].New.Index, func(t, index int) int { return calls[t].New.Index - index })
		if before[i] = -1; n > 0 {
			before[i] = tails[n-1]
		}
		tails = append(tails[:n], append([]int{i}, tails[min(n+1, len(tails)):]...)...)
	}
	stay := make([]bool, len(calls))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			stay[i] = true
		}
	}
	return stay
}

func entries(c *trace.Call) (old, new *canon.Value, err error) {
	if old, err = canon.Parse(c.OldLine, canon.Strict); err == nil {
		new, err = canon.Parse(c.NewLine, canon.Strict)
	}
	return old, new, err
}

type patch struct{ ops [][]byte }

func (p *patch) op(op, path string, value []byte) {
	b := append([]byte(`{"op":"`), op...)
	b = canon.AppendString(append(b, `","path":`...), path)
	if value != nil {
		b = append(append(b, `,"value":`...), value...)
	}
	p.ops = append(p.ops, append(b, '}'))
}

func same(a, b *canon.Value) bool {
	return bytes.Equal(canon.AppendIdentity(nil, a), canon.AppendIdentity(nil, b))
}

// values makes b out of a.
func (p *patch) values(path string, a, b *canon.Value) {
	switch {
	case a.Is(canon.Object) && b.Is(canon.Object):
		for _, m := range a.Members() {
			at := path + "/" + escape(m.Key)
			if v := b.Get(m.Key); v != nil {
				p.values(at, m.Value, v)
			} else {
				p.op("remove", at, nil)
			}
		}
		for _, m := range b.Members() {
			if a.Get(m.Key) == nil {
				p.op("add", path+"/"+escape(m.Key), m.Value.AppendJSON(nil))
			}
		}
	case a.Is(canon.Array) && b.Is(canon.Array):
		p.arrays(path, a.Elems(), b.Elems())
	case !same(a, b):
		p.op("replace", path, b.AppendJSON(nil))
	}
}

// arrays keeps what is equal at both ends and pairs the middle place by place.
func (p *patch) arrays(path string, x, y []*canon.Value) {
	from, endX, endY := 0, len(x), len(y)
	for from < endX && from < endY && same(x[from], y[from]) {
		from++
	}
	for endX > from && endY > from && same(x[endX-1], y[endY-1]) {
		endX, endY = endX-1, endY-1
	}
	i := from
	for ; i < endX && i < endY; i++ {
		p.values(path+"/"+strconv.Itoa(i), x[i], y[i])
	}
	for k := endX - 1; k >= i; k-- {
		p.op("remove", path+"/"+strconv.Itoa(k), nil)
	}
	for ; i < endY; i++ {
		p.op("add", path+"/"+strconv.Itoa(i), y[i].AppendJSON(nil))
	}
}

func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// WriteUnified writes the difference as a unified text diff of the entries,
// spread over lines as Spread does. The report must hold lines (DiffOptions.Lines).
func WriteUnified(w io.Writer, r *trace.Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "--- %s\n+++ %s\n", trace.Clean(r.Baseline.Name), trace.Clean(r.Other.Name))
	for i := range r.Calls {
		c := &r.Calls[i]
		text, err := unified(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "# %s [%s]\n%s", c, c.Stage, text)
	}
	return out.Flush()
}

func unified(c *trace.Call) (string, error) {
	old, err := spreadLines(c.OldLine)
	if err != nil {
		return "", err
	}
	new, err := spreadLines(c.NewLine)
	if err != nil {
		return "", err
	}
	if c.Kind == trace.CallMoved && slices.Equal(old, new) {
		return "", nil
	}
	const tooMany = 4000 // lines; the diff of more takes too long, and nobody reads it
	if len(old) > tooMany || len(new) > tooMany {
		return fmt.Sprintf("@@ %d and %d lines, too many for a text diff @@\n", len(old), len(new)), nil
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: old, B: new, Context: 3})
}

func spreadLines(entry json.RawMessage) ([]string, error) {
	if len(entry) == 0 {
		return nil, nil
	}
	text, err := Spread(entry)
	if err != nil {
		return nil, err
	}
	return strings.SplitAfter(string(text), "\n")[:bytes.Count(text, []byte("\n"))], nil
}

// Spread is an entry over indented lines, for text diffs: numbers and the order
// of keys as they stand.
func Spread(entry []byte) ([]byte, error) {
	v, err := canon.Parse(entry, canon.Strict)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, v.AppendJSON(nil), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return []byte(trace.CleanLines(b.String())), nil
}
