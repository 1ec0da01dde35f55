package export

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// AppendRow appends the stored columns of a row as a JSON object.
func AppendRow(dst []byte, t *fixture.Table, vals []fixture.Value) []byte {
	dst = append(dst, '{')
	for i, c := range stored(t) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, t.Columns[c].Name), ':')
		dst = AppendValue(dst, t.Columns[c].Type, vals[i])
	}
	return append(dst, '}')
}

// AppendValue appends a cell of a column of the declared type as JSON: 0 and 1 of
// a BOOLEAN are false and true, arrays and objects in a JSON column are what they
// say. A JSON text that says a text or null, or looks like bytes as they are
// spelled here, stays a text, so that an import into the same schema gives it back.
// So does a text that is no UTF-8: {"$base64text": "..."}.
func AppendValue(dst []byte, decl string, v fixture.Value) []byte {
	switch v := v.(type) {
	case int64:
		if strings.HasPrefix(strings.ToUpper(decl), "BOOL") && (v == 0 || v == 1) {
			return strconv.AppendBool(dst, v == 1)
		}
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return fixture.AppendReal(dst, v)
	case string:
		if strings.HasPrefix(strings.ToUpper(decl), "JSON") && v != "" && v[0] != '"' && v[0] != 'n' && !strings.HasPrefix(v, `{"$base64`) {
			if out, err := canon.AppendCompact(dst, []byte(v), canon.Lenient); err == nil && string(out[len(dst):]) == v {
				return out
			}
		}
		return appendText(dst, v)
	case []byte:
		return appendBytes(dst, "$base64", v)
	}
	return append(dst, "null"...)
}

// appendText appends a JSON string where one says the whole text, which a lone
// surrogate has and other bytes that are no UTF-8 have not.
func appendText(dst []byte, s string) []byte {
	start := len(dst)
	dst = canon.AppendString(dst, s)
	if !utf8.ValidString(s) && canon.Unquote(dst[start:]) != s {
		return appendBytes(dst[:start], "$base64text", []byte(s))
	}
	return dst
}

func appendBytes(dst []byte, key string, b []byte) []byte {
	dst = append(dst, `{"`+key+`":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, `"}`...)
}
