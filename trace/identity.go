package trace

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A call's identity is what was asked: method, path, query and body over HTTP
// (the contract makes a tool of them), tool and input in process. Headers and
// context are left out: they carry what differs from run to run, such as
// idempotency keys. Identities are
// 64-bit hashes that are equal for equal values in any spelling and key order;
// they only pair calls, and pairs are compared in full.

type identity struct {
	tool   uint32
	call   uint64 // what was asked
	answer uint64 // what came back: status and response, or the result in process
}

// identify hashes a call; false means that the line is no entry.
func identify(text []byte, pats *patterns) (id identity, ok bool) {
	text = bytes.Trim(text, " \t\r")
	if len(text) == 0 || text[0] != '{' {
		return id, false
	}
	h, start := hasher{pats: pats}, pats.begin(text)
	w := walk(text)
	var tool, result uint64
	method := false
	for {
		key, val, more := w.member()
		if !more {
			break
		}
		switch string(key) {
		case `"tool"`:
			tool = hashBytes(1, val)
		case `"request"`:
			id.call = h.request(val, pats.key(start, key))
			method = lookup(val, "method") != nil
		case `"result"`:
			result = hashBytes(1, val)
		case `"status"`:
			id.answer = mix(id.answer, hashScalar(val))
		case `"response"`:
			id.answer = mix(id.answer, h.value(val, pats.key(start, key)))
		}
	}
	if id.tool = uint32(tool); !method {
		id.call = mix(tool, id.call)
	}
	if id.answer == 0 {
		id.answer = result
	}
	return id, !h.bad && !w.bad
}

type hasher struct {
	pats *patterns
	bad  bool
}

// request hashes a request without what its identity leaves out.
func (h *hasher) request(b []byte, s state) uint64 {
	if b[0] != '{' {
		return h.value(b, s)
	}
	return h.object(b, s, func(key []byte) bool { return string(key) == `"headers"` || string(key) == `"context"` })
}

func (h *hasher) value(b []byte, s state) uint64 {
	switch b[0] {
	case '{':
		return h.object(b, s, nil)
	case '[':
		w, sum := walk(b), uint64(3)
		for i := 0; ; i++ {
			val, ok := w.element()
			if !ok {
				h.bad = h.bad || w.bad
				return mix(sum, 5)
			}
			next := h.pats.index(s, i)
			if h.pats.match(next) < 0 {
				sum = mix(sum, h.value(val, next))
			}
		}
	case '"':
		return hashString(b)
	}
	return hashScalar(b)
}

// object adds its members' hashes up, so that their order does not count.
func (h *hasher) object(b []byte, s state, skip func(key []byte) bool) uint64 {
	w, sum := walk(b), uint64(7)
	for {
		key, val, ok := w.member()
		if !ok {
			h.bad = h.bad || w.bad
			return mix(sum, 11)
		}
		next := h.pats.key(s, key)
		if h.pats.match(next) < 0 && (skip == nil || !skip(key)) {
			sum += mix(hashString(key), h.value(val, next))
		}
	}
}

func hashString(lit []byte) uint64 {
	if bytes.IndexByte(lit, '\\') >= 0 {
		if canon.Valid(lit) {
			return hashBytes(13, []byte(canon.Unquote(lit)))
		}
	}
	return hashBytes(13, lit[1:len(lit)-1])
}

// hashScalar hashes numbers by value, and words as they stand.
func hashScalar(b []byte) uint64 {
	d, ok := parseDecimal(b)
	if !ok {
		if canon.IsNumber(string(b)) {
			return hashBytes(17, []byte(canon.NumberKey(string(b))))
		}
		return hashBytes(19, b)
	}
	sum := mix(23, uint64(int64(d.exp)))
	if d.neg {
		sum = mix(sum, 29)
	}
	for _, c := range d.text {
		if c != '.' {
			sum = mix(sum, uint64(c))
		}
	}
	return sum
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, b^0xD1B54A32D192ED03)
	return hi ^ lo
}

// hashBytes is a plain mixing hash; it has one value on every machine.
func hashBytes(seed uint64, b []byte) uint64 {
	h := mix(seed, uint64(len(b)))
	for len(b) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var tail [8]byte
	copy(tail[:], b)
	return mix(h, binary.LittleEndian.Uint64(tail[:]))
}
