package compile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// minShared is how large a part that stands in several places must be, in bytes,
// to be written once and named by aliases.
const minShared = 240

// A yamlWriter writes a tree as YAML 1.2, in block style. What the tree shares
// is written once, with an anchor.
type yamlWriter struct {
	out     []byte
	count   map[*api.Value]int
	anchors map[*api.Value]string
}

// AppendYAML appends a tree as one YAML document, in block style: what the tree
// shares is written once and named by aliases.
func AppendYAML(dst []byte, v *api.Value) []byte {
	w := yamlWriter{out: dst, count: map[*api.Value]int{}, anchors: map[*api.Value]string{}}
	sizes := map[*api.Value]int{}
	size(v, sizes)
	w.tally(v, sizes)
	w.block(v, 0, true)
	return w.out
}

// tally counts the places of each part that is worth an anchor.
func (w *yamlWriter) tally(v *api.Value, sizes map[*api.Value]int) {
	if !v.Is(canon.Object) && !v.Is(canon.Array) || sizes[v] < minShared {
		return
	}
	if w.count[v]++; w.count[v] > 1 {
		return
	}
	for _, m := range v.Members() {
		w.tally(m.Value, sizes)
	}
	for _, e := range v.Elems() {
		w.tally(e, sizes)
	}
}

// block writes a value that begins a line at the indent when top is true, and
// stands behind a key or a dash otherwise.
func (w *yamlWriter) block(v *api.Value, indent int, top bool) {
	empty := len(v.Members()) == 0 && len(v.Elems()) == 0
	if empty || !v.Is(canon.Object) && !v.Is(canon.Array) {
		w.space(top)
		w.scalar(v, indent)
		w.out = append(w.out, '\n')
		return
	}
	if w.count[v] > 1 {
		if name, ok := w.anchors[v]; ok {
			w.out = append(append(w.out, " *"...), name...)
			w.out = append(w.out, '\n')
			return
		}
		name := "s" + strconv.Itoa(len(w.anchors)+1)
		w.anchors[v] = name
		w.out = append(append(w.out, " &"...), name...)
	}
	if !top {
		w.out = append(w.out, '\n')
	}
	for _, m := range v.Members() {
		w.indent(indent)
		w.text(m.Key)
		w.out = append(w.out, ':')
		w.block(m.Value, indent+2, false)
	}
	for _, e := range v.Elems() {
		w.indent(indent)
		w.out = append(w.out, '-')
		w.item(e, indent+2)
	}
}

// item writes an element of a list; an object begins on the line of its dash.
func (w *yamlWriter) item(v *api.Value, indent int) {
	if !v.Is(canon.Object) || len(v.Members()) == 0 || w.count[v] > 1 {
		w.block(v, indent, false)
		return
	}
	for i, m := range v.Members() {
		if i == 0 {
			w.out = append(w.out, ' ')
		} else {
			w.indent(indent)
		}
		w.text(m.Key)
		w.out = append(w.out, ':')
		w.block(m.Value, indent+2, false)
	}
}

func (w *yamlWriter) space(top bool) {
	if !top {
		w.out = append(w.out, ' ')
	}
}

func (w *yamlWriter) indent(n int) {
	for range n {
		w.out = append(w.out, ' ')
	}
}

func (w *yamlWriter) scalar(v *api.Value, indent int) {
	switch v.Kind() {
	case canon.Array:
		w.out = append(w.out, "[]"...)
	case canon.Object:
		w.out = append(w.out, "{}"...)
	case canon.String:
		if s := v.Text(); literal(s) {
			w.literal(s, indent)
		} else {
			w.text(s)
		}
	default:
		w.out = v.AppendJSON(w.out)
	}
}

// text writes a string on one line: plain where no reader could take it for
// something else, in double quotes otherwise.
func (w *yamlWriter) text(s string) {
	if plain(s) {
		w.out = append(w.out, s...)
		return
	}
	start := len(w.out)
	w.out = canon.AppendString(w.out, s)
	if strings.ContainsFunc(s, unprintable) {
		w.escape(start)
	}
}

// unprintable reports whether YAML takes a character only as an escape.
func unprintable(r rune) bool {
	return r >= 0x7F && r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF
}

// escape escapes what is unprintable in the quoted text from start on.
func (w *yamlWriter) escape(start int) {
	quoted := string(w.out[start:])
	w.out = w.out[:start]
	for _, r := range quoted {
		if unprintable(r) {
			w.out = fmt.Appendf(w.out, `\u%04x`, r)
		} else {
			w.out = utf8.AppendRune(w.out, r)
		}
	}
}

var reserved = wordSet("null true false yes no on off y n inf nan")

// plain reports whether a string may stand without quotes.
func plain(s string) bool {
	if s == "" || len(s) > 200 || reserved[strings.ToLower(s)] {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '/'
		inner := c >= '0' && c <= '9' || c == '.' || c == '-' || c == '(' || c == ')' || c == ','
		switch {
		case letter:
		case i == 0:
			return false
		case inner:
		case c == ' ' && i < len(s)-1:
		default:
			return false
		}
	}
	return true
}

// literal reports whether a string is lines of text that a literal block carries
// unchanged.
func literal(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || !utf8.ValidString(s) {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") {
			return false
		}
	}
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || unprintable(r) {
			return false
		}
	}
	return strings.TrimRight(s, "\n") != ""
}

func (w *yamlWriter) literal(s string, indent int) {
	body := strings.TrimRight(s, "\n")
	switch len(s) - len(body) {
	case 0:
		w.out = append(w.out, "|-"...)
	case 1:
		w.out = append(w.out, '|')
	default:
		w.out = append(w.out, "|+"...)
	}
	for line := range strings.SplitSeq(body, "\n") {
		w.out = append(w.out, '\n')
		if line != "" {
			w.indent(max(indent, 2))
			w.out = append(w.out, line...)
		}
	}
	for range len(s) - len(body) - 1 {
		w.out = append(w.out, '\n')
	}
}
