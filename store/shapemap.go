package store

import (
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// mapped are the fields of a table that the map shapes and no contract declares:
// its columns in table order under the map's names, then the joined rows.
func (b *shaper) mapped() (fields []outField) {
	for _, col := range b.table.cols {
		if col.hidden || col == b.sh.extras {
			continue
		}
		f := outField{col: col, at: col.pos, unless: -1}
		fields = place(fields, strings.Split(b.rules.nameOf(col), "."), f)
	}
	for _, name := range slices.Sorted(maps.Keys(b.rules.joins)) {
		f := outField{at: -1, unless: -1}
		b.joinRows(&f, b.rules.joins[name], declared{})
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
