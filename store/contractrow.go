package store

import (
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// How the derived contract shows a row: every column under its own name, or what
// the table's part of the map makes of it.

// keyColumns name a row in paths: the map's id, else the primary key.
func (r *resource) keyColumns() []*column {
	if r.rules != nil && r.rules.id != nil && len(r.table.key) > 0 {
		return []*column{r.rules.id}
	}
	return r.table.key
}

// shows tells whether a column has a field of its own.
func (r *resource) shows(c *column) bool {
	return r.rules == nil || !c.hidden && c != r.rules.extrasOf(r.table)
}

// fieldOf is where a row has a column: one name, or those of the objects that it
// stands in before it.
func (r *resource) fieldOf(c *column) []string {
	if r.rules == nil {
		return []string{c.name}
	}
	return strings.Split(r.rules.nameOf(c), ".")
}

// rowSchema is the schema of a row as it is served: every field stands in it.
func (r *resource) rowSchema() *canon.Value {
	if r.rules != nil {
		return fieldsSchema(newShape(r.db, r.table, declared{}, r.rules).fields, true)
	}
	var fields []outField
	for _, c := range r.table.cols {
		fields = place(fields, r.fieldOf(c), outField{col: c, unless: -1})
	}
	return fieldsSchema(fields, true)
}

// fieldsSchema is an object of fields, and what is in it where served tells that
// every one of them stands there.
func fieldsSchema(fields []outField, served bool) *canon.Value {
	var props []canon.Member
	var names []string
	for _, f := range fields {
		s := obj()
		switch {
		case f.many != nil:
			s = obj("type", "array", "items", fieldsSchema(f.many, served))
		case f.group != nil:
			s = fieldsSchema(f.group, served)
			if f.unless >= 0 {
				s = s.With("type", val([]string{"object", "null"}))
			}
		case f.col != nil:
			s = columnSchema(f.col)
		}
		name := canon.Unquote([]byte(f.name))
		props, names = append(props, canon.Member{Key: name, Value: s}), append(names, name)
	}
	schema := obj("type", "object", "properties", canon.NewObject(props...))
	if served {
		schema = schema.With("required", val(names))
	}
	return schema
}

// body declares a request body, as a whole: single fields could not be set to
// null, and unknown ones would be dropped before the store could name them.
func (r *resource) body(v verb) *canon.Value {
	var required []string
	var fields []outField
	for _, c := range r.table.cols {
		if c.generated || !r.shows(c) {
			continue
		}
		path := r.fieldOf(c)
		fields = place(fields, path, outField{col: c, unless: -1})
		if len(path) == 1 && c.required() && !r.rules.gives(c) && (v == createRow || v == replaceRow && !slices.Contains(r.keyColumns(), c)) {
			required = append(required, path[0])
		}
	}
	if r.rules != nil {
		for _, name := range slices.Sorted(maps.Keys(r.rules.joins)) {
			fields = place(fields, strings.Split(name, "."), outField{unless: -1})
		}
	}
	schema := fieldsSchema(fields, false)
	if r.rules == nil || r.rules.extrasOf(r.table) == nil {
		schema = schema.With("additionalProperties", val(false))
	}
	if required != nil {
		schema = schema.With("required", val(required))
	}
	return obj("contentType", "application/json", "required", v != createRow || required != nil, "schema", schema, "projection", "whole")
}
