package importer

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// class is how values of a declared type are kept.
type class uint8

const (
	classAny class = iota
	classInteger
	classReal
	classNumeric
	classText
	classBoolean
	classDate
	classTime
	classJSON
	classBlob
)

var wants = [...]string{"any scalar", "an integer", "a number", "a number", "a text", "true or false",
	"a date (2006-01-02)", "a time (2006-01-02T15:04:05Z)", "JSON", "bytes in base64"}

// classOf judges a declared type by the words that SQLite's own rules look for.
func classOf(decl string) class {
	d := strings.ToUpper(decl)
	base, _, _ := strings.Cut(d, "(")
	switch strings.TrimSpace(base) {
	case "BOOLEAN", "BOOL":
		return classBoolean
	case "DATE":
		return classDate
	case "DATETIME", "TIMESTAMP":
		return classTime
	case "JSON", "JSONB":
		return classJSON
	case "NUMERIC", "DECIMAL":
		return classNumeric
	case "ANY", "":
		return classAny
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(d, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return classInteger
	case has("CHAR", "CLOB", "TEXT", "UUID", "STRING"):
		return classText
	case has("BLOB"):
		return classBlob
	case has("REAL", "FLOA", "DOUB"):
		return classReal
	}
	return classAny
}

// A converter fits cells into a column. A strict one holds values to the column's
// type: it was inferred or asked for. Otherwise the table was there before, and
// SQLite's own rules are kept.
type converter struct {
	class  class
	strict bool
}

// value converts a cell; ok is false when it does not fit.
func (c converter) value(v cell) (out fixture.Value, ok bool) {
	switch v.kind {
	case null:
		return nil, true
	case ready, blobbed:
		return v.value, true
	case raw:
		return v.text, true
	}
	if !c.strict {
		return c.loose(v), true
	}
	return c.fit(v)
}

func (c converter) fit(v cell) (fixture.Value, bool) {
	isText := v.kind == text || v.kind == quoted || v.kind == plain
	switch c.class {
	case classInteger:
		n, err := strconv.ParseInt(v.text, 10, 64)
		return n, err == nil && v.kind != boolean && canon.IsNumber(v.text)
	case classReal, classNumeric:
		return realOf(v.text)
	case classText:
		return v.text, v.kind != nested
	case classBoolean:
		return truth(v.text)
	case classDate:
		return v.text, isText && datePattern().MatchString(v.text)
	case classTime:
		return v.text, isText && (timePattern().MatchString(v.text) || datePattern().MatchString(v.text))
	case classJSON:
		return jsonText(v)
	case classBlob:
		return blob(v)
	}
	return c.loose(v), true
}

// loose keeps a value as the file has it; what its column makes of it are
// SQLite's rules.
func (c converter) loose(v cell) fixture.Value {
	if b, ok := hexBlob(v); ok {
		return b
	}
	spelled := v.kind == number || v.kind == boolean || v.kind == plain
	if !spelled || c.class == classText && v.kind == plain || c.class == classJSON && v.kind != plain {
		return v.text
	}
	if v.kind == boolean || v.kind == plain && c.class == classBoolean {
		if n, ok := truth(v.text); ok {
			return n
		}
	}
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil && isInteger(v.text) {
		return n
	}
	if f, ok := realOf(v.text); ok {
		return f
	}
	return v.text
}

func realOf(s string) (fixture.Value, bool) {
	if !canon.IsNumber(s) {
		return nil, false
	}
	f, _ := strconv.ParseFloat(s, 64) // beyond the range it is an infinity
	return f, !math.IsInf(f, 0) || strings.HasPrefix(strings.TrimPrefix(s, "-"), "9e999")
}

func truth(s string) (fixture.Value, bool) {
	switch strings.ToLower(s) {
	case "true", "t", "yes", "1":
		return int64(1), true
	case "false", "f", "no", "0":
		return int64(0), true
	}
	return nil, false
}

// jsonText is what a JSON column holds of a cell. Unquoted text of a CSV file
// that is JSON is taken as it is.
func jsonText(v cell) (fixture.Value, bool) {
	switch v.kind {
	case nested, number, boolean:
		return v.text, true
	case plain, quoted:
		if canon.Valid([]byte(v.text)) {
			return v.text, true
		}
	}
	return string(canon.AppendString(nil, v.text)), v.kind == text
}

// hexBlob reads the X'..' that an export writes into a CSV file, unquoted.
func hexBlob(v cell) ([]byte, bool) {
	if v.kind != plain {
		return nil, false
	}
	return hexBytes(v.text)
}

func hexBytes(s string) ([]byte, bool) {
	if len(s) < 3 || s[0] != 'X' || s[1] != '\'' || s[len(s)-1] != '\'' {
		return nil, false
	}
	b, err := hex.DecodeString(s[2 : len(s)-1])
	return b, err == nil
}

// rawText reads the CAST(X'..' AS TEXT) by which an export writes a text that is no
// UTF-8 into a CSV file. Any other text of that look means itself.
func rawText(s string) (string, bool) {
	hexed, ok := strings.CutPrefix(s, "CAST(")
	if !ok {
		return "", false
	}
	hexed, ok = strings.CutSuffix(hexed, " AS TEXT)")
	if !ok {
		return "", false
	}
	b, ok := hexBytes(hexed)
	return string(b), ok && !utf8.Valid(b)
}

func blob(v cell) (fixture.Value, bool) {
	if b, ok := hexBlob(v); ok {
		return b, true
	}
	if v.kind != text && v.kind != plain && v.kind != quoted {
		return nil, false
	}
	b, err := base64.StdEncoding.DecodeString(v.text)
	return b, err == nil
}
