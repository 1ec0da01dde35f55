package trace

import (
	"bytes"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// loose is what a quick comparison knows of --only, --tolerance and --rename.
type loose struct {
	pats      *patterns
	strict    bool     // calls that ask something else must come to the parser
	only      bool     // --only is given
	outside   bool     // at no path that --only names yet
	left      int      // differences outside
	tolerated []int    // by tolerance
	names     *renamer // nil without --rename
	key       []byte   // the object key that leads here, as it stands
	ids       [2][][]byte
}

func newLoose(d *differ, j job, names *renamer) *loose {
	o := &d.opts
	if len(o.Only) == 0 && len(o.Tolerance) == 0 && names == nil {
		return nil
	}
	return &loose{pats: j.pats, strict: j.strict, only: len(o.Only) > 0, tolerated: make([]int, len(o.Tolerance)), names: names}
}

func (q *quick) looseLines(a, b []byte) bool {
	l := q.loose
	clear(l.tolerated)
	l.left, l.outside, l.key = 0, l.only, nil
	if l.strict && !q.sameCall(a, b) {
		return q.no()
	}
	clear(q.ignored)
	same := q.equal(a, b, q.pats.begin(a))
	if !same {
		l.names.undo()
	}
	return same
}

// sameCall reports whether it is certain that two entries ask the same, as
// [worker.sameCall] sees it.
func (q *quick) sameCall(a, b []byte) bool {
	const tool, request = "tool", "request"
	name := lookup(a, tool)
	if !bytes.Equal(name, lookup(b, tool)) {
		return false
	}
	if q.loose.names != nil && len(name) > 0 && name[0] == '"' {
		return true
	}
	x, y := lookup(a, request), lookup(b, request)
	if bytes.Equal(x, y) || q.loose.only || x == nil || y == nil {
		return bytes.Equal(x, y)
	}
	q.exact = true
	same := q.equal(x, y, q.pats.name(q.pats.begin(a), "request"))
	q.exact = false
	return same
}

// looseChild compares two values that no pattern leaves out. key is nil in an
// array.
func (q *quick) looseChild(key, a, b []byte, s state) bool {
	l := q.loose
	if l.outside {
		switch {
		case l.pats.matchIn(s, l.pats.only) >= 0:
			l.outside = false
			defer func() { l.outside = true }()
		case !l.pats.alive(s, l.pats.only):
			if !q.exactly(a, b) {
				l.left++
			}
			return !q.unsure
		case a[0] != b[0] || a[0] != '{' && a[0] != '[':
			return bytes.Equal(a, b) || q.no()
		}
	}
	if key == nil {
		return q.equal(a, b, s)
	}
	before := l.key
	l.key = key
	same := q.equal(a, b, s)
	l.key = before
	return same
}

// leftOutside reports whether a member that only one side has does not count.
func (q *quick) leftOutside(s state) bool {
	l := q.loose
	switch {
	case !l.outside || l.pats.matchIn(s, l.pats.only) >= 0:
		return false
	case l.pats.alive(s, l.pats.only):
		return q.no()
	}
	l.left++
	return true
}

// near reports whether a tolerance covers two numbers that differ.
func (q *quick) near(a, b []byte, s state) bool {
	if q.loose == nil || q.exact || q.loose.outside || len(q.loose.tolerated) == 0 {
		return false
	}
	i := q.pats.nearBy(string(a), string(b), s)
	if i >= 0 {
		q.loose.tolerated[i]++
	}
	return i >= 0
}

// renamed compares two values, the first of them no object or array, under a
// renaming.
func (q *quick) renamed(a, b []byte, s state) bool {
	text := a[0] == '"'
	if text != (b[0] == '"') || b[0] == '{' || b[0] == '[' {
		return false
	}
	l := q.loose
	x, y := a, b
	switch {
	case text && q.idA != nil && bytes.Equal(a, q.idA) && bytes.Equal(b, q.idB):
		return true
	case text:
		x, y = decoded(a), decoded(b)
	case isWord(a) || isWord(b):
		return bytes.Equal(a, b)
	}
	switch l.names.explains(l.pats, s, keyText(l.key), x, y) {
	case nameHolds:
		return true
	case nameConflicts:
		return false
	}
	if bytes.Equal(x, y) {
		return true
	}
	if text {
		return false
	}
	same, known := equalNumbers(a, b)
	q.unsure = q.unsure || !known
	return same || known && q.near(a, b, s)
}

// decoded is the text of a string literal, which shares its bytes where it can.
func decoded(lit []byte) []byte {
	if bytes.IndexByte(lit, '\\') < 0 || !canon.Valid(lit) {
		return lit[1 : len(lit)-1]
	}
	return []byte(canon.Unquote(lit))
}

// keyText is a key's text, nil for none.
func keyText(lit []byte) []byte {
	if lit == nil {
		return nil
	}
	return decoded(lit)
}

// byPlace reports whether it is certain that the parser would pair the elements
// of two arrays place by place, and not by an id: where ids agree at each
// place, or, under a renaming, no id of one array is one of the other.
func (l *loose) byPlace(a, b []byte, s state) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if !l.elementIDs(a, s, 0) || !l.elementIDs(b, s, 1) {
		return false
	}
	x, y := l.ids[0], l.ids[1]
	if slices.EqualFunc(x, y, bytes.Equal) {
		return true
	}
	if l.names == nil || len(x) > manyItems || len(y) > manyItems {
		return false
	}
	for _, id := range x {
		if slices.ContainsFunc(y, func(other []byte) bool { return bytes.Equal(id, other) }) {
			return false
		}
	}
	return true
}

// elementIDs gathers what may identify the elements of an array; false when a
// value has more than one spelling.
func (l *loose) elementIDs(array []byte, s state, side int) bool {
	l.ids[side] = l.ids[side][:0]
	w := walk(array)
	for i := 0; ; i++ {
		elem, ok := w.element()
		if !ok {
			return !w.bad
		}
		if elem[0] != '{' {
			continue
		}
		at := l.pats.index(s, i)
		in := walk(elem)
		for key, val, ok := in.member(); ok; key, val, ok = in.member() {
			if !identifies(key) || l.pats.match(l.pats.key(at, key)) >= 0 {
				continue
			}
			if bytes.ContainsAny(val, "\\.eE") && val[0] != '"' || bytes.IndexByte(val, '\\') >= 0 {
				return false
			}
			l.ids[side] = append(l.ids[side], val)
		}
		if in.bad {
			return false
		}
	}
}

// identifies reports whether a key, as it stands, may name an id.
func identifies(lit []byte) bool {
	name := lit[1 : len(lit)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		return true
	}
	for _, k := range idKeys {
		if string(name) == k {
			return true
		}
	}
	return strings.HasSuffix(string(name), "_id") || strings.HasSuffix(string(name), "Id") || strings.HasSuffix(string(name), "ID")
}
