package trace

import "bytes"

// quick finds out whether two lines are equal without parsing them. Its yes is
// certain, and counts what the parser would; its no only says that the lines
// need a closer look.
type quick struct {
	pats    *patterns
	ignored []int  // by pattern: differences of the current line
	idA     []byte // request ids that stand for each other; nil when they must agree
	idB     []byte
	unsure  bool   // a no was for want of knowing
	items   []item // members of the objects that are matched by key
	exact   bool   // inside of what is left out: only equal is equal
	loose   *loose // nil without --only, --tolerance and --rename
}

type item struct {
	key, val []byte
	used     bool
}

// equalLines compares two entries. ignored holds the counts when it says yes.
func (q *quick) equalLines(a, b []byte) bool {
	clear(q.ignored)
	q.items, q.unsure, q.exact = q.items[:0], false, false
	a, b = bytes.Trim(a, " \t\r"), bytes.Trim(b, " \t\r")
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	if q.loose == nil {
		return q.equal(a, b, q.pats.begin(a))
	}
	return q.looseLines(a, b)
}

// count adds what a yes left out.
func (q *quick) count(out *tally) {
	for i := range out.ignored {
		out.ignored[i] += q.ignored[i]
	}
	if l := q.loose; l != nil {
		for i := range out.tolerated {
			out.tolerated[i] += l.tolerated[i]
		}
		out.outside += l.left
		out.renamed += l.names.take()
	}
}

func (q *quick) equal(a, b []byte, s state) bool {
	if q.looksInside() {
		if q.loose.names != nil && a[0] != '{' && a[0] != '[' {
			return q.renamed(a, b, s)
		}
	} else if bytes.Equal(a, b) {
		return true
	}
	switch {
	case a[0] == '{' && b[0] == '{':
		return q.equalObjects(a, b, s)
	case a[0] == '[' && b[0] == '[':
		return q.equalArrays(a, b, s)
	case a[0] == '"' && b[0] == '"':
		return q.equalStrings(a, b)
	case a[0] == '"' || b[0] == '"':
		return false
	}
	same, known := equalNumbers(a, b)
	q.unsure = q.unsure || !known
	return same || known && q.near(a, b, s)
}

// looksInside reports whether equal bytes are to be walked through: a renaming
// learns from them.
func (q *quick) looksInside() bool { return q.loose != nil && q.loose.names != nil && !q.exact }

// no is the answer when something is beyond this walk.
func (q *quick) no() bool {
	q.unsure = true
	return false
}

func (q *quick) equalStrings(a, b []byte) bool {
	if q.idA != nil && bytes.Equal(a, q.idA) && bytes.Equal(b, q.idB) {
		return true
	}
	if bytes.IndexByte(a, '\\') >= 0 || bytes.IndexByte(b, '\\') >= 0 {
		return q.no() // one text may have two spellings
	}
	return false
}

// child compares two values one step further, unless a pattern leaves them out.
func (q *quick) child(key, a, b []byte, s state) bool {
	if p := q.pats.match(s); p >= 0 {
		if !q.exactly(a, b) {
			q.ignored[p]++
		}
		return !q.unsure
	}
	if q.loose == nil || q.exact {
		return q.equal(a, b, s)
	}
	return q.looseChild(key, a, b, s)
}

// exactly compares without any pattern or option.
func (q *quick) exactly(a, b []byte) bool {
	before := q.exact
	q.exact = true
	same := q.equal(a, b, state{})
	q.exact = before
	return same
}

func (q *quick) equalObjects(a, b []byte, s state) bool {
	wa, wb := walk(a), walk(b)
	walkAll := q.looksInside()
	for end := prefixLen(a, b); ; { // as far as a[end], b goes on like a
		was := wa.i
		ka, va, okA := wa.member()
		var kb, vb []byte
		var okB bool
		if okA && wa.i < end {
			if wb.i += wa.i - was; !walkAll {
				continue
			}
			kb, vb, okB = ka, va, okA
		} else {
			kb, vb, okB = wb.member()
		}
		switch {
		case wa.bad || wb.bad:
			return q.no()
		case !okA && !okB:
			return true
		case !okA || !okB || !bytes.Equal(ka, kb):
			return q.equalByKey(&wa, &wb, item{ka, va, !okA}, item{kb, vb, !okB}, s)
		}
		if !q.child(ka, va, vb, q.pats.key(s, ka)) {
			return false
		}
		if wa.i >= end {
			n := prefixLen(a[wa.i:], b[wb.i:])
			if end = wa.i + n; !walkAll && end == len(a) && wb.i+n == len(b) {
				return true
			}
		}
	}
}

// manyItems is how many members are matched by key here; the parser has maps
// for more.
const manyItems = 64

// equalByKey compares what two objects have left, in any order. An item that is
// used already is none.
func (q *quick) equalByKey(wa, wb *walker, a, b item, s state) bool {
	base := len(q.items)
	defer func() { q.items = q.items[:base] }()
	for !b.used {
		if q.items = append(q.items, b); len(q.items)-base > manyItems {
			return q.no()
		}
		var ok bool
		b.key, b.val, ok = wb.member()
		b.used = !ok
	}
	end := len(q.items)
	for !a.used {
		if !q.takeItem(base, end, a, s) {
			return false
		}
		var ok bool
		a.key, a.val, ok = wa.member()
		a.used = !ok
	}
	if wa.bad || wb.bad {
		return q.no()
	}
	for i := base; i < end; i++ {
		if it := &q.items[i]; !it.used && !q.leaveOut(it.key, s) {
			return false
		}
	}
	return true
}

func (q *quick) takeItem(base, end int, a item, s state) bool {
	for i := base; i < end; i++ {
		if it := &q.items[i]; !it.used && bytes.Equal(it.key, a.key) {
			it.used = true
			return q.child(a.key, a.val, it.val, q.pats.key(s, a.key))
		}
	}
	return q.leaveOut(a.key, s)
}

// leaveOut reports whether a member that only one side has is ignored.
func (q *quick) leaveOut(key []byte, s state) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		return q.no()
	}
	next := q.pats.key(s, key)
	if p := q.pats.match(next); p >= 0 {
		q.ignored[p]++
		return true
	}
	return q.loose != nil && !q.exact && q.leftOutside(next)
}

func (q *quick) equalArrays(a, b []byte, s state) bool {
	if q.loose != nil && !q.exact && !q.loose.byPlace(a, b, s) {
		return q.no()
	}
	wa, wb := walk(a), walk(b)
	for i := 0; ; i++ {
		va, okA := wa.element()
		vb, okB := wb.element()
		if wa.bad || wb.bad {
			return q.no()
		}
		if !okA || !okB {
			return okA == okB
		}
		if !q.child(nil, va, vb, q.pats.index(s, i)) {
			return false
		}
	}
}
