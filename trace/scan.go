package trace

import "bytes"

// The walk over JSON text in place. It checks only as much as it needs to find
// where values end: what it calls equal is equal, whatever else it meets sends
// the line to the parser, which judges it.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the end of the string literal at b[i], -1 without one.
func skipString(b []byte, i int) int {
	for k := i + 1; k < len(b); {
		q := bytes.IndexByte(b[k:], '"')
		if q < 0 {
			return -1
		}
		k += q
		n := k - 1
		for b[n] == '\\' { // stops at the opening quote at the latest
			n--
		}
		if k++; (k-n)%2 == 0 {
			return k
		}
	}
	return -1
}

// skipValue returns the end of the value at b[i], -1 when there is none.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	k := i
	for k < len(b) && scalarByte[b[k]] {
		k++
	}
	if k == i {
		return -1
	}
	return k
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// scalarByte marks what numbers, true, false and null are made of.
var scalarByte = func() (t [256]bool) {
	for _, c := range []byte("0123456789+-.eEtrufalsn") {
		t[c] = true
	}
	return t
}()

// A walker goes through the members of an object or the elements of an array.
type walker struct {
	b   []byte
	i   int
	bad bool // the text is not what it should be
}

// walk starts inside the object or array that b is.
func walk(b []byte) walker { return walker{b: b, i: 1} }

// more finds the next item, or the end. The first item has no comma before it.
func (w *walker) more() bool {
	i := skipSpace(w.b, w.i)
	if i < len(w.b) && w.i > 1 && w.b[i] == ',' {
		w.i = skipSpace(w.b, i+1)
		return true
	}
	if i >= len(w.b) || w.b[i] == '}' || w.b[i] == ']' {
		w.bad = w.bad || i != len(w.b)-1
		w.i = len(w.b)
		return false
	}
	w.bad = w.bad || w.i > 1
	w.i = i
	return !w.bad
}

// member returns the next key, quotes included, and its value.
func (w *walker) member() (key, val []byte, ok bool) {
	if !w.more() {
		return nil, nil, false
	}
	k := w.i
	if k >= len(w.b) || w.b[k] != '"' {
		return w.fail()
	}
	end := skipString(w.b, k)
	if end < 0 {
		return w.fail()
	}
	key = w.b[k:end]
	v := skipSpace(w.b, end)
	if v >= len(w.b) || w.b[v] != ':' {
		return w.fail()
	}
	v = skipSpace(w.b, v+1)
	if end = skipValue(w.b, v); end < 0 {
		return w.fail()
	}
	w.i = end
	return key, w.b[v:end], true
}

func (w *walker) fail() (key, val []byte, ok bool) {
	w.bad = true
	return nil, nil, false
}

// element returns the next element.
func (w *walker) element() (val []byte, ok bool) {
	if !w.more() {
		return nil, false
	}
	v := w.i
	end := skipValue(w.b, v)
	if end < 0 {
		w.bad = true
		return nil, false
	}
	w.i = end
	return w.b[v:end], true
}

// lookup returns the value of a key of an object, nil when there is none. key
// is a literal without escapes, quotes included.
func lookup(obj []byte, key string) []byte {
	if len(obj) == 0 || obj[0] != '{' {
		return nil
	}
	w := walk(obj)
	for {
		k, v, ok := w.member()
		if !ok {
			return nil
		}
		if string(k) == key {
			return v
		}
	}
}
