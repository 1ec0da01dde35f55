package canon

import (
	"bytes"
	"iter"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// needsEscape marks the bytes that AppendString cannot copy as they are: the
// quote, the backslash, controls, and 0xED, which may open a surrogate.
var needsEscape = func() (t [256]bool) {
	for i := range 0x20 {
		t[i] = true
	}
	t['"'], t['\\'] = true, true
	for i := 0x80; i < 0x100; i++ {
		t[i] = true
	}
	return t
}()

// AppendString appends s as a JSON string in the canonical spelling. Surrogates
// in WTF-8 form become \udXXX; any other invalid byte becomes U+FFFD.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if !needsEscape[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			n := runeLen(s[i:])
			if n > 0 {
				i += n
				continue
			}
			dst = append(dst, s[start:i]...)
			if u, ok := surrogateAt(s[i:]); ok {
				dst = appendU(dst, u)
				i += 3
			} else {
				dst = append(dst, "\uFFFD"...)
				i++
			}
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func runeLen[S string | []byte](s S) int {
	n := min(len(s), utf8.UTFMax)
	var buf [utf8.UTFMax]byte
	copy(buf[:], s[:n])
	r, size := utf8.DecodeRune(buf[:n])
	if r == utf8.RuneError && size <= 1 {
		return 0
	}
	return size
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return appendU(dst, uint16(c))
}

func appendU(dst []byte, u uint16) []byte {
	return append(dst, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}

// surrogateAt reports the surrogate whose WTF-8 form s begins with.
func surrogateAt[S string | []byte](s S) (uint16, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | uint16(s[1]&0x3F)<<6 | uint16(s[2]&0x3F), true
}

func appendSurrogate(dst []byte, u uint16) []byte {
	return append(dst, 0xED, 0x80|byte(u>>6&0x3F), 0x80|byte(u&0x3F))
}

// appendUnquoted decodes the inside of a valid JSON string literal.
func appendUnquoted(dst, lit []byte) []byte {
	for i := 0; i < len(lit); {
		c := lit[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		i++
		switch lit[i] {
		case 'b':
			dst = append(dst, '\b')
		case 't':
			dst = append(dst, '\t')
		case 'n':
			dst = append(dst, '\n')
		case 'f':
			dst = append(dst, '\f')
		case 'r':
			dst = append(dst, '\r')
		case 'u':
			u := hex4(lit[i+1:])
			i += 4
			dst = appendUnit(dst, u)
		default:
			dst = append(dst, lit[i])
		}
		i++
	}
	return dst
}

// appendRespelled appends the canonical spelling of a valid string literal,
// quotes included.
func appendRespelled(dst, lit []byte) []byte {
	for i := 0; i < len(lit); {
		n := bytes.IndexByte(lit[i:], '\\')
		if n < 0 {
			return append(dst, lit[i:]...)
		}
		dst = append(dst, lit[i:i+n]...)
		i += n + 2
		switch lit[i-1] {
		case '/':
			dst = append(dst, '/')
		case 'u':
			var size int
			dst, size = appendRespelledU(dst, lit[i:])
			i += size
		default:
			dst = append(dst, lit[i-2:i]...)
		}
	}
	return dst
}

// appendRespelledU appends what stands behind \u, and the low surrogate that
// follows a high one. It returns how much of rest that was.
func appendRespelledU(dst, rest []byte) ([]byte, int) {
	u := hex4(rest)
	switch {
	case u < 0x20 || u == '"' || u == '\\':
		return appendEscape(dst, byte(u)), 4
	case u < 0xD800 || u > 0xDFFF:
		return utf8.AppendRune(dst, rune(u)), 4
	case u < 0xDC00 && len(rest) >= 10 && rest[4] == '\\' && rest[5] == 'u':
		if low := hex4(rest[6:]); low >= 0xDC00 && low <= 0xDFFF {
			return utf8.AppendRune(dst, 0x10000+rune(u-0xD800)<<10+rune(low-0xDC00)), 10
		}
	}
	return appendU(dst, u), 4
}

// appendUnit appends one UTF-16 code unit, joining a low surrogate to a high
// one that dst ends in.
func appendUnit(dst []byte, u uint16) []byte {
	switch {
	case u >= 0xDC00 && u <= 0xDFFF:
		if n := len(dst); n >= 3 {
			if hi, ok := surrogateAt(dst[n-3:]); ok && hi < 0xDC00 {
				r := 0x10000 + rune(hi-0xD800)<<10 + rune(u-0xDC00)
				return utf8.AppendRune(dst[:n-3], r)
			}
		}
		return appendSurrogate(dst, u)
	case u >= 0xD800 && u <= 0xDBFF:
		return appendSurrogate(dst, u)
	}
	return utf8.AppendRune(dst, rune(u))
}

func hex4(b []byte) (u uint16) {
	for _, c := range b[:4] {
		u = u<<4 | uint16(hexVal(c))
	}
	return u
}

func hexVal(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}

// Unquote returns the string that a canonical or any valid JSON string literal
// (quotes included) stands for, in WTF-8.
func Unquote(lit []byte) string {
	in := lit[1 : len(lit)-1]
	for _, c := range in {
		if c == '\\' {
			return string(appendUnquoted(make([]byte, 0, len(in)), in))
		}
	}
	return string(in)
}

// AppendFloat appends f as ECMAScript's Number::toString spells it; NaN and the
// infinities become null, as JSON.stringify writes them.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0')
	}
	abs := math.Abs(f)
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// strconv pads the exponent to two digits; ECMAScript does not.
	if n := len(dst); n-start >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// NumberKey returns a text that is equal for two JSON numbers exactly when
// their values are equal, at any size: 1.0, 1 and 1e0 share one key,
// 9007199254740993 and 9007199254740992 do not. An exponent too large to be
// meant keeps its spelling.
func NumberKey(num string) string {
	neg := strings.HasPrefix(num, "-")
	rest := strings.TrimPrefix(num, "-")
	mantissa, expText, _ := strings.Cut(strings.ToLower(rest), "e")
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	exp := new(big.Int)
	if expText != "" {
		if len(expText) > 100 {
			return num
		}
		exp.SetString(strings.TrimPrefix(expText, "+"), 10)
	}
	exp.Add(exp, big.NewInt(int64(len(digits)-len(trimmed)-len(frac))))
	key := trimmed + "e" + exp.String()
	if neg {
		key = "-" + key
	}
	return key
}

// Units yields the UTF-16 code units of a string, as ECMAScript sees it: a
// surrogate in WTF-8 form is itself, any other invalid byte is U+FFFD.
func Units(s string) iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				if u, ok := surrogateAt(s[i:]); ok {
					r, size = rune(u), 3
				}
			}
			i += size
			if r > 0xFFFF {
				if !yield(uint16(firstUnit(r))) {
					return
				}
				r = 0xDC00 + (r-0x10000)&0x3FF
			}
			if !yield(uint16(r)) {
				return
			}
		}
	}
}
