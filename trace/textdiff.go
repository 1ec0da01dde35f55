package trace

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Bounds of a text diff: its cost grows with the product of the lines.
const (
	maxTextLines = 2000
	showLines    = 40
)

// unifiedStrings is the unified diff of two strings that are texts of several
// lines, or JSON, which is spread over lines first; nil for other values.
func unifiedStrings(a, b []byte) []string {
	if len(a) == 0 || len(b) == 0 || a[0] != '"' || b[0] != '"' {
		return nil
	}
	x, y := spread(canon.Unquote(a)), spread(canon.Unquote(b))
	if len(x) < 2 && len(y) < 2 || len(x) > maxTextLines || len(y) > maxTextLines {
		return nil
	}
	return unifiedLines(x, y, 3)
}

// spread cuts a text into lines, JSON into indented ones.
func spread(s string) []string {
	if s != "" && (s[0] == '{' || s[0] == '[') && canon.Valid([]byte(s)) {
		var out bytes.Buffer
		if json.Indent(&out, []byte(s), "", "  ") == nil {
			s = out.String()
		}
	}
	return strings.Split(s, "\n")
}

// unifiedLines is a unified diff without file names.
func unifiedLines(x, y []string, context int) (out []string) {
	ends := func(lines []string) []string {
		out := make([]string, len(lines))
		for i, l := range lines {
			out[i] = l + "\n"
		}
		return out
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: ends(x), B: ends(y), Context: context})
	if err != nil {
		return nil // a strings.Builder never fails
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// unified writes the lines of a text diff.
func (t *textWriter) unified(lines []string) {
	for i, l := range lines {
		if i == showLines && len(lines) > showLines+1 {
			t.line("", "    ... %d more lines of this text diff; --format unified shows all", len(lines)-i)
			return
		}
		color := ""
		switch {
		case strings.HasPrefix(l, "+"):
			color = green
		case strings.HasPrefix(l, "-"):
			color = red
		}
		t.line(color, "    %s", clean(string(shorten([]byte(l), 2*showBytes))))
	}
}
