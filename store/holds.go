package store

import (
	"database/sql/driver"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A JSON column that is asked for a plain value has it when it is an array with
// that element, an object that is known by that value, or an array with such an
// object: labels=bug finds ["bug"] and [{"id": 7, "name": "bug"}].

// knownBy are the members by which an object in a JSON column is known.
const knownBy = "('id','gid','sid','key','name','login','slug','value','accountId')"

// holds makes the filter of a value; of an array any of its values. A text with
// commas is several values that must all be there.
func holds(col *column, name string, raw []byte) (filter, error) {
	var choices []filter
	for _, e := range elements(raw) {
		v, ok := scalar(e)
		if !ok {
			return filter{}, invalid("parameter %q wants a plain value, got %s", clip(name), describe(e))
		}
		if v == nil {
			choices = append(choices, filter{col: col, null: true, param: name})
			continue
		}
		var all []filter
		for part := range strings.SplitSeq(plainText(e), ",") {
			part = strings.TrimSpace(part)
			f := filter{col: col, op: opHolds, vals: []driver.Value{part}, param: name}
			if n, ok := parseNumber(part); ok && canon.IsNumber(part) {
				f.vals = append(f.vals, n)
			}
			all = append(all, f)
		}
		if len(all) == 1 {
			choices = append(choices, all[0])
		} else {
			choices = append(choices, filter{col: col, op: opAll, parts: all, param: name})
		}
	}
	f := anyOf(choices)
	f.col, f.param = col, name
	return f, nil
}

// holds is the filter as SQL. Booleans have no text of their own in JSON's
// tables, so "true" finds only a text.
func (f filter) holds() (string, []driver.Value) {
	col := "t." + fixture.Quote(f.col.name)
	marks := "(?" + strings.Repeat(",?", len(f.vals)-1) + ")"
	sql := "(" + col + " IN " + marks + " OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(" + col + ") THEN " + col +
		" ELSE '[]' END) AS e WHERE (e.key IS NULL OR typeof(e.key) = 'integer' OR e.key IN " + knownBy + ") AND e.atom IN " + marks +
		" OR e.type = 'object' AND typeof(e.key) = 'integer' AND EXISTS (SELECT 1 FROM json_each(e.value) AS m WHERE m.key IN " + knownBy +
		" AND m.atom IN " + marks + ")))"
	args := append(append(f.vals[:len(f.vals):len(f.vals)], f.vals...), f.vals...)
	return sql, args
}
