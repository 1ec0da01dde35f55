package trace

import "bytes"

// quick finds out whether two lines are equal without parsing them. Its yes is
// certain; its no only says that the lines need a closer look.
type quick struct {
	pats    *patterns
	ignored []int  // by pattern: differences of the current line
	idA     []byte // request ids that stand for each other; nil when they must agree
	idB     []byte
	unsure  bool   // a no was for want of knowing
	items   []item // members of the objects that are matched by key
}

type item struct {
	key, val []byte
	used     bool
}

// equalLines compares two entries. ignored holds the counts when it says yes.
func (q *quick) equalLines(a, b []byte) bool {
	clear(q.ignored)
	q.items, q.unsure = q.items[:0], false
	a, b = bytes.Trim(a, " \t\r"), bytes.Trim(b, " \t\r")
	return len(a) > 0 && len(b) > 0 && q.equal(a, b, q.pats.start)
}

func (q *quick) equal(a, b []byte, s state) bool {
	if bytes.Equal(a, b) {
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
	return same
}

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
func (q *quick) child(a, b []byte, s state) bool {
	if p := q.pats.match(s); p >= 0 {
		if !q.equal(a, b, state{}) {
			q.ignored[p]++
		}
		return !q.unsure
	}
	return q.equal(a, b, s)
}

func (q *quick) equalObjects(a, b []byte, s state) bool {
	wa, wb := walk(a), walk(b)
	for {
		ka, va, okA := wa.member()
		kb, vb, okB := wb.member()
		switch {
		case wa.bad || wb.bad:
			return q.no()
		case !okA && !okB:
			return true
		case !okA || !okB || !bytes.Equal(ka, kb):
			return q.equalByKey(&wa, &wb, item{ka, va, !okA}, item{kb, vb, !okB}, s)
		}
		if !q.child(va, vb, q.pats.key(s, ka)) {
			return false
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
			return q.child(a.val, it.val, q.pats.key(s, a.key))
		}
	}
	return q.leaveOut(a.key, s)
}

// leaveOut reports whether a member that only one side has is ignored.
func (q *quick) leaveOut(key []byte, s state) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		return q.no()
	}
	p := q.pats.match(q.pats.key(s, key))
	if p < 0 {
		return false
	}
	q.ignored[p]++
	return true
}

func (q *quick) equalArrays(a, b []byte, s state) bool {
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
		if !q.child(va, vb, q.pats.index(s, i)) {
			return false
		}
	}
}

// equalNumbers compares two scalars that are spelled differently and no strings.
// It does not know what is no plain number, such as one with a long exponent.
func equalNumbers(a, b []byte) (same, known bool) {
	x, okA := parseDecimal(a)
	y, okB := parseDecimal(b)
	if !okA || !okB {
		return false, isWord(a) && (okB || isWord(b)) || okA && isWord(b)
	}
	return x.neg == y.neg && x.exp == y.exp && x.n == y.n && x.same(&y), true
}

func isWord(b []byte) bool {
	return string(b) == "null" || string(b) == "true" || string(b) == "false"
}

// A decimal is a number without allocation: n digits of text, from the first
// that is not zero to the last that is not, the point left out, times 10^exp.
type decimal struct {
	neg  bool
	n    int
	exp  int
	text []byte // from the first to the last such digit, the point still in it
}

func (d *decimal) same(o *decimal) bool {
	i, j := 0, 0
	for range d.n {
		if d.text[i] == '.' {
			i++
		}
		if o.text[j] == '.' {
			j++
		}
		if d.text[i] != o.text[j] {
			return false
		}
		i++
		j++
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

func parseDecimal(b []byte) (d decimal, ok bool) {
	i := 0
	if i < len(b) && b[i] == '-' {
		d.neg = true
		i++
	}
	start := i
	i = digits(b, i)
	whole := i - start
	if whole == 0 || whole > 1 && b[start] == '0' {
		return d, false
	}
	frac := 0
	if i < len(b) && b[i] == '.' {
		end := digits(b, i+1)
		if frac = end - i - 1; frac == 0 {
			return d, false
		}
		i = end
	}
	if d.exp, ok = parseExponent(b[i:]); !ok {
		return d, false
	}
	d.trim(b[start:i], frac)
	return d, true
}

func parseExponent(b []byte) (exp int, ok bool) {
	if len(b) == 0 {
		return 0, true
	}
	if b[0] != 'e' && b[0] != 'E' {
		return 0, false
	}
	neg, i := false, 1
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		neg = b[i] == '-'
		i++
	}
	if n := len(b) - i; n == 0 || n > 9 || digits(b, i) != len(b) {
		return 0, false
	}
	for _, c := range b[i:] {
		exp = exp*10 + int(c-'0')
	}
	if neg {
		exp = -exp
	}
	return exp, true
}

// trim takes the zeros at both ends off the digits, and the point with them.
func (d *decimal) trim(text []byte, frac int) {
	for len(text) > 0 && (text[0] == '0' || text[0] == '.') {
		text = text[1:]
	}
	d.exp -= frac
	for len(text) > 0 && (text[len(text)-1] == '0' || text[len(text)-1] == '.') {
		if text[len(text)-1] == '0' {
			d.exp++
		}
		text = text[:len(text)-1]
	}
	d.text, d.n = text, len(text)
	if bytes.IndexByte(text, '.') >= 0 {
		d.n--
	}
	if d.n == 0 {
		*d = decimal{} // every zero is one zero
	}
}
