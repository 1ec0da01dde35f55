package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/dump"
	"github.com/anvil-sim/anvil/store/fixture"
)

// dump imports a SQL file.
func (im *importer) dump(path string) error {
	src, err := readWhole(path)
	if err != nil {
		return err
	}
	dialect := dump.Detect(src)
	if im.opts.Dialect != nil {
		dialect = *im.opts.Dialect
	}
	if dialect == dump.SQLite {
		err = im.native(path, src)
	} else {
		err = im.foreign(path, src, dialect)
	}
	var bad *BadRowsError
	if err != nil && !errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// native runs a text of SQLite's own dialect. What works on rows by itself
// (triggers) or is better made once (indexes) waits until the rows are there.
func (im *importer) native(path string, src []byte) error {
	var order []string
	err := dump.Statements(src, func(s dump.Statement) error {
		switch s.Verb {
		case "CREATE INDEX", "CREATE TRIGGER", "CREATE VIEW":
			im.late = append(im.late, s.Text)
			return nil
		case "CREATE TABLE", "INSERT", "REPLACE", "UPDATE", "DELETE", "DROP", "ALTER", "WITH":
			if s.Table != "" {
				order = append(order, s.Table)
			}
		case "PRAGMA", "BEGIN", "COMMIT", "END", "ANALYZE", "ROLLBACK", "SAVEPOINT", "RELEASE", "VACUUM", "REINDEX", "SELECT":
			return nil // settings, and the transaction that the import has itself
		default:
			return fmt.Errorf("line %d: found %s, want the statements of a SQLite dump; for another dialect say --dialect mysql or postgres", s.Line, clip(s.Verb))
		}
		if s.Table == "sqlite_sequence" || strings.HasPrefix(s.Text, "DELETE FROM sqlite_sequence") || strings.Contains(s.Text[:min(40, len(s.Text))], "sqlite_sequence") {
			return im.sequence(s)
		}
		if err := im.db.Guarded(s.Text); err != nil {
			return fmt.Errorf("line %d: %w", s.Line, err)
		}
		return im.ctx.Err()
	})
	if err != nil {
		return err
	}
	return im.reportDumped(path, order)
}

// sequence runs a dump's lines about AUTOINCREMENT counters, which are there
// only once a table that has one was made.
func (im *importer) sequence(s dump.Statement) error {
	n, err := im.db.Int(im.ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'")
	if err != nil || n == 0 {
		return err
	}
	if err := im.db.Guarded(s.Text); err != nil {
		return fmt.Errorf("line %d: %w", s.Line, err)
	}
	return nil
}

func (im *importer) reportDumped(path string, names []string) error {
	schema, err := im.db.Schema(im.ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		t := schema.Table(name)
		if t == nil || t.Virtual {
			continue
		}
		rows, err := im.db.Int(im.ctx, "SELECT count(*) FROM "+fixture.Quote(name))
		if err != nil {
			return err
		}
		r := TableReport{Name: t.Name, File: path, Rows: int(rows), Key: t.KeyNames()}
		for _, c := range t.Columns {
			r.Columns = append(r.Columns, strings.TrimSpace(c.Name+" "+c.Type))
		}
		im.report.Tables = append(im.report.Tables, r)
	}
	return nil
}

// foreign takes the tables and rows of a MySQL or PostgreSQL dump.
func (im *importer) foreign(path string, src []byte, dialect dump.Dialect) error {
	script, err := dump.Read(src, dialect)
	if err != nil {
		return err
	}
	for _, t := range script.Tables {
		if err := im.db.Exec(t.SQL()); err != nil {
			return fmt.Errorf("table %q: %w", t.Name, err)
		}
	}
	d := &dumped{im: im, path: path, script: script, bad: &BadRowsError{}, rows: map[string]int{}}
	if err := script.Rows(d.row); err != nil {
		return err
	}
	if len(d.bad.Rows) > 0 {
		return d.bad
	}
	im.indexes(script)
	var names []string
	for _, t := range script.Tables {
		names = append(names, t.Name)
	}
	if len(script.Left) > 0 {
		im.note("%s: left out of the dump: %s", path, strings.Join(script.Left, ", "))
	}
	return im.reportDumped(path, names)
}

// indexes make names unique: MySQL's and some of PostgreSQL's are so in a table.
func (im *importer) indexes(script *dump.Script) {
	used := map[string]bool{}
	for _, t := range script.Tables {
		used[strings.ToLower(t.Name)] = true
	}
	for _, x := range script.Indexes {
		name := x.Name
		if used[strings.ToLower(name)] {
			name = x.Table + "_" + x.Name
		}
		if used[strings.ToLower(name)] || script.Table(x.Table) == nil {
			continue
		}
		used[strings.ToLower(name)] = true
		unique := ""
		if x.Unique {
			unique = "UNIQUE "
		}
		im.late = append(im.late, "CREATE "+unique+"INDEX "+fixture.Quote(name)+" ON "+fixture.Quote(x.Table)+" ("+fixture.QuoteAll(x.Columns)+")")
	}
}

// dumped takes the rows of a foreign dump.
type dumped struct {
	im     *importer
	path   string
	script *dump.Script
	bad    *BadRowsError
	rows   map[string]int
	sql    string
	table  string
	names  []string
	verb   string
}

func (d *dumped) row(r *dump.Row) error {
	msg := d.take(r)
	if msg == "" {
		d.rows[r.Table]++
		if d.rows[r.Table]%progressEvery == 0 {
			d.im.progress(r.Table, d.rows[r.Table])
			return d.im.ctx.Err()
		}
		return nil
	}
	bad := &badRow{file: d.path, line: r.Line, msg: msg}
	if d.im.opts.SkipBad {
		d.im.note("left out %v", bad)
		return nil
	}
	if len(d.bad.Rows) == mostBad {
		d.bad.More = true
		return dump.ErrStop
	}
	d.bad.Rows = append(d.bad.Rows, bad.Error())
	return nil
}

func (d *dumped) take(r *dump.Row) string {
	names := r.Columns
	if names == nil {
		t := d.script.Table(r.Table)
		if t == nil {
			return fmt.Sprintf("the dump makes no table %q before this row", r.Table)
		}
		names = names[:0]
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
	}
	if len(names) != len(r.Values) {
		return fmt.Sprintf("found %d value(s) for %d columns of %q", len(r.Values), len(names), r.Table)
	}
	verb := "INSERT"
	if r.Replace {
		verb = "INSERT OR REPLACE"
	}
	if d.sql == "" || d.table != r.Table || d.verb != verb || !slices.Equal(d.names, names) {
		d.table, d.verb, d.names = r.Table, verb, slices.Clone(names)
		d.sql = insertSQL(r.Table, names, verb)
	}
	args := make([]fixture.Value, len(r.Values))
	for i, v := range r.Values {
		args[i] = v
	}
	if err := d.im.db.Insert(d.sql, args); err != nil {
		return err.Error()
	}
	return ""
}
