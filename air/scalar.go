package air

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// plainScalar reads an unquoted YAML scalar by the YAML 1.2 core schema: nil
// for text, a value that is no string for the rest. The message is not empty
// for what JSON cannot carry. Numbers keep their digits at any size: 0777 is
// 777, 0o17 is 15, 0x1F is 31, +1. is 1, .5 is 0.5; yes, on, 1_000, 12:30 and
// 2026-01-01 are text.
func plainScalar(s string) (v *Value, msg string) {
	if s == "" {
		return canon.NewNull(), ""
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return plainNumber(s)
	case c == '~', c == 'n', c == 'N', c == 't', c == 'T', c == 'f', c == 'F':
		switch s {
		case "~", "null", "Null", "NULL":
			return canon.NewNull(), ""
		case "true", "True", "TRUE":
			return canon.NewBool(true), ""
		case "false", "False", "FALSE":
			return canon.NewBool(false), ""
		}
	}
	return nil, ""
}

func plainNumber(s string) (v *Value, msg string) {
	if canon.IsNumber(s) {
		return exponentless(s), ""
	}
	switch s {
	case ".nan", ".NaN", ".NAN":
		return nil, "the number " + s + ", which JSON cannot carry"
	}
	switch strings.TrimLeft(s[:1], "+-") + s[1:] {
	case ".inf", ".Inf", ".INF":
		return nil, "the number " + s + ", which JSON cannot carry"
	}
	if digits, ok := strings.CutPrefix(s, "0o"); ok {
		return based(digits, 8), ""
	}
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		return based(digits, 16), ""
	}
	if text := decimalJSON(s); canon.IsNumber(text) {
		return exponentless(text), ""
	}
	return nil, ""
}

// exponentless spells a number with an exponent as ECMAScript does, 1e3 as 1000
// and 1E+21 as 1e+21: YAML has no spelling of its own to carry. Beyond double
// precision the digits count for more, so such a number stays as it is.
func exponentless(text string) *Value {
	if !strings.ContainsAny(text, "eE") {
		return canon.NewNumber(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return canon.NewNumber(text)
	}
	if spelled := string(canon.AppendFloat(nil, f)); canon.NumberKey(spelled) == canon.NumberKey(text) {
		return canon.NewNumber(spelled)
	}
	return canon.NewNumber(text)
}

// based is the number that digits spell, nil when they spell none.
func based(digits string, base int) *Value {
	if strings.Trim(strings.ToLower(digits), "0123456789abcdef") != "" {
		return nil // SetString takes signs and underscores
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return nil
	}
	return canon.NewNumber(n.String())
}

// decimalJSON spells a YAML decimal as JSON wants it: no plus sign, no leading
// zeros, a digit on each side of the point. What is no decimal stays none.
func decimalJSON(s string) string {
	s = strings.TrimPrefix(s, "+")
	digits, neg := strings.CutPrefix(s, "-")
	end := strings.IndexAny(digits, "eE")
	if end < 0 {
		end = len(digits)
	}
	whole, frac, point := strings.Cut(digits[:end], ".")
	if whole == "" && frac == "" || strings.Trim(whole+frac, "0123456789") != "" {
		return ""
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if point && frac != "" {
		whole += "." + frac
	}
	if neg {
		whole = "-" + whole
	}
	return whole + digits[end:]
}
