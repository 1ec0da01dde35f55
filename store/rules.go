package store

import (
	"slices"
	"strings"
)

// tableRules are what a map says about one table.
type tableRules struct {
	id      *column            // names a row in paths
	columns map[string]*column // by API name, dotted for nested ones
	order   []string           // API names in the order of the map
	extras  *column
	dflts   []assignment
	joins   map[string]*joinRule
}

// A joinRule is a nested object or array of rows of another table.
type joinRule struct {
	name    string
	at      string // in the map, for its faults
	table   *table
	own     *column // of the outer row
	other   *column // of the joined rows, equal to own
	many    bool
	columns []joinColumn
	limit   int
}

type joinColumn struct {
	name string
	col  *column
}

// The methods answer for nil: a table without rules.

func (r *tableRules) columnOf(_ *table, dotted string) *column {
	if r == nil {
		return nil
	}
	return r.columns[dotted]
}

// refers tells whether a join shows the one row that a column of this table names,
// so that a write of the field sets that column.
func (j *joinRule) refers() bool {
	return j != nil && !j.many && !j.own.generated && !slices.Contains(j.own.table.key, j.own)
}

// column is what the joined rows call a field, nil for none.
func (j *joinRule) column(name string) *column {
	for _, c := range j.columns {
		if c.name == name {
			return c.col
		}
	}
	return nil
}

func (r *tableRules) joinOf(dotted string) *joinRule {
	if r == nil {
		return nil
	}
	return r.joins[dotted]
}

// names tells whether the map's id column is what the API calls id: the table has
// no other column of that name.
func (r *tableRules) names() bool {
	return r != nil && r.id != nil && !r.id.hidden && r.id.table.outColumn([]string{"id"}) == nil
}

// nameOf is the API's name of a column, dotted for a nested field.
func (r *tableRules) nameOf(col *column) string {
	if r != nil {
		for _, name := range r.order {
			if r.columns[name] == col {
				return name
			}
		}
	}
	return col.name
}

// gives tells whether a new row has a value for a column without the client's: a
// default, or an id that continues the others.
func (r *tableRules) gives(col *column) bool {
	return r != nil && (col == r.id || slices.ContainsFunc(r.dflts, func(a assignment) bool { return a.col == col }))
}

// isHidden tells whether the map gave a name to nothing.
func (r *tableRules) isHidden(dotted string) bool {
	if r == nil {
		return false
	}
	col, ok := r.columns[dotted]
	return ok && col == nil
}

// extrasNames are the columns that take undeclared fields by rule.
var extrasNames = map[string]bool{"extras": true, "extra": true, "additionalproperties": true, "extrafields": true}

// extrasOf is the JSON column that takes fields without a column of their own.
func (r *tableRules) extrasOf(t *table) *column {
	if r != nil && r.extras != nil {
		return r.extras
	}
	for _, c := range t.cols {
		if extrasNames[c.norm] && (c.class == classJSON || c.class == classString) && !c.generated {
			return c
		}
	}
	return nil
}

// hides tells whether a name of the map is a hidden column's.
func (r *tableRules) hides(name string) bool { return r.columns[name] != nil && r.columns[name].hidden }

// under lists the names that the map puts into an object.
func (r *tableRules) under(dotted string) (names []string) {
	if r == nil {
		return nil
	}
	for _, name := range r.order {
		if rest, ok := strings.CutPrefix(name, dotted+"."); ok {
			first, _, _ := strings.Cut(rest, ".")
			if len(names) == 0 || names[len(names)-1] != first {
				names = append(names, first)
			}
		}
	}
	return names
}

// inColumn finds the column that an API name of the map means: as a whole, or
// as the last part of a dotted one where no other has it.
func (r *tableRules) inColumn(name string) *column {
	if r == nil {
		return nil
	}
	if col, ok := r.columns[name]; ok && (col == nil || !col.hidden) {
		return col
	}
	n := normal(name)
	for _, full := range r.order {
		if normal(full) == n && !r.hides(full) {
			return r.columns[full]
		}
	}
	if n == "id" && r.names() {
		return r.id
	}
	for _, full := range r.order {
		if i := strings.LastIndexByte(full, '.'); i >= 0 && normal(full[i+1:]) == n && !r.hides(full) {
			return r.columns[full]
		}
	}
	return nil
}
