package sample

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxPattern is the longest pattern that is looked at.
const maxPattern = 1000

// Match makes a text that a pattern matches, of at least and at most so many
// characters: always the same one. Ok is false when none is found, or the
// pattern is one that Go cannot read (look-arounds, back references).
func Match(pattern string, least, most int) (text string, ok bool) {
	if len(pattern) > maxPattern {
		return "", false
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for more := range most + 1 {
		w := writer{more: more, most: most}
		w.node(tree)
		n := utf8.RuneCountInString(w.out.String())
		if n >= least && n <= most && re.MatchString(w.out.String()) {
			return w.out.String(), true
		}
		if n > most {
			break
		}
	}
	return "", false
}

func matches(pattern, text string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && len(pattern) <= maxPattern && re.MatchString(text)
}

// A writer writes a text that a pattern matches: of what may be repeated, at
// least one and more besides.
type writer struct {
	out        strings.Builder
	more, most int
}

func (w *writer) node(n *syntax.Regexp) {
	switch n.Op {
	case syntax.OpLiteral:
		w.out.WriteString(string(n.Rune))
	case syntax.OpCharClass:
		w.out.WriteRune(pick(n.Rune, w.out.Len()))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.out.WriteRune(pick([]rune{'a', 'z'}, w.out.Len()))
	case syntax.OpCapture:
		w.node(n.Sub[0])
	case syntax.OpConcat:
		for _, s := range n.Sub {
			w.node(s)
		}
	case syntax.OpAlternate:
		w.node(n.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		w.repeat(n.Sub[0], max(w.more, 1))
	case syntax.OpQuest:
		w.repeat(n.Sub[0], min(w.more, 1))
	case syntax.OpRepeat:
		times := max(n.Min, w.more, 1)
		if n.Max >= 0 {
			times = min(times, n.Max)
		}
		w.repeat(n.Sub[0], times)
	}
}

func (w *writer) repeat(n *syntax.Regexp, times int) {
	for range times {
		if w.out.Len() > 4*w.most {
			return
		}
		w.node(n)
	}
}

// pick is a character of a class, a letter or digit when there is one: not the
// same at each place, so that the text looks like one.
func pick(class []rune, at int) rune {
	for _, nice := range []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"} {
		var have []rune
		for _, r := range nice {
			if within(class, r) {
				have = append(have, r)
			}
		}
		if len(have) > 0 {
			return have[(at*7+3)%len(have)]
		}
	}
	if len(class) == 0 {
		return 'a'
	}
	return class[0]
}

func within(class []rune, r rune) bool {
	for i := 0; i+1 < len(class); i += 2 {
		if r >= class[i] && r <= class[i+1] {
			return true
		}
	}
	return false
}
