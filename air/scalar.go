package air

import (
	"math/big"
	"regexp"
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

// notFinite is what YAML has and JSON has not.
var notFinite = regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)

func plainNumber(s string) (v *Value, msg string) {
	if canon.IsNumber(s) {
		return canon.NewNumber(s), ""
	}
	if notFinite.MatchString(s) {
		return nil, "the number " + s + ", which JSON cannot carry"
	}
	for prefix, base := range map[string]int{"0o": 8, "0x": 16} {
		digits, ok := strings.CutPrefix(s, prefix)
		if !ok || strings.Trim(strings.ToLower(digits), "0123456789abcdef") != "" {
			continue
		}
		if n, ok := new(big.Int).SetString(digits, base); ok {
			return canon.NewNumber(n.String()), ""
		}
	}
	if text := decimalJSON(s); canon.IsNumber(text) {
		return canon.NewNumber(text), ""
	}
	return nil, ""
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
