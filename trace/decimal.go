package trace

import "bytes"

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
