package redact

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/trace"
)

// minElsewhere is the shortest text that is looked for elsewhere, in bytes:
// shorter ones would be found in innocent words.
const minElsewhere = 8

// A finder looks for values that the rules took out at the places that no rule
// names: other values, keys, and parts of longer texts.
type finder struct {
	names    map[string]int    // what was learned, to the number of its placeholder
	replacer *strings.Replacer // nil until it is needed, and when names grew
	learning bool
	keyed    bool // a key of the line was replaced
	found    int  // texts and keys that held something
}

// Learn notes what the rules find in a line, for [Rules.Everywhere]: Append takes
// out everywhere what was learned before it.
func (r *Redactor) Learn(l trace.Line) error {
	counts := slices.Clone(r.counts)
	r.elsewhere.learning = true
	_, err := r.Append(nil, l)
	r.elsewhere.learning = false
	r.counts = counts
	return err
}

// learn takes a text or number, or of a header each text of a list, with the
// placeholder that stands for it.
func (f *finder) learn(value []byte, n int, header bool) {
	v, err := canon.Parse(value, canon.Lenient)
	if err != nil {
		return // the line is refused when it is through
	}
	list := []*canon.Value{v}
	if e := v.Elems(); len(e) == 1 || header && len(e) > 0 {
		list = e
	}
	for _, v := range list {
		switch v.Kind() {
		case canon.String:
			text := v.Text()
			if scheme, secret, ok := strings.Cut(text, " "); header && ok && schemeName(scheme) {
				text = secret // "Bearer abc": the token stands alone in other places
			}
			f.add(text, n)
		case canon.Number:
			f.add(v.Text(), n)
		}
	}
}

func schemeName(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz-") == ""
}

func (f *finder) add(text string, n int) {
	if len(text) < minElsewhere || strings.HasPrefix(text, "[redacted") {
		return
	}
	if _, ok := f.names[text]; !ok {
		f.names[text], f.replacer = n, nil
	}
}

// value is what stands for a text or number that no rule names.
func (f *finder) value(lit []byte) ([]byte, bool) {
	switch lit[0] {
	case '"':
		return f.text(lit)
	case '{', '[', 't', 'f', 'n':
		return nil, false
	}
	n, ok := f.names[string(lit)]
	if !ok || f.learning {
		return nil, false
	}
	f.found++
	return canon.AppendString(nil, placeholder(n)), true
}

func (f *finder) key(lit []byte) ([]byte, bool) {
	instead, ok := f.text(lit)
	f.keyed = f.keyed || ok
	return instead, ok
}

func (f *finder) text(lit []byte) ([]byte, bool) {
	if f.learning || len(lit) < minElsewhere || !canon.Valid(lit) {
		return nil, false
	}
	was := canon.Unquote(lit)
	if f.replacer == nil {
		f.replacer = newReplacer(f.names)
	}
	now := f.replacer.Replace(was)
	if now == was {
		return nil, false
	}
	f.found++
	return canon.AppendString(nil, now), true
}

// newReplacer replaces the texts in all their spellings, longer ones first.
func newReplacer(names map[string]int) *strings.Replacer {
	type spelled struct {
		text string
		n    int
	}
	var list []spelled
	for text, n := range names {
		for _, s := range spellings(text) {
			list = append(list, spelled{s, n})
		}
	}
	slices.SortFunc(list, func(a, b spelled) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text), cmp.Compare(a.n, b.n))
	})
	pairs := make([]string, 0, 2*len(list))
	for _, s := range list {
		pairs = append(pairs, s.text, placeholder(s.n))
	}
	return strings.NewReplacer(pairs...)
}

// spellings are how a text stands in other texts: as it is, in a URL, and in JSON.
func spellings(text string) []string {
	query := url.QueryEscape(text)
	list := []string{text, query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(text)}
	for _, s := range list[1:] {
		list = append(list, lowerHex(s))
	}
	quoted := canon.AppendString(nil, text)
	list = append(list, string(quoted[1:len(quoted)-1]))
	slices.Sort(list)
	return slices.Compact(list)
}

// lowerHex writes %2F as %2f.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}
