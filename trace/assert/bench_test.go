package assert

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/trace"
)

// bigRun writes a trace of n calls of about 1.3 KB.
func bigRun(b *testing.B, n int) (file string, size int64) {
	pad := strings.Repeat("lorem ipsum ", 25)
	var out strings.Builder
	tools := []string{"t_list", "t_get", "t_create", "t_update", "t_delete"}
	for i := range n {
		tool := tools[i%len(tools)]
		answer := fmt.Sprintf(`{"id":"%d","text":"%s"}`, i%1000, pad)
		e := trace.Entry{Seq: i + 1, RequestID: fmt.Sprint("r", i+1), Transport: "http", Tool: &tool, Operation: &tool, Status: 200,
			Request:    fmt.Appendf(nil, `{"method":"GET","path":"/t/%d","query":{},"headers":{},"body":null}`, i%1000),
			Normalized: []byte(`{"kind":"read","params":{"path":{"id":"1"}}}`),
			Provider:   []byte(`{"ok":true,"result":` + answer + `}`), Result: []byte(`{"ok":true,"output":` + answer + `}`), Response: []byte(answer)}
		out.Write(e.AppendLine(nil))
	}
	file = filepath.Join(b.TempDir(), "run.jsonl")
	if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return file, int64(out.Len())
}

// BenchmarkSelect prints MB/s for conditions at the start and at the end of a
// line.
func BenchmarkSelect(b *testing.B) {
	file, size := bigRun(b, 20000)
	for _, bm := range []struct {
		name string
		sel  trace.Selector
	}{
		{"tool", trace.Selector{Tool: []string{"t_get"}}},
		{"status", trace.Selector{Status: []string{"409"}}},
		{"three", trace.Selector{Tool: []string{"t_get"}, Status: []string{"200"}, Code: []string{"none"}}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			f, err := bm.sel.Compile()
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			for b.Loop() {
				_, err := trace.Each(context.Background(), trace.Input{Name: file}, "all", func(_ trace.Line, v *trace.View) error {
					_, err := f.Match(v)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRules prints MB/s for 20 rules in one pass.
func BenchmarkRules(b *testing.B) {
	file, size := bigRun(b, 20000)
	rules := prologue
	for i := range 5 {
		tool := []string{"t_list", "t_get", "t_create", "t_update", "t_delete"}[i]
		rules += fmt.Sprintf("  - {count: {tool: %s}, at_least: 1}\n  - {never: {tool: %s}, after: {status: 409}, same: id}\n  - {none: {status: 5xx, tool: %s}}\n", tool, tool, tool)
	}
	rules += "  - {every: {tool: t_get}, is: 'response.id != \"\"'}\n  - {no_errors: true}\n  - {budget: {calls: 100000}}\n  - {sequence: [{tool: t_list}, {tool: t_get}], same: id}\n  - {each: {tool: t_create}, followed_by: {tool: t_update}}\n"
	b.SetBytes(size)
	for b.Loop() {
		s, err := New(Facts{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Read("rules", []byte(rules)); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Run(context.Background(), trace.Input{Name: file}, "all"); err != nil {
			b.Fatal(err)
		}
	}
}
