package store

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A change is one write of one row.
type change struct {
	target    *target
	shown     *target // whose rows the answer is of: target, or what a new link joins
	schema    *schema
	table     *table
	verb      verb
	cols      []*column
	vals      []driver.Value
	match     []filter // the row, for all but a create
	parents   []filter // the rows that the path says it belongs to
	ignored   []string // body fields that are not written: generated columns, a key
	once      *string  // the idempotency key, which may stand in the body
	lookups   []lookup // foreign keys given by another column of the parent
	extras    []canon.Member
	kept      []*column    // columns that a replacement leaves as they are
	generated []string     // columns that got an id
	how       finding      // how the row, or its id where it is new, was found, the plan left out
	rowid     driver.Value // that a new row gets, nil where SQLite gives it
	at        moment
	numbers   *numbers
	claims    []claim // of the numbers in generated ids
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

func (w *change) set(col *column, v driver.Value) error {
	if _, twice := w.value(col); twice {
		return invalid("%q of %s is given twice, in two spellings", col.name, w.table.name)
	}
	w.cols, w.vals = append(w.cols, col), append(w.vals, v)
	return nil
}

// missing names the columns that a new or replaced row must have and has not.
// A replaced row keeps its key, what its path names it by and when it was made.
func (w *change) missing() error {
	var gaps []*column
	for _, c := range w.table.cols {
		if _, given := w.value(c); given || !c.required() {
			continue
		}
		if w.verb == replaceRow && (slices.Contains(w.table.key, c) || w.matches(c) || slices.Contains(w.kept, c)) {
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
func (w *change) sql(c *conn) (string, []driver.Value) {
	t := w.table
	var where where
	where.count(c)
	where.add(w.match...)
	switch w.verb {
	case createRow:
		return w.insert()
	case deleteRow:
		return "DELETE FROM " + fixture.Quote(t.name) + " AS t" + where.sql + " RETURNING 1", where.args
	}
	var sets []string
	for _, c := range w.cols {
		sets = append(sets, fixture.Quote(c.name)+" = ?")
	}
	if w.verb == replaceRow {
		for _, c := range t.cols {
			if _, given := w.value(c); !given && !c.generated && !slices.Contains(t.key, c) && !w.matches(c) && !slices.Contains(w.kept, c) {
				sets = append(sets, fixture.Quote(c.name)+" = "+c.defaultSQL())
			}
		}
	}
	if sets == nil { // nothing but its key: as it is
		sets = []string{fixture.Quote(t.key[0].name) + " = " + fixture.Quote(t.key[0].name)}
	}
	args := slices.Concat(w.vals, where.args)
	return "UPDATE " + fixture.Quote(t.name) + " AS t SET " + strings.Join(sets, ", ") + where.sql + t.returning, args
}

func (w *change) insert() (string, []driver.Value) {
	names := make([]string, len(w.cols), len(w.cols)+1)
	for i, c := range w.cols {
		names[i] = fixture.Quote(c.name)
	}
	vals := w.vals
	if w.rowid != nil {
		names, vals = append(names, w.table.rowid), append(vals[:len(vals):len(vals)], w.rowid)
	}
	if len(names) == 0 {
		return "INSERT INTO " + fixture.Quote(w.table.name) + " DEFAULT VALUES" + w.table.returning, nil
	}
	return "INSERT INTO " + fixture.Quote(w.table.name) + " (" + strings.Join(names, ", ") + ") VALUES (?" +
		strings.Repeat(",?", len(names)-1) + ")" + w.table.returning, vals
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
	if db.opts.ReadOnly {
		return nil, refuse(provider.PolicyDenied, "the fixture database is read-only: %s would change %s", g.name, g.table.name)
	}
	w, err := g.change(db.schema, req)
	if err != nil {
		return nil, err
	}
	c, err := db.writer(ctx)
	if err != nil {
		return nil, err
	}
	defer db.unwrite(c)
	n := db.setClock(c, req)
	w.at = momentOf(db.opts.Now, db.seed.Load(), n)
	w.numbers = db.numbers
	end := db.totals.begin(w.table, db.schema.entangled)
	var row []byte
	err = db.change(ctx, c, n, w.table.name, func() (err error) {
		row, err = w.run(ctx, c)
		return err
	})
	if err != nil {
		end(0)
		return nil, db.constraint(ctx, c, w, err)
	}
	end(w.added())
	db.numbers.settle(w)
	if w.verb == deleteRow {
		row = g.nothing()
	} else {
		row = w.shown.wrapRow(row)
	}
	return &provider.Response{OK: true, Result: row, Meta: w.meta()}, nil
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
func (g *target) change(s *schema, req *provider.Request) (*change, error) {
	w := &change{target: g, shown: g, schema: s, table: g.table, verb: g.verb, once: req.IdempotencyKey}
	if g.verb != deleteRow {
		if err := w.fill(req.Body); err != nil {
			return nil, err
		}
	}
	key, err := bindingFilters(g.key, req)
	if err != nil {
		return nil, err
	}
	parents, err := bindingFilters(g.parents, req)
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
	return w, g.assign(w, req)
}

// place puts a new row under the parent that its path names.
func (w *change) place(f filter) error {
	if f.op == opVia {
		return w.placeVia(f)
	}
	if len(f.vals) != 1 || f.col.generated {
		return nil
	}
	if given, ok := w.value(f.col); ok {
		if given != f.vals[0] {
			return invalid("%q of %s is %s in the path and %s in the body", f.col.name, w.table.name,
				f.col.shown(f.vals[0]), f.col.shown(given))
		}
		return nil
	}
	return w.set(f.col, f.vals[0])
}

// placeVia puts a new row under a parent that is named by another column than
// the one its foreign key holds.
func (w *change) placeVia(f filter) error {
	p := f.parts[0].col.table
	for _, fk := range w.table.fks {
		if refs := fk.targets(p); len(fk.cols) == 1 && fk.cols[0] == f.col && len(refs) == 1 {
			w.lookups = append(w.lookups, lookup{own: f.col, ref: refs[0], by: filter{op: opAll, col: f.parts[0].col, parts: f.parts}, path: true})
		}
	}
	return nil
}

// run does the change inside a transaction and returns the row as it is after.
func (w *change) run(ctx context.Context, c *conn) (row []byte, err error) {
	if w.verb == patchRow && len(w.cols)+len(w.lookups)+len(w.extras) == 0 {
		row, err = w.table.get(ctx, c, w.match, w.target.shape, &w.how)
		w.how.plan = nil
	} else if err = w.complete(ctx, c); err == nil {
		if row, err = w.execute(ctx, c); err == nil && w.target.joined != nil {
			row, err = w.showJoined(ctx, c, row)
		}
	}
	if err == nil && row == nil {
		return nil, absent(ctx, c, w.target, &reading{filters: w.match, ignored: w.unread(), how: w.how})
	}
	return row, err
}

// unread are the parameters and body fields that no column takes.
func (w *change) unread() []string { return slices.Concat(w.target.ignored, w.ignored) }

// complete fills what the request left to the store: foreign keys by another
// name, extras, ids, times.
func (w *change) complete(ctx context.Context, c *conn) error {
	if w.verb == deleteRow {
		return nil
	}
	if err := w.lookUp(ctx, c); err != nil {
		return err
	}
	if err := w.mergeExtras(ctx, c); err != nil {
		return err
	}
	if w.verb == createRow {
		if err := w.giveIDs(ctx, c); err != nil {
			return err
		}
		if err := w.settleRowid(ctx, c); err != nil {
			return err
		}
	}
	w.stamp()
	if w.verb == createRow || w.verb == replaceRow {
		return w.missing()
	}
	return nil
}

func (w *change) execute(ctx context.Context, c *conn) (row []byte, err error) {
	t := w.table
	sql, args := w.sql(c)
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
		if !w.target.shape.reads() {
			row = w.target.shape.appendRow(make([]byte, 0, 256), t, appendCells(nil, vals))
		} else {
			row = []byte("null") // read again below, with what else it shows
		}
		for _, k := range t.key {
			now = append(now, filter{col: k, vals: []driver.Value{vals[k.pos]}})
		}
		return nil
	})
	if w.verb != createRow {
		w.how.rows = c.raw.Visited()
	}
	w.how.counted = c.raw.Visits()
	if err != nil || row == nil || !t.trigger && !w.target.shape.reads() || len(now) == 0 {
		return row, err
	}
	// A trigger may have written to the row after RETURNING looked at it.
	after, err := t.get(ctx, c, now, w.target.shape, nil)
	if after == nil {
		return row, err
	}
	return after, err
}
