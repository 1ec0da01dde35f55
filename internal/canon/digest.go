package canon

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendDigestForm appends the form of a value that digests are taken of: the
// text that ECMAScript's JSON.stringify gives once object keys are sorted by
// UTF-16 code unit at every depth, integer-like keys first, ascending. Numbers
// are doubles in shortest form.
func AppendDigestForm(dst []byte, v *Value) []byte {
	v = v.whole()
	switch v.Kind() {
	case Number:
		return AppendFloat(dst, v.Float())
	case Array:
		dst = append(dst, '[')
		for i, e := range v.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendDigestForm(dst, e)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range sortedMembers(v.members) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, m.Key)
			dst = append(dst, ':')
			dst = AppendDigestForm(dst, m.Value)
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

// Digest is the SHA-256 of the digest form, in hexadecimal.
func Digest(v *Value) string {
	sum := sha256.Sum256(AppendDigestForm(nil, v))
	return hex.EncodeToString(sum[:])
}

// AppendIdentity appends a text that is equal for two values exactly when they
// are equal as JSON: keys sorted, numbers by exact value.
func AppendIdentity(dst []byte, v *Value) []byte {
	v = v.whole()
	switch v.Kind() {
	case Number:
		return append(dst, NumberKey(v.text)...)
	case Array:
		dst = append(dst, '[')
		for _, e := range v.elems {
			dst = append(AppendIdentity(dst, e), ',')
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		members := slices.Clone(v.members)
		slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.Key, b.Key) })
		for _, m := range members {
			dst = append(AppendString(dst, m.Key), ':')
			dst = append(AppendIdentity(dst, m.Value), ',')
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

func sortedMembers(members []Member) []Member {
	if slices.IsSortedFunc(members, compareMembers) {
		return members
	}
	members = slices.Clone(members)
	slices.SortFunc(members, compareMembers)
	return members
}

func compareMembers(a, b Member) int {
	x, xIndex := arrayIndex(a.Key)
	y, yIndex := arrayIndex(b.Key)
	switch {
	case xIndex && yIndex:
		return cmp.Compare(x, y)
	case xIndex:
		return -1
	case yIndex:
		return 1
	}
	return CompareUTF16(a.Key, b.Key)
}

// arrayIndex reports whether an ECMAScript object would list the key among its
// integer-like keys: 0 to 2^32-2 in the shortest decimal form.
func arrayIndex(key string) (uint64, bool) {
	if key == "" || len(key) > 10 || key[0] < '0' || key[0] > '9' || len(key) > 1 && key[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(key, 10, 64)
	return n, err == nil && n < 1<<32-1
}

// CompareUTF16 orders two strings by UTF-16 code units, as ECMAScript's sort
// does: characters beyond U+FFFF come before U+E000.
func CompareUTF16(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] < utf8.RuneSelf {
		n++
	}
	a, b = a[n:], b[n:]
	if a == "" || b == "" || a[0] < utf8.RuneSelf && b[0] < utf8.RuneSelf {
		return cmp.Compare(a, b)
	}
	next, stop := iter.Pull(Units(b))
	defer stop()
	for x := range Units(a) {
		y, ok := next()
		if !ok {
			return 1
		}
		if x != y {
			return cmp.Compare(x, y)
		}
	}
	if _, ok := next(); ok {
		return -1
	}
	return 0
}

func firstUnit(r rune) rune {
	if r > 0xFFFF {
		return 0xD800 + (r-0x10000)>>10
	}
	return r
}
