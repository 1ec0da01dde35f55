package store

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// joinRows fills a field with rows of another table, as the map says: one as an
// object, many as an array, in the order of their key. from is what the contract
// declares for the field.
func (b *shaper) joinRows(f *outField, j *joinRule, from declared) {
	if j.many {
		b.sh.exprs = append(b.sh.exprs, j.array())
		f.at, f.unless = len(b.table.cols)+len(b.sh.exprs)-1, -1
		f.many = j.fields(from.with(from.schema.Get("items")))
		return
	}
	b.joined++
	alias := fmt.Sprintf("j%d", b.joined)
	at := func(col *column) int {
		b.sh.exprs = append(b.sh.exprs, "+"+alias+"."+fixture.Quote(col.name))
		return len(b.table.cols) + len(b.sh.exprs) - 1
	}
	f.unless = at(j.other)
	f.group = j.fields(from)
	for i := range f.group {
		f.group[i].at = at(f.group[i].col)
	}
	b.sh.joins += " LEFT JOIN " + fixture.Quote(j.table.name) + " AS " + alias + " ON " + alias + "." + fixture.Quote(j.other.name) +
		" = t." + fixture.Quote(j.own.name)
}

// fields are the columns that a join shows, of the types that the contract declares.
func (j *joinRule) fields(from declared) []outField {
	props := canon.NewObject(from.properties()...)
	out := make([]outField, len(j.columns))
	for i, c := range j.columns {
		out[i] = outField{name: string(canon.AppendString(nil, c.name)), col: c.col, at: i, unless: -1}
		if schema := props.Get(c.name); schema != nil {
			out[i].typ = outTypeOf(from.with(schema).schema)
		}
	}
	return out
}

// array is a subquery that gives the joined rows as an array of arrays, for
// [outField.appendMany] to write. JSON has no bytes: those are {"x": "hex"}.
func (j *joinRule) array() string {
	var parts []string
	for _, c := range j.columns {
		val := "x." + fixture.Quote(c.col.name)
		parts = append(parts, "CASE typeof("+val+") WHEN 'blob' THEN json_object('x',hex("+val+")) ELSE "+val+" END")
	}
	var order []string
	for _, k := range j.table.natural().keys {
		if k.col == nil {
			order = append(order, "i."+j.table.rowid)
		} else {
			order = append(order, "i."+fixture.Quote(k.col.name))
		}
	}
	inner := "SELECT * FROM " + fixture.Quote(j.table.name) + " AS i WHERE i." + fixture.Quote(j.other.name) + " = t." + fixture.Quote(j.own.name)
	if order != nil {
		inner += " ORDER BY " + strings.Join(order, ",")
	}
	if j.limit > 0 {
		inner += fmt.Sprintf(" LIMIT %d", j.limit)
	}
	return "(SELECT json_group_array(json_array(" + strings.Join(parts, ",") + ")) FROM (" + inner + ") AS x)"
}

// appendMany appends the rows that [joinRule.array] gave.
func (f *outField) appendMany(dst []byte, v cell) []byte {
	dst = append(dst, '[')
	canon.Elements([]byte(v.Text), func(row []byte) bool {
		cells := make([]cell, 0, len(f.many))
		canon.Elements(row, func(e []byte) bool {
			cells = append(cells, cellOf(joinedValue(e)))
			return true
		})
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = append(appendFields(append(dst, '{'), f.many, cells, nil), '}')
		return true
	})
	return append(dst, ']')
}

func joinedValue(raw []byte) driver.Value {
	if raw[0] == '{' {
		digits, _ := canon.Lookup(raw, "x")
		bytes, _ := hex.DecodeString(canon.Unquote(digits))
		return bytes
	}
	v, _ := scalar(raw)
	return v
}
