package store

import (
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// column finds a column by a normal name, as requests name it.
func (g *target) column(norm string) *column {
	if col := g.rules.inColumn(norm); col != nil {
		return col
	}
	if col := g.table.named(norm); col != nil && !col.hidden {
		return col
	}
	return nil
}

// extras is the column for fields that have none of their own, nil without one.
func (g *target) extras() *column { return g.rules.extrasOf(g.table) }

// keepsJSON tells whether a text column holds JSON, by the declared response.
func (g *target) keepsJSON(col *column) bool { return g.shape.typeOf(col) == outJSON }

// typeOf is the declared type of a column's field.
func (sh *shape) typeOf(col *column) outType {
	if sh != nil {
		for _, f := range sh.fields {
			if f.col == col && f.group == nil && f.at == col.pos {
				return f.typ
			}
		}
	}
	return outStored
}

// source is the column that fills a declared top-level field.
func (sh *shape) source(name string) *column {
	if sh == nil {
		return nil
	}
	quoted := string(canon.AppendString(nil, name))
	for _, f := range sh.fields {
		if f.name == quoted && f.group == nil && f.col != nil {
			return f.col
		}
	}
	return nil
}

// take reads a value that a client sent for a column, as the declared response
// serves it and as the column stores it.
func (g *target) take(col *column, raw []byte) (driver.Value, error) {
	typ := g.shape.typeOf(col)
	if col.class == classString {
		switch c := raw[0]; {
		case c == '{' || c == '[':
			if typ == outJSON {
				return string(raw), nil
			}
		case typ == outNumber && c != '"' && c != 'n' && c != 't' && c != 'f', typ == outBoolean && (c == 't' || c == 'f'):
			return string(raw), nil // the digits as they came
		}
	}
	if col.form != "" && (raw[0] == '"') {
		s := canon.Unquote(raw)
		respell := typ == outTime || typ == outDate || col.form == formEpoch || col.form == formEpochMilli
		if form := formOf(s); respell && form != "" && form != col.form {
			if at, ok := readTime(s); ok {
				return spell(at, col.form), nil
			}
		}
	}
	return col.take(raw)
}

// wrapRow puts a row where the declared response has it.
func (g *target) wrapRow(row []byte) []byte {
	if g.wrap == "" || string(row) == "null" {
		return row
	}
	out := append(canon.AppendString([]byte{'{'}, g.wrap), ':')
	return append(append(out, row...), '}')
}

// nothing is the result of a call that has no row to show: an object where the
// contract declares one with a fixed member, such as {"ok": true}, for that to be
// added.
func (g *target) nothing() []byte {
	if g.bare {
		return []byte("{}")
	}
	return []byte("null")
}

// wrapList puts a list that is not paged where the declared response has it.
func (g *target) wrapList(list []byte) []byte {
	for i := len(g.listPath) - 1; i >= 0; i-- {
		out := append(canon.AppendString([]byte{'{'}, g.listPath[i]), ':')
		list = append(append(out, list...), '}')
	}
	return list
}

// declare learns what the contract says about the operation: how it pages, and
// what its rows and bodies look like.
func (g *target) declare(s *schema, doc *air.Document, o *air.Operation, all *rules) {
	g.paging = map[string]bool{}
	if p := o.Pagination; p != nil {
		g.style = p.Style
		g.paging[p.CursorParam], g.paging[p.PageSizeParam] = true, true
	}
	if g.derived != nil {
		return // its rows are the tables'
	}
	if g.custom != nil {
		g.declareCustom(doc, o)
		return
	}
	from := response(doc, o)
	g.bare = from.fixed()
	if g.verb == listRows {
		item, path := items(doc, o)
		if from = item; !o.Paged() {
			g.listPath = path
		}
	}
	var outer declared
	if m := s.wrapper(g.table, from); m != nil && g.verb != listRows {
		g.wrap, outer, from = m.Key, from, from.with(m.Value)
	}
	g.shape = newShape(s, g.table, from, g.rules)
	if g.wrap != "" && o.Paged() {
		g.wrap = "" // the page has its own place for rows
	} else if g.wrap != "" && g.shape != nil {
		g.shape.wrap, g.wrap = g.wrap, ""
		g.shape.beside = g.besides(s, outer)
	}
	if g.joined != nil {
		g.joined.declare(s, doc, o, all, g.shape)
	}
	if o.Body != nil {
		if m := s.wrapper(g.table, from.with(o.Body.Schema)); m != nil {
			g.bodyWrap = m.Key
		}
	}
}

// besides are the fields of a response that the row has, next to the property
// that the row stands in: {"ok": true, "channel": "C1", "ts": "...", "message":
// {...}}.
func (g *target) besides(s *schema, outer declared) (list []outField) {
	required := outer.required()
	for _, m := range outer.properties() {
		schema := outer.with(m.Value).schema
		typ := outTypeOf(schema)
		if m.Key == g.shape.wrap || typ == outJSON || typ == outStored || schema.Get("enum") != nil {
			continue
		}
		col := g.table.outColumn([]string{m.Key})
		if col == nil {
			col, _ = s.foreignKey(g.table, normal(m.Key))
		}
		if col != nil && !col.hidden {
			list = append(list, outField{name: string(canon.AppendString(nil, m.Key)), col: col, at: col.pos, typ: typ, unless: -1,
				omit: !required[m.Key] && !nullable(m.Value)})
		}
	}
	return list
}

// declareCustom learns the types of the columns that custom SQL gives.
func (g *target) declareCustom(doc *air.Document, o *air.Operation) {
	from := response(doc, o)
	g.bare = from.fixed()
	if o.Paged() || o.Kind() == "list" || o.Kind() == "search" {
		from, g.listPath = items(doc, o)
	}
	g.customTypes = map[string]outType{}
	var walk func(prefix string, from declared, depth int)
	walk = func(prefix string, from declared, depth int) {
		for _, m := range from.properties() {
			inner := from.with(m.Value)
			g.customTypes[prefix+m.Key] = outTypeOf(inner.schema)
			if depth > 0 {
				walk(prefix+m.Key+".", inner, depth-1)
			}
		}
	}
	walk("", from, 2)
}

// shape is the shape of the rows that a request asks for.
func (r *reading) shape() *shape {
	if r.selected == nil {
		return r.g.shape
	}
	sh := r.g.wholeShape()
	cut := &shape{exprs: sh.exprs, joins: sh.joins, extras: sh.extras, wrap: sh.wrap, beside: sh.beside}
	for _, f := range sh.fields {
		if slices.ContainsFunc(r.selected, f.isCalled) {
			cut.fields = append(cut.fields, f)
		}
	}
	return cut
}

// wholeShape is the shape of the rows, also where it is only the table's own.
func (g *target) wholeShape() *shape {
	if g.shape != nil {
		return g.shape
	}
	sh := &shape{}
	for _, col := range g.table.cols {
		if !col.hidden {
			sh.fields = append(sh.fields, outField{name: string(canon.AppendString(nil, col.name)), col: col, at: col.pos, unless: -1})
		}
	}
	return sh
}

// shows tells whether rows have a field of the name that a $select gives.
func (g *target) shows(name string) bool {
	return slices.ContainsFunc(g.wholeShape().fields, func(f outField) bool { return f.isCalled(name) })
}

// isCalled tells whether a name in $select, or the first part of its path, means the field.
func (f *outField) isCalled(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return normal(first) == normal(canon.Unquote([]byte(f.name)))
}

// assign writes what the map says about an operation and a table: constants and
// values of the request, then defaults of a new row.
func (g *target) assign(w *change, req *provider.Request) error {
	if g.verb == deleteRow {
		return nil
	}
	for _, a := range g.set {
		v, err := a.value(req)
		if err != nil {
			return err
		}
		w.put(a.col, v)
	}
	if g.verb != createRow || g.rules == nil {
		return nil
	}
	for _, a := range g.rules.dflts {
		if _, given := w.value(a.col); given {
			continue
		}
		v, err := a.value(req)
		if err != nil {
			return err
		}
		w.put(a.col, v)
	}
	return nil
}
