package store

import (
	"database/sql/driver"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// compare makes a filter of an operator word ("" is equality) and a compact JSON
// value. An array is a choice of values; a time is respelled as the column has
// its times.
func compare(col *column, name, word string, raw []byte) (filter, error) {
	switch word {
	case "", "eq":
		return equality(col, name, raw)
	case "in":
		return equality(col, name, splitList(raw))
	case "ne", "nin":
		if word == "nin" {
			raw = splitList(raw)
		}
		f, err := equality(col, name, raw)
		return negate(f), err
	case "null", "exists":
		return nullTest(col, name, word, raw)
	case "like", "contains", "prefix", "suffix":
		return patterns(col, name, word, raw)
	}
	by := map[string]op{"lt": opLess, "lte": opAtMost, "gt": opMore, "gte": opAtLeast}[word]
	var parts []filter
	for _, e := range elements(raw) {
		v, cut, err := col.bound(name, e)
		if err != nil {
			return filter{}, err
		}
		how := by
		if cut { // before 10:30 is the same day too, in a column of days
			how = wider(by)
		}
		parts = append(parts, filter{col: col, op: how, vals: []driver.Value{v}, param: name})
	}
	if len(parts) == 0 {
		return filter{}, invalid("parameter %q wants a value", clip(name))
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return filter{col: col, op: opAll, parts: parts, param: name}, nil
}

// wider is a comparison with a time that was cut to an earlier one.
func wider(by op) op {
	switch by {
	case opLess:
		return opAtMost
	case opAtLeast:
		return opMore
	}
	return by
}

// equality is filterOf with NULL and times understood: the bare text null means
// NULL where the column could not hold that text, or holds nothing else.
func equality(col *column, name string, raw []byte) (filter, error) {
	if col.class == classJSON {
		return holds(col, name, raw)
	}
	f, err := filterOf(col, name, raw)
	if err != nil {
		return f, err
	}
	for _, e := range elements(raw) {
		s := plainText(e)
		if s == "null" && e[0] == '"' && !col.notNull && !col.auto {
			f.null = true
		}
		if col.form == "" {
			continue
		}
		if at, ok := clientTime(s); ok {
			if v := spell(at, col.form); v != s {
				f.vals = append(f.vals, v)
			}
		}
	}
	return f, nil
}

// elements are the elements of an array, else the value itself.
func elements(raw []byte) (list [][]byte) {
	if raw[0] != '[' {
		return [][]byte{raw}
	}
	canon.Elements(raw, func(e []byte) bool {
		list = append(list, e)
		return true
	})
	return list
}

// splitList takes a text as a list: a,b,c.
func splitList(raw []byte) []byte {
	if raw[0] != '"' {
		return raw
	}
	var list []*canon.Value
	for part := range strings.SplitSeq(canon.Unquote(raw), ",") {
		list = append(list, canon.NewString(strings.TrimSpace(part)))
	}
	return canon.NewArray(list...).AppendJSON(nil)
}

func nullTest(col *column, name, word string, raw []byte) (filter, error) {
	is, ok := truth(strings.ToLower(plainText(raw)))
	if plainText(raw) == "" {
		is, ok = true, true
	}
	if !ok {
		return filter{}, invalid("parameter %q wants true or false, got %s", clip(name), describe(raw))
	}
	if is == (word == "exists") {
		return filter{col: col, op: opPresent, param: name}, nil
	}
	return filter{col: col, null: true, param: name}, nil
}

// patterns are comparisons of a text's parts, in any letter case of ASCII.
func patterns(col *column, name, word string, raw []byte) (filter, error) {
	var parts []filter
	for _, e := range elements(raw) {
		if e[0] == '{' || e[0] == '[' || string(e) == "null" {
			return filter{}, invalid("parameter %q wants a text, got %s", clip(name), describe(e))
		}
		s := plainText(e)
		var pattern string
		switch word {
		case "like":
			pattern = strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "*", "%")
			if !strings.ContainsAny(pattern, "%_") {
				pattern = "%" + pattern + "%"
			}
		case "contains":
			pattern = likePattern("%", s, "%")
		case "prefix":
			pattern = likePattern("", s, "%")
		case "suffix":
			pattern = likePattern("%", s, "")
		}
		if len(pattern) > maxPattern {
			return filter{}, invalid("parameter %q: the text is longer than %d bytes", clip(name), maxPattern)
		}
		parts = append(parts, filter{col: col, op: opLike, vals: []driver.Value{pattern}, param: name})
	}
	return anyOf(parts), nil
}

// maxPattern is how long a pattern SQLite takes.
const maxPattern = 50000

// bound is the value of a comparison of size, typed as the column is; cut tells that it
// is a time of which the column's form drops the end.
func (c *column) bound(name string, raw []byte) (val driver.Value, cut bool, err error) {
	v, ok := scalar(raw)
	if !ok || v == nil {
		return nil, false, invalid("parameter %q wants a plain value, got %s", clip(name), describe(raw))
	}
	if c.form != "" {
		if at, ok := clientTime(v); ok {
			val = spell(at, c.form)
			kept, ok := readTime(val)
			return val, ok && kept.Before(at), nil
		}
		if c.form == formEpoch || c.form == formEpochMilli {
			return nil, false, invalid("parameter %q wants a time such as 2026-01-31T09:00:00Z, got %s", clip(name), describe(raw))
		}
	}
	val, err = c.plainBound(name, v, raw)
	return val, false, err
}

// plainBound is the value of a comparison with what is no time.
func (c *column) plainBound(name string, v driver.Value, raw []byte) (driver.Value, error) {
	s, isText := v.(string)
	switch {
	case isText && canon.IsNumber(s) && (c.class == classInteger || c.class == classNumber || c.class == classAny):
		if n, ok := parseNumber(s); ok {
			return n, nil
		}
	case isText && (c.class == classInteger || c.class == classNumber):
		return nil, invalid("parameter %q wants %s, got %s", clip(name), c.class, describe(raw))
	case isText && c.class == classBoolean:
		if b, ok := truth(s); ok {
			return bit(b), nil
		}
		return nil, invalid("parameter %q wants true or false, got %s", clip(name), describe(raw))
	}
	if b, ok := v.(bool); ok {
		return bit(b), nil
	}
	return v, nil
}
