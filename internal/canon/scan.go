package canon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

func syntaxError(at int, format string, args ...any) error {
	return &SyntaxError{Offset: at, Msg: fmt.Sprintf(format, args...)}
}

func tooDeep(at int) error { return syntaxError(at, "nested deeper than %d", MaxDepth) }

// found names the thing at i for an error.
func found(src []byte, i int) string {
	if i >= len(src) {
		return "the text ends"
	}
	r, size := utf8.DecodeRune(src[i:])
	switch {
	case i == 0 && bytes.HasPrefix(src, []byte("\xEF\xBB\xBF")):
		return "a byte order mark"
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("byte 0x%02x", src[i])
	}
	return fmt.Sprintf("%q", r)
}

func skipSpace(src []byte, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t' || src[i] == '\n' || src[i] == '\r') {
		i++
	}
	return i
}

// scanScalar returns the end of the true, false, null or number at i.
func scanScalar(src []byte, i int) (int, error) {
	switch b := src[i]; {
	case b == '-' || isDigit(b):
		return scanNumber(src, i)
	case b == 't':
		return scanWord(src, i, "true")
	case b == 'f':
		return scanWord(src, i, "false")
	case b == 'n':
		return scanWord(src, i, "null")
	}
	return 0, syntaxError(i, "%s, want a value", found(src, i))
}

func scanWord(src []byte, i int, w string) (int, error) {
	for k := range len(w) {
		if i+k >= len(src) || src[i+k] != w[k] {
			return 0, syntaxError(i+k, "%s, want a value (did you mean %s?)", found(src, i+k), w)
		}
	}
	return i + len(w), nil
}

func scanNumber(src []byte, i int) (int, error) {
	n := numberLen(src[i:])
	if n <= 0 {
		return 0, syntaxError(i-n, "%s in a number, want a digit", found(src, i-n))
	}
	if end := i + n; end < len(src) && src[end-1] == '0' && isDigit(src[end]) {
		return 0, syntaxError(i, "a number with a leading zero")
	}
	return i + n, nil
}

const (
	ones = 0x0101010101010101
	high = 0x80 * ones
)

// special marks (in the high bits) the bytes of a word that do not simply stand
// in a string: the quote, the backslash, controls and what is not ASCII. Bytes
// above the lowest marked one may be marked wrongly.
func special(w uint64) uint64 {
	quote, slash := w^'"'*ones, w^'\\'*ones
	return ((w - 0x20*ones) | (quote - ones) | (slash - ones) | w) & high
}

// plainEnd returns where the run of plain bytes from i ends.
func plainEnd(src []byte, i int) int {
	for ; i+8 <= len(src); i += 8 {
		if m := special(binary.LittleEndian.Uint64(src[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(src) && src[i] >= 0x20 && src[i] < utf8.RuneSelf && src[i] != '"' && src[i] != '\\' {
		i++
	}
	return i
}

// scanString returns the end of the string literal at start, and whether it is
// spelled canonically.
func scanString(src []byte, start int) (end int, canonical bool, err error) {
	canonical = true
	for i := start + 1; ; {
		i = plainEnd(src, i)
		switch {
		case i >= len(src):
			return 0, false, syntaxError(i, "the text ends inside a string that began at byte %d", start)
		case src[i] == '"':
			return i + 1, canonical, nil
		case src[i] == '\\':
			n, same, err := scanEscape(src, i)
			if err != nil {
				return 0, false, err
			}
			canonical = canonical && same
			i += n
		case src[i] < 0x20:
			return 0, false, syntaxError(i, "control character 0x%02x in a string, want it escaped (\\u%04x)", src[i], src[i])
		default:
			r, size := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && size == 1 {
				return 0, false, syntaxError(i, "byte 0x%02x in a string is not UTF-8", src[i])
			}
			i += size
		}
	}
}

// scanEscape returns the length of the escape at i and whether it is the
// canonical spelling of what it stands for. Of a surrogate pair the first
// escape is not.
func scanEscape(src []byte, i int) (n int, canonical bool, err error) {
	if i+1 >= len(src) {
		return 0, false, syntaxError(i, "the text ends inside an escape")
	}
	switch c := src[i+1]; c {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2, true, nil
	case '/':
		return 2, false, nil
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(src) || !isHex(src[k]) {
				return 0, false, syntaxError(i, "an escape \\u without four hexadecimal digits")
			}
		}
		return 6, canonicalU(src, i), nil
	}
	return 0, false, syntaxError(i, "unknown escape \\ and %s, want one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX", found(src, i+1))
}

// canonicalU reports whether the \uXXXX at i is how AppendString spells it.
func canonicalU(src []byte, i int) bool {
	u := hex4(src[i+2:])
	var want [6]byte
	switch {
	case u >= 0xD800 && u <= 0xDFFF:
		if u < 0xDC00 && i+12 <= len(src) && src[i+6] == '\\' && src[i+7] == 'u' {
			return false // perhaps a pair: looked at when it is spelled again
		}
		return string(appendU(want[:0], u)) == string(src[i:i+6])
	case u < 0x20:
		return string(appendEscape(want[:0], byte(u))) == string(src[i:i+6])
	}
	return false
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// numberLen returns the length of the JSON number that s begins with, or the
// negated offset at which a digit is missing. A leading zero ends the number.
func numberLen(s []byte) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i >= len(s) || !isDigit(s[i]):
		return -i
	case s[i] == '0':
		i++
	default:
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) && s[i] == '.' {
		i++
		if i >= len(s) || !isDigit(s[i]) {
			return -i
		}
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if i >= len(s) || !isDigit(s[i]) {
			return -i
		}
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	return i
}

// IsNumber reports whether s is exactly a JSON number.
func IsNumber(s string) bool {
	return s != "" && numberLen([]byte(s)) == len(s)
}
