package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// full writes one call with all its values, in the order of the entry.
func (s *shower) full(l trace.Line, f *trace.Facts) error {
	if err := l.Check(); err != nil {
		return err
	}
	if s.written {
		s.w.WriteByte('\n')
	}
	s.written = true
	what := trace.Clean(f.Tool)
	if what == "" {
		what = "no operation"
	}
	if t := f.Target(); t != "" {
		what += ", " + trace.Clean(t)
	}
	s.w.WriteString(s.paint(bold, fmt.Sprintf("call %d: %s", f.Seq, what)) + "\n")
	fmt.Fprintf(s.w, "%s, line %d, run %d of %d\n", trace.Clean(trace.DisplayName(s.side.Name)), l.Number, l.Run, s.side.Runs)
	for key, part := range l.Parts() {
		if key != "schema" && key != "seq" {
			s.part(key, part.Value)
		}
	}
	return nil
}

// part writes a value: a scalar beside its key, others below it.
func (s *shower) part(key string, value []byte) {
	name := s.paint(blue, trace.Clean(key))
	text := indent(value)
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(s.w, "%s: %s\n", name, text)
		return
	}
	fmt.Fprintf(s.w, "%s:\n  %s\n", name, strings.ReplaceAll(text, "\n", "\n  "))
}

// indent spreads JSON over lines. Numbers, key order and the spelling of strings
// stay; what a terminal would act on is escaped.
func indent(value []byte) string {
	compact, err := canon.AppendCompact(nil, value, canon.Lenient)
	if err != nil {
		return trace.Clean(string(value)) // the line was parsed: there is none
	}
	if len(compact) <= 76 {
		return trace.Clean(string(compact))
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return trace.Clean(string(compact))
	}
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = trace.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
