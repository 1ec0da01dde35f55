package store

import (
	"context"
	"encoding/json"

	"github.com/anvil-sim/anvil/provider"
)

// bindingFilters reads path parameters as filters.
func bindingFilters(list []binding, req *provider.Request) ([]filter, error) {
	var out []filter
	for _, b := range list {
		f, err := b.filter(req)
		if err != nil {
			return nil, because(err, refusal{by: byParameter, fields: []string{b.param}})
		}
		out = append(out, f)
	}
	return out, nil
}

// maxChoices bounds the values of a request's filters: SQLite binds so many.
const maxChoices = 5000

// read answers a read of one row.
func (db *DB) read(ctx context.Context, g *target, req *provider.Request) (*provider.Response, error) {
	r, err := g.read(db, req)
	if err != nil {
		return nil, err
	}
	c, err := db.reader(ctx, req)
	if err != nil {
		return nil, err
	}
	row, err := db.row(ctx, c, g, r)
	if err != nil {
		return nil, err
	}
	if req.Page != nil { // the contract takes the one row for a list
		return &provider.Response{OK: true, Items: []json.RawMessage{row}, Meta: r.meta(1, nil)}, nil
	}
	return &provider.Response{OK: true, Result: g.wrapRow(row), Meta: r.meta(1, nil)}, nil
}

// row reads a row and lets the connection go: what else the answer needs can wait.
func (db *DB) row(ctx context.Context, c *conn, g *target, r *reading) ([]byte, error) {
	defer db.release(c)
	row, err := g.table.get(ctx, c, r.filters, r.shape(), &r.how)
	if err == nil && row == nil {
		err = absent(ctx, c, g, r)
	}
	return row, err
}

// list answers a page of rows, or all of them where the contract does not page.
func (db *DB) list(ctx context.Context, g *target, req *provider.Request) (*provider.Response, error) {
	r, err := g.read(db, req)
	if err != nil {
		return nil, err
	}
	q := &question{filters: r.filters, order: r.order(), size: -1, shape: r.shape()}
	var cursor *string
	if req.Page != nil {
		q.size, cursor = max(req.Page.Size, 1), req.Page.Cursor
		if q.from, err = g.start(q.order, cursor, q.size); err != nil {
			return nil, r.refused(err)
		}
	}
	c, err := db.reader(ctx, req)
	if err != nil {
		return nil, err
	}
	defer db.release(c)
	page, total, err := db.page(ctx, c, g.table, q)
	if err != nil {
		return nil, err
	}
	var why *emptiness
	if len(page.ends) == 0 {
		parents := r.filters[len(g.key):][:len(g.parents)]
		if err := db.orphan(ctx, c, parents); err != nil {
			return nil, err
		}
		if total == 0 { // else the page is beyond the last row
			if why, err = db.explainEmpty(ctx, c, r); err != nil {
				return nil, err
			}
		}
	}
	r.how = page.how
	res := &provider.Response{OK: true, Meta: r.meta(len(page.ends), why)}
	if req.Page == nil {
		res.Result = g.wrapList(page.array())
		return res, nil
	}
	res.Items, res.Total = page.items(), &total
	res.NextCursor = g.next(page, q, cursor)
	return res, nil
}

// page reads a page and the count of the whole query, both of one moment.
func (db *DB) page(ctx context.Context, c *conn, t *table, q *question) (page *rowsPage, total int64, err error) {
	fetch := func() (err error) {
		page, err = t.fetch(ctx, c, q)
		return err
	}
	if q.size < 0 {
		return page, 0, fetch()
	}
	total, known, at := db.totals.get(t, q.filters)
	runs := q.from.key != nil && q.order.sorted // a page may take two statements
	if known && !runs {
		if err = fetch(); err != nil || db.totals.still(t, q.filters, at) {
			return page, total, err
		}
		known = false // a write came between the count and the page
	}
	err = c.transaction("BEGIN", func() (err error) {
		if err = fetch(); err != nil || known && db.totals.still(t, q.filters, at) {
			return err
		}
		known = false
		total, err = t.count(ctx, c, q.filters)
		return err
	})
	if err == nil && !known {
		db.totals.put(t, q.filters, at, total)
	}
	return page, total, err
}

func (p *rowsPage) items() []json.RawMessage {
	items := make([]json.RawMessage, len(p.ends))
	start := 0
	for i, end := range p.ends {
		items[i] = p.buf[start:end:end]
		start = end
	}
	return items
}

func (p *rowsPage) array() []byte {
	out := make([]byte, 0, len(p.buf)+len(p.ends)+2)
	out = append(out, '[')
	for i, item := range p.items() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}
