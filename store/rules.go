package store

import (
	"strings"
)

// tableRules are what a map says about one table.
type tableRules struct {
	id      *column            // names a row in paths
	columns map[string]*column // by API name, dotted for nested ones
	order   []string           // API names in the order of the map
	hidden  map[*column]bool
	extras  *column
	dflts   []assignment
	joins   map[string]*joinRule
}

// A joinRule is a nested object or array of rows of another table.
type joinRule struct {
	name    string
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

func (r *tableRules) joinOf(dotted string) *joinRule {
	if r == nil {
		return nil
	}
	return r.joins[dotted]
}

func (r *tableRules) hides(col *column) bool { return r != nil && r.hidden[col] }

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
	if col, ok := r.columns[name]; ok {
		return col
	}
	n := normal(name)
	for _, full := range r.order {
		if normal(full) == n {
			return r.columns[full]
		}
	}
	for _, full := range r.order {
		if i := strings.LastIndexByte(full, '.'); i >= 0 && normal(full[i+1:]) == n {
			return r.columns[full]
		}
	}
	return nil
}
