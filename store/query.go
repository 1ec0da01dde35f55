package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/native"
)

// A where is a WHERE clause with its values, over the table alias t.
type where struct {
	sql  string
	args []driver.Value
}

func (w *where) and(term string, args ...driver.Value) {
	if w.sql == "" {
		w.sql = " WHERE " + term
	} else {
		w.sql += " AND " + term
	}
	w.args = append(w.args, args...)
}

// count has the rows counted that the terms are asked about, where the connection
// can: its term goes first.
func (w *where) count(c *conn) {
	c.raw.Visited()
	if !c.raw.Visits() {
		return
	}
	terms := w.sql
	w.sql = " WHERE " + native.Visit
	if terms != "" {
		w.sql += " AND " + strings.TrimPrefix(terms, " WHERE ")
	}
}

// add keeps what every filter lets through.
func (w *where) add(filters ...filter) {
	for _, f := range filters {
		sql, args := f.term()
		w.and(sql, args...)
	}
}

// selectList spells columns so that the driver gives what is stored: it parses
// times and booleans out of columns by their declared type, and an expression
// has none.
func selectList(cols []*column, alias string) string {
	var b strings.Builder
	for i, c := range cols {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("+" + alias + fixture.Quote(c.name))
	}
	return b.String()
}

func (t *table) selectRows() string {
	return "SELECT " + t.columns + " FROM " + fixture.Quote(t.name) + " AS t"
}

// A rowsPage is one page of rows as JSON.
type rowsPage struct {
	buf  []byte
	ends []int          // where each row ends in buf
	last []driver.Value // the last row's cursor key
	more bool           // another row follows
	how  finding        // how the rows were found
}

// A question is what a list asks of a table.
type question struct {
	filters []filter
	order   ordering
	from    position
	size    int // of the page; < 0 is all rows
	shape   *shape
}

// fetch reads a page of rows.
func (t *table) fetch(ctx context.Context, c *conn, q *question) (*rowsPage, error) {
	p := &rowsPage{buf: make([]byte, 0, 512)}
	runs := []where{{}}
	if q.from.key != nil {
		runs = t.runs(q.order, q.from.key)
	}
	for _, run := range runs {
		run.add(q.filters...)
		if err := t.fetchRun(ctx, c, q, run, p); err != nil || p.more {
			return p, err
		}
	}
	return p, nil
}

// fetchRun appends the rows of one run to a page.
func (t *table) fetchRun(ctx context.Context, c *conn, q *question, w where, p *rowsPage) error {
	list, cols := q.shape.list(t), q.shape.width(t)
	if len(t.order) == 0 && t.rowid != "" {
		list += ",t." + t.rowid
		cols++
	}
	w.count(c)
	sql := "SELECT " + list + q.shape.from(t) + w.sql + t.clause(q.order)
	args := w.args
	if q.size >= 0 {
		// With a sign, since SQLite prepares a statement anew for a plain value here.
		sql += " LIMIT +?"
		args = append(args, int64(q.size-len(p.ends))+1)
		if q.from.offset > 0 {
			sql += " OFFSET ?"
			args = append(args, q.from.offset)
		}
	}
	err := c.rows(ctx, sql, args, cols, func(row []cell) error {
		if len(p.ends) == q.size {
			p.more = true
			return nil
		}
		p.buf = q.shape.appendRow(p.buf, t, row)
		if len(p.ends) == 0 && q.size > 0 {
			// The first row tells how large a page will be.
			p.buf = slices.Grow(p.buf, len(p.buf)*min(q.size, 256)*5/4)
			p.ends = make([]int, 0, min(q.size, 256))
		}
		p.ends = append(p.ends, len(p.buf))
		if len(p.ends) == q.size && q.order.total {
			p.last = q.order.keyOf(row)
		}
		return nil
	})
	if err == nil {
		err = p.how.add(c, t, sql, args)
	}
	return err
}

// get reads the first row that filters let through, nil without one. how, where it
// is not nil, is set to how the row was found.
func (t *table) get(ctx context.Context, c *conn, filters []filter, sh *shape, how *finding) (row []byte, err error) {
	if t.direct(filters, sh) {
		row, err = t.getDirect(c, filters, sh)
		if err == nil && how != nil {
			how.rows, how.counted = int64(bit(row != nil)), true
			how.plan, err = c.keyPlan(t, filters)
		}
		return row, err
	}
	var w where
	w.count(c)
	w.add(filters...)
	sql := "SELECT " + sh.list(t) + sh.from(t) + w.sql
	if !t.pins(filters) {
		sql += t.clause(t.natural())
	}
	sql += " LIMIT 1"
	err = c.rows(ctx, sql, w.args, sh.width(t), func(cells []cell) error {
		row = sh.appendRow(make([]byte, 0, 256), t, cells)
		return nil
	})
	if err == nil && how != nil {
		err = how.add(c, t, sql, w.args)
	}
	return row, err
}

// direct tells whether filters name one row by its key and nothing more is read:
// the calls that are made most often.
func (t *table) direct(filters []filter, sh *shape) bool {
	if t.view || t.virtual || sh.reads() || !t.pins(filters) {
		return false
	}
	for _, f := range filters {
		if f.op != opEqual || len(f.vals) != 1 || f.null {
			return false
		}
	}
	return true
}

// getDirect reads the row that a key names. The statement's text is put together
// in a buffer of the connection and never kept.
func (t *table) getDirect(c *conn, filters []filter, sh *shape) (row []byte, err error) {
	text := append(append(c.text[:0], "SELECT "...), t.columns...)
	text = append(appendQuoted(append(text, " FROM "...), t.name), " AS t"...)
	c.cells = c.cells[:0]
	for i, f := range filters {
		text = append(text, [...]string{" WHERE t.", " AND t."}[min(i, 1)]...)
		text = append(appendQuoted(text, f.col.name), " = ?"...)
		c.cells = append(c.cells, cellOf(f.vals[0]))
	}
	c.text = text
	err = c.first(text, len(t.cols), func(cells []cell) {
		row = sh.appendRow(make([]byte, 0, 256), t, cells)
	})
	return row, err
}

// pins tells whether equality filters leave one row at most.
func (t *table) pins(filters []filter) bool {
	for _, set := range t.unique {
		all := true
		for _, col := range set {
			one := false
			for _, f := range filters {
				one = one || f.col == col && f.op == opEqual && len(f.vals) == 1 && !f.null
			}
			all = all && one
		}
		if all {
			return true
		}
	}
	return false
}

// count counts the rows that filters let through.
func (t *table) count(ctx context.Context, c *conn, filters []filter) (n int64, err error) {
	var w where
	w.add(filters...)
	err = c.query(ctx, "SELECT count(*) FROM "+fixture.Quote(t.name)+" AS t"+w.sql, w.args, 1, func(vals []driver.Value) error {
		n = number(vals[0])
		return nil
	})
	return n, err
}

// missing is the refusal for a key that names no row.
func missing(t *table, filters []filter) *domainError {
	return &domainError{code: provider.NotFound, message: fmt.Sprintf("no %s with %s", t.name, filterText(filters))}
}

// filterText spells filters for a message: "AlbumId" 7.
func filterText(filters []filter) string {
	var b strings.Builder
	for i, f := range filters {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + f.col.name + `"`)
		vals := f.vals
		if len(f.parts) > 0 {
			vals = f.parts[0].vals
		}
		for j, v := range vals {
			if j > 0 {
				break // the same value in another form
			}
			b.WriteByte(' ')
			b.WriteString(f.col.shown(v))
		}
	}
	return b.String()
}
