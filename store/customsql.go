package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// Bounds of custom SQL.
const (
	customTime = 5 * time.Second
	customRows = 10_000
)

// customSQL is an operation of the map that is answered by SQL of its own.
type customSQL struct {
	steps      []customStep // run in one transaction; the last one's rows are the answer
	text       string       // of all steps, as the map has it
	result     string       // row, rows, none, "" as the operation is
	noRow      provider.Code
	constraint provider.Code
	writes     bool
}

// A customStep is one statement with numbered parameters.
type customStep struct {
	sql  string
	refs []reference
}

// custom reads the SQL of an operation and checks what can be checked without a
// connection.
func (b *mapCompiler) custom(at string, m *operationMap) *customSQL {
	c := &customSQL{result: m.Result, noRow: provider.Code(m.Errors.NoRow), constraint: provider.Code(m.Errors.Constraint)}
	for _, e := range []struct {
		name string
		code provider.Code
	}{{"no_row", c.noRow}, {"constraint", c.constraint}} {
		if e.code != "" && !slices.Contains(provider.Codes(), e.code) {
			b.fail(at+".errors."+e.name, "found %q, want one of the error codes, as not_found or conflict", e.code)
		}
	}
	if !slices.Contains([]string{"", "row", "rows", "none"}, m.Result) {
		b.fail(at+".result", "found %q, want row, rows or none", m.Result)
	}
	steps, err := splitSQL(m.SQL)
	if err != nil {
		b.fail(at+".sql", "%v", err)
		return c
	}
	c.steps, c.text = steps, m.SQL
	for _, s := range steps {
		word := strings.ToUpper(firstWord(s.sql))
		switch word {
		case "SELECT", "VALUES":
		case "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH":
			c.writes = c.writes || word != "WITH" || writesAfterWith().MatchString(s.sql)
		default:
			b.fail(at+".sql", "found %q, want SELECT, VALUES, WITH, INSERT, UPDATE, DELETE or REPLACE", word)
		}
	}
	if len(steps) == 0 {
		b.fail(at+".sql", "want a statement")
	}
	return c
}

// runCustom answers an operation from its own SQL.
func (db *DB) runCustom(ctx context.Context, g *target, req *provider.Request) (*provider.Response, error) {
	limited, cancel := context.WithTimeout(ctx, customTime)
	defer cancel()
	rows := &customResult{known: true}
	run := func(c *conn) (err error) { return db.customSteps(limited, c, g, req, rows) }
	var err error
	if g.custom.writes {
		err = db.customWrite(limited, g, req, run)
	} else {
		var c *conn
		if c, err = db.reader(limited, req); err == nil {
			err = c.transaction("BEGIN", func() error { return run(c) })
			db.release(c)
		}
	}
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the SQL of the map took longer than %s", customTime)
		}
		return nil, g.customRefused(g.customError(err), rows)
	}
	res, err := g.customAnswer(req, rows)
	return res, g.customRefused(err, rows)
}

// customRefused gives an error the meta of the SQL that it ended.
func (g *target) customRefused(err error, r *customResult) error {
	return finish(err, func() *metaWriter { return g.customMeta(r, 0) })
}

func (g *target) customMeta(r *customResult, rows int64) *metaWriter {
	m := &metaWriter{canon.AppendString([]byte(`{"operation":`), g.table.name)}
	m.text("by", "sql")
	if r.known {
		m.number("full_scan_rows", r.scanned)
	}
	m.number("rows", rows)
	return m
}

func (db *DB) customWrite(ctx context.Context, g *target, req *provider.Request, run func(*conn) error) error {
	if db.opts.ReadOnly {
		return because(refuse(provider.PolicyDenied, "the fixture database is read-only: %s would change it", g.name), refusal{by: byReadOnly})
	}
	c, err := db.writer(ctx)
	if err != nil {
		return err
	}
	defer db.unwrite(c)
	n := db.setClock(c, req)
	db.numbers.forget()
	end := db.totals.begin(g.table, true)
	defer end(0)
	return db.change(ctx, c, n, g.custom.text, func() error { return run(c) })
}

// customError turns a broken constraint into the declared error.
func (g *target) customError(err error) error {
	var domain *domainError
	if errors.As(err, &domain) {
		return err
	}
	code := g.custom.constraint
	switch faultOf(err) {
	case faultOther, faultFull, faultLack:
		return fmt.Errorf("%s: %w", g.name, err)
	case faultUnique:
		if code == "" {
			code = provider.Conflict
		}
	}
	if code == "" {
		code = provider.ValidationError
	}
	why, _ := broken(err)
	return because(refuse(code, "%v", err), why)
}

// A customResult is what the last statement gave.
type customResult struct {
	names   []string
	rows    [][]driver.Value
	changed int64
	total   int64
	scanned int64 // rows that full scans went over until now
	known   bool  // scanned is
	from    position
}

func (db *DB) customSteps(ctx context.Context, c *conn, g *target, req *provider.Request, out *customResult) error {
	for i, s := range g.custom.steps {
		args := make([]driver.Value, len(s.refs))
		for j, ref := range s.refs {
			v, err := ref.value(req)
			if err != nil {
				return because(err, refusal{by: byParameter, fields: []string{ref.text()}})
			}
			args[j] = v
		}
		sql := s.sql
		if i == len(g.custom.steps)-1 && req.Page != nil {
			var err error
			if sql, args, err = g.customPage(ctx, c, req, out, sql, args); err != nil {
				return err
			}
		}
		if err := c.collect(ctx, sql, args, out); err != nil {
			return err
		}
	}
	return c.query(ctx, "SELECT changes()", nil, 1, func(v []driver.Value) error {
		out.changed = number(v[0])
		return nil
	})
}

// customPage cuts a page out of a statement's rows.
func (g *target) customPage(ctx context.Context, c *conn, req *provider.Request, out *customResult, sql string, args []driver.Value) (string, []driver.Value, error) {
	size := max(req.Page.Size, 1)
	var err error
	if out.from, err = g.start(ordering{}, req.Page.Cursor, size); err != nil {
		return "", nil, err
	}
	if g.custom.writes {
		return sql, args, nil
	}
	err = c.query(ctx, "SELECT count(*) FROM ("+sql+"\n)", args, 1, func(v []driver.Value) error {
		out.total = number(v[0])
		return nil
	})
	n := len(args)
	sql = fmt.Sprintf("SELECT * FROM (%s\n) LIMIT ?%d OFFSET ?%d", sql, n+1, n+2)
	return sql, append(args, int64(size)+1, out.from.offset), err
}

// collect runs a statement and keeps its rows.
func (c *conn) collect(ctx context.Context, sql string, args []driver.Value, out *customResult) (err error) {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	defer func() {
		n, ok := s.Scanned()
		out.scanned, out.known = out.scanned+n, ok
	}()
	rows, err := s.QueryContext(ctx, named)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			err = ended(ctx, closeErr)
		}
	}()
	out.names, out.rows = rows.Columns(), nil
	for {
		vals := make([]driver.Value, len(out.names))
		switch err := rows.Next(vals); {
		case err == io.EOF:
			return nil
		case err != nil:
			return ended(ctx, err)
		}
		for i, v := range vals {
			if t, ok := v.(time.Time); ok { // the driver reads columns declared so
				vals[i] = t.UTC().Format("2006-01-02T15:04:05Z")
			}
			if b, ok := v.(bool); ok {
				vals[i] = bit(b)
			}
		}
		if len(out.rows) == customRows {
			return fmt.Errorf("the SQL of the map gave more than %d rows; add a LIMIT", customRows)
		}
		out.rows = append(out.rows, vals)
	}
}

// customAnswer shapes the rows: a dotted column name makes an object.
func (g *target) customAnswer(req *provider.Request, r *customResult) (*provider.Response, error) {
	var fields []outField
	for i, name := range r.names {
		f := outField{at: i, unless: -1, typ: g.customTypes[name], col: plainColumn}
		fields = place(fields, strings.Split(name, "."), f)
	}
	page := &rowsPage{}
	size := -1
	if req.Page != nil {
		size = max(req.Page.Size, 1)
	}
	for i, vals := range r.rows {
		if i == size {
			page.more = true
			break
		}
		page.buf = append(appendFields(append(page.buf, '{'), fields, appendCells(nil, vals), nil), '}')
		page.ends = append(page.ends, len(page.buf))
	}
	res := &provider.Response{OK: true, Meta: g.customMeta(r, int64(len(page.ends))).end()}
	if req.Page != nil {
		total := max(r.total, int64(len(page.ends)))
		res.Items, res.Total = page.items(), &total
		res.NextCursor = g.next(page, &question{from: r.from, size: size}, req.Page.Cursor)
		return res, nil
	}
	return res, g.customResult(res, req, r, page)
}

// customResult sets the result of an operation that is not paged.
func (g *target) customResult(res *provider.Response, req *provider.Request, r *customResult, page *rowsPage) error {
	want := g.custom.result
	if want == "" {
		switch {
		case req.Kind == provider.KindList || req.Kind == provider.KindSearch:
			want = "rows"
		case len(r.names) == 0:
			want = "none"
		default:
			want = "row"
		}
	}
	empty := len(page.ends) == 0
	if want == "none" {
		empty = r.changed == 0 && g.custom.noRow != ""
	}
	if want != "rows" && empty {
		code := g.custom.noRow
		if code == "" {
			code = provider.NotFound
		}
		return because(refuse(code, "%s: no row", g.name), refusal{by: byNoRow})
	}
	switch want {
	case "none":
		res.Result = g.nothing()
	case "rows":
		res.Result = g.wrapList(page.array())
	default:
		res.Result = g.wrapRow(page.items()[0])
	}
	return nil
}
