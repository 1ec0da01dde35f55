package trace

import (
	"encoding/binary"
	"math/bits"
)

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
	k := i + 1
	for k+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[k:])
		m := same8(x, '"') | same8(x, '\\')
		if m == 0 {
			k += 8
			continue
		}
		if k += bits.TrailingZeros64(m) >> 3; b[k] == '"' {
			return k + 1
		}
		k += 2 // the backslash and what it escapes
	}
	for ; k < len(b); k++ {
		switch b[k] {
		case '"':
			return k + 1
		case '\\':
			k++
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

// skipNested returns the end of the object or array at b[i], -1 without one. It
// looks at 64 bytes at once: where quotes and brackets stand in them, as bits.
func skipNested(b []byte, i int) int {
	depth, inString, escaped := 0, uint64(0), uint64(0)
	var last [64]byte
	for ; i < len(b); i += 64 {
		block := &last
		if len(b)-i >= 64 {
			block = (*[64]byte)(b[i:])
		} else {
			copy(last[:], b[i:])
		}
		var m marks
		m.read(block)
		if m.escapes|escaped != 0 {
			escaped = m.escape(escaped)
		}
		in := insideOf(m.quotes) ^ inString
		inString = uint64(int64(in) >> 63)
		m.opens &^= in
		m.closes &^= in
		if n := bits.OnesCount64(m.closes); n < depth {
			depth += bits.OnesCount64(m.opens) - n
			continue
		}
		for all := m.opens | m.closes; all != 0; all &= all - 1 {
			at := bits.TrailingZeros64(all)
			if m.opens>>at&1 != 0 {
				depth++
			} else if depth--; depth == 0 {
				return i + at + 1
			}
		}
	}
	return -1
}

// marks tell where 64 bytes hold what ends strings and values, a bit a byte.
type marks struct{ quotes, escapes, opens, closes uint64 }

// plain is read without the help of a processor's wide registers.
func (m *marks) plain(block *[64]byte) {
	for k := 0; k < 64; k += 8 {
		x := binary.LittleEndian.Uint64(block[k:])
		bracket := x | 0x2020202020202020 // [ and ] become { and }
		m.quotes |= gather(same8(x, '"')) << k
		m.opens |= gather(same8(bracket, '{')) << k
		m.closes |= gather(same8(bracket, '}')) << k
		if e := same8(x, '\\'); e != 0 {
			m.escapes |= gather(e) << k
		}
	}
}

// escape takes escaped quotes out. first is 1 when the first byte is escaped by
// the block before; what it returns is that for the next block.
func (m *marks) escape(first uint64) (next uint64) {
	escaped := first
	for left := m.escapes &^ first; left != 0; {
		at := bits.TrailingZeros64(left)
		if at == 63 {
			next = 1
			break
		}
		escaped |= 2 << at
		left &^= 3 << at
	}
	m.quotes &^= escaped
	return next
}

// insideOf has a bit for each byte from an opening quote to before its closing one.
func insideOf(quotes uint64) uint64 {
	for shift := 1; shift < 64; shift *= 2 {
		quotes ^= quotes << shift
	}
	return quotes
}

// same8 has the highest bit of each of the eight bytes of x that is c.
func same8(x uint64, c byte) uint64 {
	const low = 0x7F7F7F7F7F7F7F7F
	x ^= 0x0101010101010101 * uint64(c)
	return ^((x&low + low) | x | low)
}

// gather collects the highest bits of eight bytes in the lowest byte.
func gather(m uint64) uint64 { return (m >> 7) * 0x0102040810204080 >> 56 }

// prefixLen is how many bytes a and b have in common at their start.
func prefixLen(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)>>3
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
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
// is what stands between the quotes.
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
		if string(k[1:len(k)-1]) == key {
			return v
		}
	}
}
