package trace

import (
	"strings"
	"testing"
)

// plainSkip finds the end of a string, object or array a byte at a time.
func plainSkip(b []byte, i int) int {
	depth, in := 0, false
	for k := i; k < len(b); k++ {
		switch c := b[k]; {
		case in && c == '\\':
			k++
		case c == '"':
			if in = !in; !in && depth == 0 {
				return k + 1
			}
		case in:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return k + 1
			}
		}
	}
	return -1
}

// FuzzSkip: values end where a look at each byte says, wherever they begin.
func FuzzSkip(f *testing.F) {
	for _, s := range []string{`{}`, `[1,[2,"]"],{"a":"}"}]`, `"a\"b"`, `"\\"`, `"\\\""`, `{"a":"\\\\"}`, `{"a":"`, `[`, `{"` + strings.Repeat(`\\`, 40) + `":[` + strings.Repeat("[]", 60) + `"]"]}`,
		`{"` + strings.Repeat("é", 70) + `":{}}`, strings.Repeat("[", 200) + strings.Repeat("]", 200), `{"a":"` + strings.Repeat("x", 57) + `\"}"}`, "{\"\x01\x22\xa2\xdb\xfb\":[]}"} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(63))
	}
	f.Fuzz(func(t *testing.T, value []byte, pad uint8) {
		b := append([]byte(strings.Repeat(" ", int(pad%130))), value...)
		i := int(pad % 130)
		if len(value) == 0 || strings.IndexByte(`"{[`, value[0]) < 0 {
			return
		}
		got := skipValue(b, i)
		if inert(value) && got != plainSkip(b, i) {
			t.Errorf("%q from %d: %d, want %d", b, i, got, plainSkip(b, i))
		}
		if got > len(b) {
			t.Errorf("%d is beyond %d bytes", got, len(b))
		}
	})
}

// FuzzMarks: what the processor's wide registers find is what a look at eight bytes
// at once finds, and a look at each byte.
func FuzzMarks(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\\"]}` + strings.Repeat(`[{"\\}]`, 8)))
	f.Add([]byte(strings.Repeat("\xa2\x02\xdb\x5b\xfb\xdd\x5c\xdc", 8)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var block [64]byte
		copy(block[:], text)
		var got, plain, want marks
		got.read(&block)
		plain.plain(&block)
		for i, c := range block {
			bit := uint64(1) << i
			switch c {
			case '"':
				want.quotes |= bit
			case '\\':
				want.escapes |= bit
			case '{', '[':
				want.opens |= bit
			case '}', ']':
				want.closes |= bit
			}
		}
		if got != want || plain != want {
			t.Errorf("%q: %x and %x, want %x", block, got, plain, want)
		}
	})
}

// inert reports whether backslashes stand in strings only, as in all JSON.
func inert(b []byte) bool {
	in := false
	for k := 0; k < len(b); k++ {
		switch {
		case b[k] == '\\' && !in:
			return false
		case b[k] == '\\':
			k++
		case b[k] == '"':
			in = !in
		}
	}
	return true
}

func FuzzPrefixLen(f *testing.F) {
	f.Add([]byte("abcdefghij"), []byte("abcdefghXj"))
	f.Add([]byte("abcdefgh"), []byte("abcdefghXj"))
	f.Add([]byte(""), []byte("x"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		n := prefixLen(a, b)
		if string(a[:n]) != string(b[:n]) || n < len(a) && n < len(b) && a[n] == b[n] {
			t.Errorf("%q and %q: %d", a, b, n)
		}
	})
}
