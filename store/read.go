package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// bindingFilters reads path parameters as filters.
func bindingFilters(list []binding, path provider.Object) ([]filter, error) {
	var out []filter
	for _, b := range list {
		raw := path.Get(b.param)
		if raw == nil {
			return nil, invalid("the path parameter %q is missing", b.param)
		}
		f, err := filterOf(b.col, b.param, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// maxChoices bounds the values of a request's filters: SQLite binds so many.
const maxChoices = 5000

// filters reads what a request asks of the rows, and which parameters no column
// takes.
func (g *target) filters(req *provider.Request) (out []filter, ignored []string, err error) {
	ignored = slices.Clone(g.ignored)
	for _, list := range [][]binding{g.key, g.parents} {
		more, err := bindingFilters(list, req.Params.Path)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, more...)
	}
	for _, m := range req.Params.Query {
		if g.pages(m.Name) {
			continue
		}
		col := g.queryColumn(m.Name)
		if col == nil {
			ignored = append(ignored, m.Name)
			continue
		}
		f, err := filterOf(col, m.Name, m.Value)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, f)
	}
	choices := 0
	for _, f := range out {
		choices += len(f.vals)
	}
	if choices > maxChoices {
		return nil, nil, invalid("the filters give %d values, at most %d can be asked for at once", choices, maxChoices)
	}
	return out, ignored, nil
}

// read answers a read of one row.
func (db *DB) read(ctx context.Context, g *target, req *provider.Request) (*provider.Response, error) {
	filters, ignored, err := g.filters(req)
	if err != nil {
		return nil, err
	}
	c, err := db.reader(ctx, req)
	if err != nil {
		return nil, err
	}
	defer db.release(c)
	row, err := g.table.get(ctx, c, filters)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, missing(g.table, filters)
	}
	return &provider.Response{OK: true, Result: row, Meta: meta(g.table, filters, ignored, 1)}, nil
}

// list answers a page of rows, or all of them where the contract does not page.
func (db *DB) list(ctx context.Context, g *target, req *provider.Request) (*provider.Response, error) {
	filters, ignored, err := g.filters(req)
	if err != nil {
		return nil, err
	}
	size := -1
	var from position
	var cursor *string
	if req.Page != nil {
		size, cursor = max(req.Page.Size, 1), req.Page.Cursor
		if from, err = g.start(cursor, size); err != nil {
			return nil, err
		}
	}
	c, err := db.reader(ctx, req)
	if err != nil {
		return nil, err
	}
	defer db.release(c)
	page, total, err := db.page(ctx, c, g.table, filters, from, size)
	if err != nil {
		return nil, err
	}
	if len(page.ends) == 0 && len(g.parents) > 0 {
		parents := filters[len(g.key):][:len(g.parents)]
		if err := db.orphan(ctx, c, parents); err != nil {
			return nil, err
		}
	}
	res := &provider.Response{OK: true, Meta: meta(g.table, filters, ignored, len(page.ends))}
	if req.Page == nil {
		res.Result = page.array()
		return res, nil
	}
	res.Items, res.Total = page.items(), &total
	res.NextCursor = g.next(page, from, cursor, size)
	return res, nil
}

// page reads a page and the count of the whole query, both of one moment.
func (db *DB) page(ctx context.Context, c *conn, t *table, filters []filter, from position, size int) (page *rowsPage, total int64, err error) {
	fetch := func() (err error) {
		page, err = t.fetch(ctx, c, filters, from, size)
		return err
	}
	if size < 0 {
		return page, 0, fetch()
	}
	total, known, at := db.totals.get(t, filters)
	if known {
		err = fetch()
		return page, total, err
	}
	err = c.transaction("BEGIN", func() (err error) {
		if total, err = t.count(ctx, c, filters); err != nil {
			return err
		}
		return fetch()
	})
	if err == nil {
		db.totals.put(t, filters, at, total)
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

// meta says what was asked of the tables:
//
//	{"table":"Track","filters":["AlbumId"],"ignored":["sort"],"rows":7}
func meta(t *table, filters []filter, ignored []string, rows int) []byte {
	dst := canon.AppendString([]byte(`{"table":`), t.name)
	list := func(name string, n int, at func(i int) string) {
		if n == 0 {
			return
		}
		dst = append(append(append(dst, `,"`...), name...), `":[`...)
		for i := range n {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = canon.AppendString(dst, at(i))
		}
		dst = append(dst, ']')
	}
	list("filters", len(filters), func(i int) string { return filters[i].col.name })
	list("ignored", len(ignored), func(i int) string { return ignored[i] })
	dst = append(dst, `,"rows":`...)
	return append(strconv.AppendInt(dst, int64(rows), 10), '}')
}
