package sim

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// NumberText reads parameter text as a number by the recorded rule: the whole
// text, white space around it allowed, as ECMAScript's Number() takes it, when
// it is not empty and finite (0x1F is 31, 1e2 is 100). The result is spelled as
// JSON in ECMAScript's form, integers exactly at any size.
func NumberText(text string) (string, bool) {
	t := strings.TrimFunc(text, isSpace)
	if t == "" {
		return "", false
	}
	if len(t) > 2 && t[0] == '0' {
		if base := radix(t[1]); base != 0 {
			n, ok := new(big.Int).SetString(t[2:], base)
			if !ok || t[2] == '-' || t[2] == '+' || strings.Contains(t, "_") {
				return "", false
			}
			return n.String(), true
		}
	}
	if !isDecimal(t) {
		return "", false
	}
	if plain, ok := plainInteger(t); ok {
		return plain, true
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil {
		return "", false
	}
	return string(canon.AppendFloat(nil, f)), true
}

func radix(c byte) int {
	switch c {
	case 'x', 'X':
		return 16
	case 'o', 'O':
		return 8
	case 'b', 'B':
		return 2
	}
	return 0
}

// isSpace is ECMAScript's white space and line terminators.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

// isDecimal reports whether t is an ECMAScript decimal literal: digits with an
// optional sign, point and exponent. ParseFloat alone takes more (inf, hex
// floats, underscores).
func isDecimal(t string) bool {
	t = strings.TrimLeft(t[:1], "+-") + t[1:]
	mantissa, exp, hasExp := cutAny(t, "eE")
	whole, frac, _ := strings.Cut(mantissa, ".")
	if whole == "" && frac == "" || !digits(whole) || !digits(frac) {
		return false
	}
	if !hasExp {
		return true
	}
	if exp != "" && (exp[0] == '+' || exp[0] == '-') {
		exp = exp[1:]
	}
	return exp != "" && digits(exp)
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// plainInteger spells an integer without point and exponent exactly, however
// long it is.
func plainInteger(t string) (string, bool) {
	neg := t[0] == '-'
	d := strings.TrimLeft(t, "+-")
	if !digits(d) || d == "" {
		return "", false
	}
	d = strings.TrimLeft(d, "0")
	switch {
	case d == "":
		return "0", true
	case neg:
		return "-" + d, true
	}
	return d, true
}
