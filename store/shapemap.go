package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// mapped are the fields of a table that the map shapes and no contract declares:
// its columns in table order under the map's names, then the joined rows.
func (b *shaper) mapped() (fields []outField) {
	for _, col := range b.table.cols {
		if b.rules.hides(col) || col == b.sh.extras {
			continue
		}
		name := col.name
		for _, n := range b.rules.order {
			if b.rules.columns[n] == col {
				name = n
				break
			}
		}
		f := outField{col: col, at: col.pos, unless: -1}
		fields = place(fields, strings.Split(name, "."), f)
	}
	for _, name := range slices.Sorted(maps.Keys(b.rules.joins)) {
		f := outField{at: -1, unless: -1}
		b.joinRows(&f, b.rules.joins[name])
		fields = place(fields, strings.Split(name, "."), f)
	}
	return fields
}

// place puts a field at a path, making the objects on the way.
func place(fields []outField, path []string, f outField) []outField {
	name := string(canon.AppendString(nil, path[0]))
	if len(path) == 1 {
		f.name = name
		return append(fields, f)
	}
	for i := range fields {
		if fields[i].name == name && fields[i].group != nil {
			fields[i].group = place(fields[i].group, path[1:], f)
			return fields
		}
	}
	return append(fields, outField{name: name, at: -1, unless: -1, group: place(nil, path[1:], f)})
}

// joinRows fills a field with rows of another table: one as an object, many as
// an array, in the order of their key.
func (b *shaper) joinRows(f *outField, j *joinRule) {
	if j.many {
		b.sh.exprs = append(b.sh.exprs, j.array())
		f.at, f.typ, f.unless = len(b.table.cols)+len(b.sh.exprs)-1, outJSON, -1
		return
	}
	b.joined++
	alias := fmt.Sprintf("j%d", b.joined)
	at := func(col *column) int {
		b.sh.exprs = append(b.sh.exprs, "+"+alias+"."+fixture.Quote(col.name))
		return len(b.table.cols) + len(b.sh.exprs) - 1
	}
	f.unless = at(j.other)
	for _, c := range j.columns {
		f.group = append(f.group, outField{name: string(canon.AppendString(nil, c.name)), col: c.col, at: at(c.col), unless: -1})
	}
	b.sh.joins += " LEFT JOIN " + fixture.Quote(j.table.name) + " AS " + alias + " ON " + alias + "." + fixture.Quote(j.other.name) +
		" = t." + fixture.Quote(j.own.name)
}

// array is a subquery that gives the joined rows as a JSON array.
func (j *joinRule) array() string {
	var parts []string
	for _, c := range j.columns {
		val := "x." + fixture.Quote(c.col.name)
		switch c.col.class {
		case classBoolean:
			val = "CASE " + val + " WHEN 1 THEN json('true') WHEN 0 THEN json('false') END"
		case classJSON:
			val = "CASE WHEN json_valid(" + val + ") THEN json(" + val + ") END"
		case classBlob:
			val = "hex(" + val + ")"
		}
		parts = append(parts, literal(c.name)+","+val)
	}
	order := j.table.clause(j.table.natural())
	limit := ""
	if j.limit > 0 {
		limit = fmt.Sprintf(" LIMIT %d", j.limit)
	}
	inner := "SELECT * FROM " + fixture.Quote(j.table.name) + " AS i WHERE i." + fixture.Quote(j.other.name) + " = t." + fixture.Quote(j.own.name) +
		strings.ReplaceAll(order, "t.", "i.") + limit
	return "(SELECT json_group_array(json_object(" + strings.Join(parts, ",") + ")) FROM (" + inner + ") AS x)"
}
