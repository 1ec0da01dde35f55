package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// A change is one write of one row.
type change struct {
	table   *table
	verb    verb
	cols    []*column
	vals    []driver.Value
	match   []filter // the row, for all but a create
	parents []filter // the rows that the path says it belongs to
	ignored []string // body fields that are not written: generated columns, a key
	once    *string  // the idempotency key, which may stand in the body
}

// value is what the change writes to a column.
func (w *change) value(col *column) (driver.Value, bool) {
	for i, c := range w.cols {
		if c == col {
			return w.vals[i], true
		}
	}
	return nil, false
}

func (w *change) matched() string { return filterText(w.match) }

// fill reads the fields of a body. All faults are told at once.
func (w *change) fill(body []byte) error {
	if body == nil || string(body) == "null" {
		return nil
	}
	compact, err := canon.AppendCompact(nil, body, canon.Lenient)
	if err != nil {
		return invalid("the body: %v", err)
	}
	if compact[0] != '{' {
		return invalid("the body wants an object with columns of %s, got %s", w.table.name, describe(compact))
	}
	var faults []string
	canon.Members(compact, func(key, raw []byte) bool {
		if err := w.field(canon.Unquote(key), raw); err != nil {
			faults = append(faults, err.Error())
		}
		return true
	})
	if faults != nil {
		return invalid("%s", strings.Join(faults, "; "))
	}
	return nil
}

func (w *change) field(name string, raw []byte) error {
	col := w.table.col(name)
	if col == nil {
		col = w.table.named(normal(name))
	}
	switch {
	case col == nil && w.once != nil && string(raw) == string(canon.AppendString(nil, *w.once)), col != nil && col.generated:
		w.ignored = append(w.ignored, name)
		return nil
	case col == nil:
		return w.unknown(name)
	}
	v, err := col.take(raw)
	if err != nil {
		return err
	}
	if v == nil && col.auto && w.verb == createRow {
		return nil // the table gives the next one
	}
	if v == nil && slices.Contains(w.table.key, col) {
		return invalid("%q of %s is part of the key and must have a value", col.name, w.table.name)
	}
	return w.set(col, v)
}

func (w *change) set(col *column, v driver.Value) error {
	if _, twice := w.value(col); twice {
		return invalid("%q of %s is given twice, in two spellings", col.name, w.table.name)
	}
	w.cols, w.vals = append(w.cols, col), append(w.vals, v)
	return nil
}

func (w *change) unknown(name string) error {
	names := make([]string, len(w.table.cols))
	for i, c := range w.table.cols {
		names[i] = c.name
	}
	hint := "its columns are " + strings.Join(names, ", ")
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q", near)
	}
	return invalid("%s has no column %q; %s", w.table.name, name, hint)
}

// missing names the columns that a new or replaced row must have and has not.
// A replaced row keeps its key.
func (w *change) missing() error {
	var gaps []*column
	for _, c := range w.table.cols {
		if _, given := w.value(c); given || !c.required() {
			continue
		}
		if w.verb == replaceRow && slices.Contains(w.table.key, c) {
			continue
		}
		gaps = append(gaps, c)
	}
	if gaps == nil {
		return nil
	}
	return invalid("%s must have a value in %s", nameList(gaps), w.table.name)
}

// sql is the statement of the change, with RETURNING for all but a delete.
func (w *change) sql() (string, []driver.Value) {
	t := w.table
	var where where
	where.add(w.match...)
	switch w.verb {
	case createRow:
		return w.insert(), w.vals
	case deleteRow:
		return "DELETE FROM " + quote(t.name) + " AS t" + where.sql + " RETURNING 1", where.args
	}
	var sets []string
	for _, c := range w.cols {
		sets = append(sets, quote(c.name)+" = ?")
	}
	if w.verb == replaceRow {
		for _, c := range t.cols {
			if _, given := w.value(c); !given && !c.generated && !slices.Contains(t.key, c) && !w.matches(c) {
				sets = append(sets, quote(c.name)+" = "+c.defaultSQL())
			}
		}
	}
	if sets == nil { // nothing but its key: as it is
		sets = []string{quote(t.key[0].name) + " = " + quote(t.key[0].name)}
	}
	args := slices.Concat(w.vals, where.args)
	return "UPDATE " + quote(t.name) + " AS t SET " + strings.Join(sets, ", ") + where.sql + t.returning, args
}

func (w *change) insert() string {
	if len(w.cols) == 0 {
		return "INSERT INTO " + quote(w.table.name) + " DEFAULT VALUES" + w.table.returning
	}
	names := make([]string, len(w.cols))
	for i, c := range w.cols {
		names[i] = quote(c.name)
	}
	return "INSERT INTO " + quote(w.table.name) + " (" + strings.Join(names, ", ") + ") VALUES (?" +
		strings.Repeat(",?", len(names)-1) + ")" + w.table.returning
}

// matches tells whether the row was named by this column: it stays as it is.
func (w *change) matches(c *column) bool {
	return slices.ContainsFunc(w.match, func(f filter) bool { return f.col == c })
}

// defaultSQL is the column's default as an expression. It is the fixture's own
// text, which SQLite accepted there.
func (c *column) defaultSQL() string {
	switch {
	case c.dflt == "":
		return "NULL"
	case c.dflt[0] == '"': // a text in a default, a column's name anywhere else
		return literal(strings.ReplaceAll(c.dflt[1:len(c.dflt)-1], `""`, `"`))
	}
	return "(" + c.dflt + ")"
}

// write answers a create, an update or a delete.
func (db *DB) write(ctx context.Context, g *target, req *provider.Request) (*provider.Response, error) {
	w, err := g.change(req)
	if err != nil {
		return nil, err
	}
	c, err := db.pool.take(ctx, db.pool.writer)
	if err != nil {
		return nil, err
	}
	defer func() { db.pool.writer <- c }()
	db.setClock(c, req)
	end := db.totals.begin(w.table, db.schema.entangled)
	var row []byte
	err = c.transaction("BEGIN IMMEDIATE", func() (err error) {
		row, err = w.run(ctx, c)
		return err
	})
	if err != nil {
		end(0)
		return nil, db.constraint(ctx, c, w, err)
	}
	end(w.added())
	if w.verb == deleteRow {
		row = []byte("null")
	}
	return &provider.Response{OK: true, Result: row, Meta: meta(w.table, w.match, slices.Concat(g.ignored, w.ignored), 1)}, nil
}

// added is how many rows there are more after the change.
func (w *change) added() int64 {
	switch w.verb {
	case createRow:
		return 1
	case deleteRow:
		return -1
	}
	return 0
}

// change reads what a request wants written.
func (g *target) change(req *provider.Request) (*change, error) {
	w := &change{table: g.table, verb: g.verb, once: req.IdempotencyKey}
	if g.verb != deleteRow {
		if err := w.fill(req.Body); err != nil {
			return nil, err
		}
	}
	key, err := bindingFilters(g.key, req.Params.Path)
	if err != nil {
		return nil, err
	}
	parents, err := bindingFilters(g.parents, req.Params.Path)
	if err != nil {
		return nil, err
	}
	w.match, w.parents = append(key, parents...), parents
	if g.verb == createRow {
		for _, f := range w.match {
			if err := w.place(f); err != nil {
				return nil, err
			}
		}
		w.match = nil
	}
	if g.verb == createRow || g.verb == replaceRow {
		return w, w.missing()
	}
	return w, nil
}

// place puts a new row under the parent that its path names.
func (w *change) place(f filter) error {
	if len(f.vals) != 1 || f.col.generated {
		return nil
	}
	if given, ok := w.value(f.col); ok {
		if given != f.vals[0] {
			return invalid("%q of %s is %s in the path and %s in the body", f.col.name, w.table.name,
				f.col.appendJSON(nil, f.vals[0]), f.col.appendJSON(nil, given))
		}
		return nil
	}
	return w.set(f.col, f.vals[0])
}

// run does the change inside a transaction and returns the row as it is after.
func (w *change) run(ctx context.Context, c *conn) (row []byte, err error) {
	if w.verb == patchRow && len(w.cols) == 0 {
		row, err = w.table.get(ctx, c, w.match)
	} else {
		row, err = w.execute(ctx, c)
	}
	if err == nil && row == nil {
		return nil, missing(w.table, w.match)
	}
	return row, err
}

func (w *change) execute(ctx context.Context, c *conn) (row []byte, err error) {
	t := w.table
	sql, args := w.sql()
	cols := len(t.cols)
	if w.verb == deleteRow {
		cols = 1
	}
	var now []filter
	err = c.query(ctx, sql, args, cols, func(vals []driver.Value) error {
		if w.verb == deleteRow {
			row = []byte("null")
			return nil
		}
		row = t.appendRow(make([]byte, 0, 256), vals)
		for _, k := range t.key {
			now = append(now, filter{col: k, vals: []driver.Value{vals[k.pos]}})
		}
		return nil
	})
	if err != nil || row == nil || !t.trigger || len(now) == 0 {
		return row, err
	}
	// A trigger may have written to the row after RETURNING looked at it.
	after, err := t.get(ctx, c, now)
	if after == nil {
		return row, err
	}
	return after, err
}
