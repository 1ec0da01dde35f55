package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/plural"
)

// WriteText writes the report for a person. Control characters of the traces
// are escaped; colour is written only when color is true.
func (r *Report) WriteText(w io.Writer, color bool) error {
	t := &textWriter{Writer: bufio.NewWriter(w), color: color}
	t.header(r)
	for i := range r.Calls {
		t.call(&r.Calls[i])
	}
	t.summary(r)
	return t.Flush()
}

type textWriter struct {
	*bufio.Writer
	color bool
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	plain  = "\x1b[0m"
)

// line writes one line in a colour, "" for none.
func (t *textWriter) line(color, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if t.color && color != "" {
		text = color + text + plain
	}
	t.WriteString(text)
	t.WriteByte('\n')
}

func (t *textWriter) header(r *Report) {
	t.line(red, "--- %s (baseline)%s", clean(displayName(r.Baseline.Name)), r.Baseline.describe())
	t.line(green, "+++ %s%s", clean(displayName(r.Other.Name)), r.Other.describe())
	t.line("", "options: %s", r.Options.describe())
	switch {
	case r.Identical:
	case r.Align == AlignCall:
		t.line("", "calls are paired by what they ask; seq and request ids may differ")
	default:
		t.line("", "calls are paired by seq")
	}
	if r.First != nil {
		t.line(bold, "first difference: %s; stage: %s", r.First.describe(), r.First.Stage)
	}
}

func (s Side) describe() string {
	switch {
	case s.Count == 0:
		return ""
	case s.Runs == 1:
		return ": " + plural.Of(s.Calls, "call")
	case s.Count > 1:
		return fmt.Sprintf(": all %d runs, %s", s.Runs, plural.Of(s.Calls, "call"))
	case s.Run == s.Runs:
		return fmt.Sprintf(": run %d of %d (the last), %s", s.Run, s.Runs, plural.Of(s.Calls, "call"))
	}
	return fmt.Sprintf(": run %d of %d, %s", s.Run, s.Runs, plural.Of(s.Calls, "call"))
}

// describe spells the options that change what counts as on the command line.
func (o DiffOptions) describe() string {
	text := fmt.Sprintf("--align %s --run %s", o.Align, o.Run)
	if o.Unordered {
		text += " --unordered"
	}
	if o.Bytes {
		text += " --bytes"
	}
	for _, p := range o.Ignore {
		text += " --ignore " + quoteArg(clean(p))
	}
	for _, p := range o.Only {
		text += " --only " + quoteArg(clean(p))
	}
	for _, p := range o.Tolerance {
		text += " --tolerance " + quoteArg(clean(p.String()))
	}
	for _, p := range o.Rename {
		text += " --rename " + quoteArg(clean(p))
	}
	return text
}

// quoteArg quotes what a shell would change.
func quoteArg(s string) string {
	if strings.ContainsAny(s, "*?[]{}$&;|<>()'\"\\ `~#!") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// describe names a call: "call 3 changed: tickets_get, GET /tickets/T-1".
func (c *Call) describe() string {
	ref, text := c.Old, ""
	if ref == nil {
		ref = c.New
	}
	switch {
	case c.Kind == CallInserted:
		text = fmt.Sprintf("call %d of the other run is inserted", ref.Seq)
	case c.Kind == CallMissing:
		text = fmt.Sprintf("call %d is missing", ref.Seq)
	case c.Kind == CallMoved:
		text = fmt.Sprintf("call %d moved to %d", ref.Seq, c.New.Seq)
		if len(c.Findings) > 0 {
			text += " and changed"
		}
	case c.New.Seq != ref.Seq:
		text = fmt.Sprintf("call %d (now %d) changed", ref.Seq, c.New.Seq)
	default:
		text = fmt.Sprintf("call %d changed", ref.Seq)
	}
	tool := ref.Tool
	if tool == "" {
		tool = "no operation"
	}
	text += ": " + clean(tool)
	if ref.Target != "" {
		text += ", " + clean(ref.Target)
	}
	return text
}

var kindColors = map[CallKind]string{CallChanged: yellow, CallMissing: red, CallInserted: green, CallMoved: yellow}

func (t *textWriter) call(c *Call) {
	t.WriteByte('\n')
	t.line(kindColors[c.Kind], "%s [%s]", c.describe(), c.Stage)
	for _, group := range groupFindings(c.Findings) {
		t.findings(group)
	}
}

// groupFindings puts findings together that say the same of one field at
// several places, as a row does that a provider answered and a client got.
func groupFindings(list []Finding) (groups [][]Finding) {
	type key struct{ kind, name, old, new string }
	at := map[key]int{}
	for _, f := range list {
		k := key{string(f.Kind), path.Base(f.Path), string(f.Old), string(f.New)}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

func (t *textWriter) findings(group []Finding) {
	f := group[0]
	what := ""
	if f.Kind != ValueChanged {
		what = " " + string(f.Kind)
	}
	for _, g := range group {
		where := clean(g.Path)
		if where == "" {
			where = "the line"
		}
		t.line("", "  %s%s", where, what)
	}
	if f.Note != "" {
		t.line("", "    (%s)", clean(f.Note))
	}
	if lines := unifiedStrings(f.Old, f.New); lines != nil {
		t.unified(lines)
		return
	}
	old, new := showPair(f.Old, f.New)
	if f.Old != nil {
		t.line(red, "    - %s", old)
	}
	if f.New != nil {
		t.line(green, "    + %s", new)
	}
}

// showBytes is how much of a value is shown, in bytes.
const showBytes = 160

// showPair shows two values, of long ones the part where they begin to differ.
func showPair(a, b []byte) (string, string) {
	if len(a) <= showBytes && len(b) <= showBytes {
		return clean(string(a)), clean(string(b))
	}
	from := 0
	if a != nil && b != nil {
		for from < len(a) && from < len(b) && a[from] == b[from] {
			from++
		}
		if from = max(0, from-40); from < showBytes/4 {
			from = 0
		}
	}
	return showFrom(a, from), showFrom(b, from)
}

func showFrom(v []byte, from int) string {
	if len(v) <= showBytes {
		return clean(string(v))
	}
	for from > 0 && from < len(v) && !utf8.RuneStart(v[from]) {
		from--
	}
	text := string(shorten(v[min(from, len(v)):], showBytes))
	if from > 0 {
		text = "..." + text
	}
	return fmt.Sprintf("%s (%d bytes)", clean(text), len(v))
}

func (t *textWriter) summary(r *Report) {
	if r.Identical {
		t.line(green, "equal, byte for byte")
		return
	}
	if len(r.Calls) > 0 {
		t.WriteByte('\n')
	}
	for _, e := range r.Excused() {
		t.line("", "%s", clean(e.String()))
	}
	if r.Equal() {
		t.line(green, "equal: %s", plural.Of(r.Same, "call"))
		return
	}
	parts := []string{}
	for _, p := range []struct {
		n    int
		what string
	}{{r.Changed, "changed"}, {r.Missing, "missing"}, {r.Inserted, "inserted"}, {r.Moved, "moved"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	t.line(bold, "differ: %s; calls: %s, %d the same", plural.Of(r.Findings, "finding"), strings.Join(parts, ", "), r.Same)
	if rest := r.Findings - r.shown(); rest > 0 {
		t.line("", "%s not shown; --max 0 shows all", plural.Of(rest, "finding"))
	}
}

// shown counts the findings that Calls holds.
func (r *Report) shown() (n int) {
	for i := range r.Calls {
		n += len(r.Calls[i].Findings)
		if r.Calls[i].Kind != CallChanged {
			n++
		}
	}
	return n
}

// clean escapes what a terminal would act on or show in another place.
func clean(s string) string {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	}
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b bytes.Buffer
	for _, r := range s {
		if bad(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// String names the call: "call 3 changed: tickets_get, GET /tickets/T-1".
func (c *Call) String() string { return c.describe() }

// Details are the lines that [Report.WriteText] writes below the call's name.
func (c *Call) Details() []string {
	var b bytes.Buffer
	t := &textWriter{Writer: bufio.NewWriter(&b)}
	for _, group := range groupFindings(c.Findings) {
		t.findings(group)
	}
	t.Flush()
	if b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// String describes a side: "golden.jsonl: run 2 of 2 (the last), 7 calls".
func (s Side) String() string { return clean(displayName(s.Name)) + s.describe() }

// String spells the options that change what counts as on the command line.
func (o DiffOptions) String() string { return o.describe() }

// CleanLines is [Clean] for a text of lines.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = clean(l)
	}
	return strings.Join(lines, "\n")
}
