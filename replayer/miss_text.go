package replayer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Error is the miss in one line: what was asked, why there is no answer, the
// closest recorded request with its differences, and the rule that accepts it.
func (m *Miss) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no recorded answer for %s", m.Asked)
	if len(m.Fields) > 0 {
		b.WriteString(" (")
		for i, f := range m.Fields[:min(len(m.Fields), 6)] {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %s", f.Name, f.Value)
		}
		if n := len(m.Fields) - 6; n > 0 {
			fmt.Fprintf(&b, " and %d more", n)
		}
		b.WriteByte(')')
	}
	if m.Detail != "" {
		b.WriteString(": " + m.Detail)
	}
	if len(m.Closest) == 0 {
		return b.String()
	}
	near := m.Closest[0]
	fmt.Fprintf(&b, "; the closest is %s (%s)", near.Place, near.Op)
	for i, diff := range near.Differ {
		if i == 0 {
			b.WriteString(", which differs in ")
		} else {
			b.WriteString(" and ")
		}
		fmt.Fprintf(&b, "%s (asked %s, recorded %s)", diff.Name, orNothing(diff.Asked), orNothing(diff.Recorded))
	}
	if m.Accept != nil {
		fmt.Fprintf(&b, "; %s would accept it%s", m.Accept.flags(), m.Accept.cost())
	}
	return b.String()
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (a *Accept) flags() string {
	var words []string
	for _, r := range a.Rules {
		words = append(words, "--ignore '"+r+"'")
	}
	return strings.Join(words, " ")
}

func (a *Accept) cost() string {
	if a.Ambiguous == 0 {
		return " and makes no other interaction ambiguous"
	}
	return fmt.Sprintf(" and makes %d other interaction(s) ambiguous", a.Ambiguous)
}

// Text is the miss for a terminal, one line a fact, line diffs included.
func (m *Miss) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "miss (%s): %s\n", m.Reason, m.Asked)
	for _, f := range m.Fields {
		fmt.Fprintf(&b, "  asked %s = %s\n", f.Name, f.Value)
	}
	if m.Detail != "" {
		fmt.Fprintf(&b, "  %s\n", m.Detail)
	}
	for _, n := range m.Closest {
		fmt.Fprintf(&b, "  close: %s %s\n", n.Place, n.Op)
		for _, diff := range n.Differ {
			if diff.Diff != "" {
				fmt.Fprintf(&b, "    %s:\n%s", diff.Name, indent(diff.Diff))
				continue
			}
			fmt.Fprintf(&b, "    %s: asked %s, recorded %s\n", diff.Name, orNothing(diff.Asked), orNothing(diff.Recorded))
		}
	}
	if m.Accept != nil {
		fmt.Fprintf(&b, "  %s would accept the closest%s\n", m.Accept.flags(), m.Accept.cost())
	}
	return b.String()
}

func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n      ") + "\n"
}

// AppendJSON appends the miss as one JSON object, the value of data.miss.
func (m *Miss) AppendJSON(dst []byte) []byte {
	dst = appendKey(append(dst, '{'), "reason", string(m.Reason))
	dst = appendKey(append(dst, ','), "asked", m.Asked)
	dst = append(dst, `,"fields":{`...)
	for i, f := range m.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendKey(dst, f.Name, f.Value)
	}
	dst = append(dst, '}')
	if m.Detail != "" {
		dst = appendKey(append(dst, ','), "detail", m.Detail)
	}
	dst = append(dst, `,"closest":[`...)
	for i, n := range m.Closest {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = n.appendJSON(dst)
	}
	dst = append(dst, ']')
	if m.Accept != nil {
		dst = append(dst, `,"accept":{"ignore":[`...)
		for i, r := range m.Accept.Rules {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = canon.AppendString(dst, r)
		}
		dst = strconv.AppendInt(append(dst, `],"ambiguous":`...), int64(m.Accept.Ambiguous), 10)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func (n *Near) appendJSON(dst []byte) []byte {
	dst = appendKey(append(dst, '{'), "place", n.Place)
	dst = appendKey(append(dst, ','), "operation", n.Op)
	dst = append(dst, `,"differ":[`...)
	for i, d := range n.Differ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendKey(append(dst, '{'), "field", d.Name)
		dst = appendKey(append(dst, ','), "asked", d.Asked)
		dst = appendKey(append(dst, ','), "recorded", d.Recorded)
		if d.Diff != "" {
			dst = appendKey(append(dst, ','), "diff", d.Diff)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']', '}')
}

func appendKey(dst []byte, key, text string) []byte {
	return canon.AppendString(append(canon.AppendString(dst, key), ':'), text)
}
