package store

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/provider"
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

// add keeps what every filter lets through. The column stands bare, so that its
// affinity and collation decide and its index serves.
func (w *where) add(filters ...filter) {
	for _, f := range filters {
		col := "t." + quote(f.col.name)
		switch n := len(f.vals); {
		case n == 0 && f.null:
			w.and(col + " IS NULL")
		case n == 0:
			w.and("0")
		case f.null:
			w.and("("+col+" IN (?"+strings.Repeat(",?", n-1)+") OR "+col+" IS NULL)", f.vals...)
		case n == 1:
			w.and(col+" = ?", f.vals[0])
		default:
			w.and(col+" IN (?"+strings.Repeat(",?", n-1)+")", f.vals...)
		}
	}
}

// after keeps the rows that come after a key in the table's order.
func (w *where) after(t *table, key []driver.Value) {
	if len(t.order) < 2 {
		w.and(t.orderTerms()+" > ?", key[0])
		return
	}
	w.and("("+t.orderTerms()+") > (?"+strings.Repeat(",?", len(key)-1)+")", key...)
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
		b.WriteString("+" + alias + quote(c.name))
	}
	return b.String()
}

func (t *table) selectRows() string {
	return "SELECT " + t.columns + " FROM " + quote(t.name) + " AS t"
}

// keyset tells whether the rows have an order that a cursor can continue in.
func (t *table) keyset() bool { return len(t.order) > 0 || t.rowid != "" }

// keySize is how many values make a cursor.
func (t *table) keySize() int { return max(len(t.order), 1) }

// orderTerms are the columns that rows are ordered by, "" without any.
func (t *table) orderTerms() string {
	if len(t.order) == 0 {
		if t.rowid == "" {
			return ""
		}
		return "t." + t.rowid
	}
	var b strings.Builder
	for i, c := range t.order {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("t." + quote(c.name))
	}
	return b.String()
}

// keyOf reads the cursor key of a selected row; the rowid is selected last.
func (t *table) keyOf(vals []driver.Value) []driver.Value {
	if len(t.order) == 0 {
		return []driver.Value{vals[len(t.cols)]}
	}
	key := make([]driver.Value, len(t.order))
	for i, c := range t.order {
		key[i] = vals[c.pos]
	}
	return key
}

// A rowsPage is one page of rows as JSON.
type rowsPage struct {
	buf  []byte
	ends []int          // where each row ends in buf
	last []driver.Value // the last row's cursor key
	more bool           // another row follows
}

// fetch reads up to size rows; size < 0 reads all.
func (t *table) fetch(ctx context.Context, c *conn, filters []filter, from position, size int) (*rowsPage, error) {
	var w where
	w.add(filters...)
	if from.key != nil {
		w.after(t, from.key)
	}
	cols := len(t.cols)
	list := t.columns
	if len(t.order) == 0 && t.rowid != "" {
		list += ",t." + t.rowid
		cols++
	}
	sql := "SELECT " + list + " FROM " + quote(t.name) + " AS t" + w.sql
	if order := t.orderTerms(); order != "" {
		sql += " ORDER BY " + order
	}
	args := w.args
	if size >= 0 {
		sql += " LIMIT ?"
		args = append(args, int64(size)+1)
		if from.offset > 0 {
			sql += " OFFSET ?"
			args = append(args, from.offset)
		}
	}
	p := &rowsPage{}
	err := c.query(ctx, sql, args, cols, func(vals []driver.Value) error {
		if len(p.ends) == size {
			p.more = true
			return nil
		}
		p.buf = t.appendRow(p.buf, vals)
		if len(p.ends) == 0 && size > 0 {
			// The first row tells how large a page will be.
			p.buf = slices.Grow(p.buf, len(p.buf)*min(size, 256)*5/4)
			p.ends = make([]int, 0, min(size, 256))
		}
		p.ends = append(p.ends, len(p.buf))
		if len(p.ends) == size && t.keyset() {
			p.last = t.keyOf(vals)
		}
		return nil
	})
	return p, err
}

// get reads the first row that filters let through, nil without one.
func (t *table) get(ctx context.Context, c *conn, filters []filter) (row []byte, err error) {
	var w where
	w.add(filters...)
	sql := t.selectRows() + w.sql
	if order := t.orderTerms(); order != "" && !t.pins(filters) {
		sql += " ORDER BY " + order
	}
	err = c.query(ctx, sql+" LIMIT 1", w.args, len(t.cols), func(vals []driver.Value) error {
		row = t.appendRow(make([]byte, 0, 256), vals)
		return nil
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
				one = one || f.col == col && len(f.vals) == 1 && !f.null
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
	err = c.query(ctx, "SELECT count(*) FROM "+quote(t.name)+" AS t"+w.sql, w.args, 1, func(vals []driver.Value) error {
		n = number(vals[0])
		return nil
	})
	return n, err
}

// missing is the refusal for a key that names no row.
func missing(t *table, filters []filter) error {
	return refuse(provider.NotFound, "no %s with %s", t.name, filterText(filters))
}

// filterText spells filters for a message: "AlbumId" 7.
func filterText(filters []filter) string {
	var b strings.Builder
	for i, f := range filters {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + f.col.name + `"`)
		for j, v := range f.vals {
			if j > 0 {
				break // the same value in another form
			}
			b.WriteByte(' ')
			b.Write(f.col.appendJSON(nil, v))
		}
	}
	return b.String()
}
