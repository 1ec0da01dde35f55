package store

import (
	"database/sql/driver"
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/internal/native"
)

// appendRow appends a row as a JSON object, columns in table order.
func (t *table) appendRow(dst []byte, cells []cell) []byte {
	for i, c := range t.cols {
		dst = append(dst, c.lead...)
		dst = c.appendCell(dst, cells[i])
	}
	return append(dst, '}')
}

// appendJSON appends one value as [column.appendCell] does.
func (c *column) appendJSON(dst []byte, v driver.Value) []byte { return c.appendCell(dst, cellOf(v)) }

// appendCell appends one value: integers exact, reals as ECMAScript spells them
// (an infinity has no JSON number and is null), blobs in base64.
func (c *column) appendCell(dst []byte, v cell) []byte {
	switch v.Kind {
	case native.Integer:
		if c.class == classBoolean && (v.Num == 0 || v.Num == 1) {
			return strconv.AppendBool(dst, v.Num == 1)
		}
		return strconv.AppendInt(dst, v.Num, 10)
	case native.Real:
		return canon.AppendFloat(dst, v.Real())
	case native.Text:
		if c.class == classJSON {
			if out, err := canon.AppendCompact(dst, []byte(v.Text), canon.Lenient); err == nil {
				return out
			}
		}
		return canon.AppendString(dst, v.Text)
	case native.Blob:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(v.Text))
		return append(dst, '"')
	}
	return append(dst, "null"...)
}

// scalar reads a compact JSON scalar: an int64 where the number is a whole one
// that fits, else a float64. ok is false for arrays and objects, and for numbers
// beyond a double's range.
func scalar(raw []byte) (v driver.Value, ok bool) {
	switch raw[0] {
	case '"':
		return canon.Unquote(raw), true
	case 't':
		return true, true
	case 'f':
		return false, true
	case 'n':
		return nil, true
	case '[', '{':
		return nil, false
	}
	return parseNumber(string(raw))
}

func parseNumber(text string) (driver.Value, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, false
	}
	return f, true
}

// whole returns a float as an integer when it is one.
func whole(f float64) (int64, bool) {
	if f != math.Trunc(f) || f < -1<<63 || f >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// take turns a JSON value that a client sent for a column into what is stored.
// A wrong type is a validation_error that names the column.
func (c *column) take(raw []byte) (driver.Value, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	if c.class == classJSON {
		return string(raw), nil
	}
	v, ok := scalar(raw)
	f, isFloat := v.(float64)
	if !ok && raw[0] != '[' && raw[0] != '{' || isFloat && c.class == classInteger && math.Abs(f) >= 1<<63 {
		return nil, invalid("%q of %s: the number %s is too large", c.name, c.table.name, clip(string(raw)))
	}
	if ok {
		if out, fits := c.convert(v); fits {
			return out, nil
		}
	}
	return nil, invalid("%q of %s wants %s, got %s", c.name, c.table.name, c.class, describe(raw))
}

// convert fits a scalar into the column's class; only what loses nothing.
func (c *column) convert(v driver.Value) (driver.Value, bool) {
	if s, ok := v.(string); ok && canon.IsNumber(s) && (c.class == classInteger || c.class == classNumber) {
		if v, ok = parseNumber(s); !ok {
			return nil, false
		}
	}
	switch x := v.(type) {
	case bool:
		return bit(x), c.class == classBoolean || c.class == classInteger || c.class == classAny
	case int64:
		return x, c.takesNumbers() || c.class == classBoolean && (x == 0 || x == 1)
	case float64:
		if n, ok := whole(x); ok && c.class == classInteger {
			return n, true
		}
		return x, c.takesNumbers() && c.class != classInteger
	case string:
		if c.class == classBlob {
			b, err := base64.StdEncoding.DecodeString(x)
			return b, err == nil
		}
		return x, c.class == classString || c.class == classAny
	}
	return nil, false
}

// takesNumbers: dates have numeric affinity, and are numbers in many databases.
func (c *column) takesNumbers() bool {
	switch c.class {
	case classInteger, classNumber, classAny:
		return true
	}
	return c.class == classString && c.affinity == affNumeric
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// clipAt is how many characters of a value an error shows.
const clipAt = 100

// clip cuts text that a client sent, or that a row holds, to a readable length.
func clip(text string) string {
	if len(text) <= clipAt {
		return text
	}
	n := 0
	for i := range text {
		if n++; n <= clipAt {
			continue
		}
		cut := strings.TrimRight(text[:i], `\`) // no half of an escape
		if text[0] == '"' {
			return cut + `…"`
		}
		return cut + "…"
	}
	return text
}

// shown is a value as an error shows it.
func (c *column) shown(v driver.Value) string { return clip(string(c.appendJSON(nil, v))) }

// describe names a JSON value for an error.
func describe(raw []byte) string {
	switch raw[0] {
	case '"':
		return "the string " + clip(string(raw))
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return string(raw)
	}
	return "the number " + clip(string(raw))
}

// filterOf reads a parameter's JSON value as an equality filter on a column; an
// array is a choice of values.
func filterOf(c *column, name string, raw []byte) (filter, error) {
	f := filter{col: c}
	compact, err := canon.AppendCompact(nil, raw, canon.Lenient)
	if err != nil {
		return f, invalid("parameter %q: %v", clip(name), err)
	}
	if compact[0] != '[' {
		return f, f.add(name, compact)
	}
	canon.Elements(compact, func(e []byte) bool {
		err = f.add(name, e)
		return err == nil
	})
	return f, err
}

func (f *filter) add(name string, raw []byte) error {
	v, ok := scalar(raw)
	if !ok {
		return invalid("parameter %q wants a plain value, got %s", clip(name), describe(raw))
	}
	switch x := v.(type) {
	case nil:
		f.null = true
		return nil
	case bool:
		v = bit(x)
		if f.col.class == classString || f.col.class == classAny {
			f.vals = append(f.vals, string(raw)) // a text that reads true
		}
	case string:
		f.addText(x)
		return nil
	case int64, float64:
		if f.col.affinity == affNone {
			f.vals = append(f.vals, string(raw))
		}
	}
	f.vals = append(f.vals, v)
	return nil
}

// addText adds a text. SQLite converts it as the column's affinity says; a
// column without one takes it as a number too.
func (f *filter) addText(s string) {
	switch f.col.class {
	case classBoolean:
		if s == "true" || s == "false" {
			f.vals = append(f.vals, bit(s == "true"))
		}
	case classBlob:
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			f.vals = append(f.vals, b)
		}
	}
	f.vals = append(f.vals, s)
	if f.col.affinity == affNone && canon.IsNumber(s) {
		if n, ok := parseNumber(s); ok {
			f.vals = append(f.vals, n)
		}
	}
}
