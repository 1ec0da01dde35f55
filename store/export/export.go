// Package export writes a fixture database as text: SQL, JSON, JSON Lines or CSV.
// Equal content gives equal text: tables go by name, rows by primary key, or by
// every column in tables without one.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// Format is how rows are written.
type Format string

// The formats.
const (
	SQL   Format = "sql"
	JSON  Format = "json"
	JSONL Format = "jsonl"
	CSV   Format = "csv"
)

// Options change what is exported. The zero value and nil are the defaults.
type Options struct {
	// Format is how; "" is SQL.
	Format Format
	// Tables are exported, in this order; none is all.
	Tables []string
}

// Write exports to w. JSON is one object with an array of rows a table, or the
// array alone when one table is asked for; JSON Lines and CSV hold one table.
//
// Bytes are {"$base64": "..."} in JSON and X'..' in CSV, where text stands in
// quotes, NULL is empty and an empty text is "". A real keeps its point: 1.0. A
// text that the format cannot hold, since it is no UTF-8, is {"$base64text": "..."}
// and CAST(X'..' AS TEXT); a name that is none is an error.
func Write(ctx context.Context, db *fixture.DB, w io.Writer, opts *Options) error {
	e, err := newExporter(ctx, db, opts)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(w, 64<<10)
	if err := e.write(buf); err != nil {
		return err
	}
	return buf.Flush()
}

// Folder exports to a new folder: one file a table, and schema.sql, by which an
// import makes the very same database again. The folder appears whole or not at
// all.
func Folder(ctx context.Context, db *fixture.DB, dir string, opts *Options) (err error) {
	e, err := newExporter(ctx, db, opts)
	if err != nil {
		return err
	}
	if e.format == SQL {
		return errors.New("SQL is one text, want a file and no folder")
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s is there already; remove it, or name another folder", dir)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), ".export-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := e.file(filepath.Join(tmp, "schema.sql"), e.schemaSQL); err != nil {
		return err
	}
	for _, t := range e.tables {
		if strings.ContainsAny(t.Name, `/\`) || t.Name == "" || t.Name[0] == '.' || strings.EqualFold(t.Name, "schema") {
			return fmt.Errorf("the name of table %q cannot be a file's name; export it with --table to a file", t.Name)
		}
		if t.Virtual {
			continue
		}
		one := func(w *bufio.Writer) error { return e.rows(w, t) }
		if err := e.file(filepath.Join(tmp, t.Name+"."+string(e.format)), one); err != nil {
			return err
		}
	}
	return os.Rename(tmp, dir)
}

// File exports to a file, which appears whole or not at all.
func File(ctx context.Context, db *fixture.DB, path string, opts *Options) error {
	e, err := newExporter(ctx, db, opts)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	err = errors.Join(tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = e.file(tmp.Name(), e.write)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

type exporter struct {
	ctx    context.Context
	db     *fixture.DB
	schema *fixture.Schema
	tables []*fixture.Table
	format Format
	single bool // one table was asked for
	line   []byte
}

func newExporter(ctx context.Context, db *fixture.DB, opts *Options) (*exporter, error) {
	if opts == nil {
		opts = &Options{}
	}
	schema, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	e := &exporter{ctx: ctx, db: db, schema: schema, format: opts.Format, tables: schema.Tables, single: len(opts.Tables) == 1}
	switch e.format {
	case "":
		e.format = SQL
	case SQL, JSON, JSONL, CSV:
	default:
		return nil, fmt.Errorf("unknown format %q, want sql, json, jsonl or csv", e.format)
	}
	if len(opts.Tables) > 0 {
		e.tables = nil
		for _, name := range opts.Tables {
			t := schema.Table(name)
			if t == nil {
				return nil, fmt.Errorf("no table %q, the database has %s", name, strings.Join(schema.Names(), ", "))
			}
			e.tables = append(e.tables, t)
		}
	}
	return e, e.checkNames()
}

// checkNames refuses names that are no UTF-8 where rows are not SQL: nothing
// there spells them.
func (e *exporter) checkNames() error {
	if e.format == SQL {
		return nil
	}
	for _, t := range e.tables {
		if !utf8.ValidString(t.Name) {
			return fmt.Errorf("the name of table %q is no UTF-8, which %s cannot hold; use --format sql", t.Name, e.format)
		}
		for _, c := range t.Columns {
			if !utf8.ValidString(c.Name) {
				return fmt.Errorf("table %q: the name of column %q is no UTF-8, which %s cannot hold; use --format sql", t.Name, c.Name, e.format)
			}
		}
	}
	return nil
}

// file writes one file whole.
func (e *exporter) file(path string, write func(*bufio.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(f, 64<<10)
	err = write(buf)
	if err == nil {
		err = errors.Join(buf.Flush(), f.Sync())
	}
	return errors.Join(err, f.Close())
}

func (e *exporter) write(w *bufio.Writer) error {
	switch e.format {
	case SQL:
		return e.sql(w)
	case JSON:
		if !e.single {
			return e.document(w)
		}
	default:
		if len(e.tables) != 1 {
			return fmt.Errorf("%s holds one table and the database has %d; choose one with --table, or give a folder with --output", e.format, len(e.tables))
		}
	}
	return e.rows(w, e.tables[0])
}

// document writes all tables as one JSON object.
func (e *exporter) document(w *bufio.Writer) error {
	w.WriteByte('{')
	first := true
	for _, t := range e.tables {
		if t.Virtual {
			continue
		}
		if !first {
			w.WriteByte(',')
		}
		first = false
		w.WriteByte('\n')
		w.Write(append(canon.AppendString(nil, t.Name), ": "...))
		if err := e.rows(w, t); err != nil {
			return err
		}
	}
	_, err := w.WriteString("\n}\n")
	return err
}

// stored are the positions of the columns that rows hold.
func stored(t *fixture.Table) (cols []int) {
	for i, c := range t.Columns {
		if !c.Generated {
			cols = append(cols, i)
		}
	}
	return cols
}

// each calls row with every row of a table, in the order of its content.
func (e *exporter) each(t *fixture.Table, row func(vals []fixture.Value) error) error {
	rows, err := e.db.Ordered(e.ctx, t, stored(t), t.Keyed())
	if err != nil {
		return fmt.Errorf("table %q: %w", t.Name, err)
	}
	for {
		vals, err := rows.Next()
		if err == io.EOF {
			return rows.Close()
		}
		if err == nil {
			err = row(vals)
		}
		if err != nil {
			rows.Close()
			return fmt.Errorf("table %q: %w", t.Name, err)
		}
	}
}

// rows writes a table's rows as JSON, JSON Lines or CSV.
func (e *exporter) rows(w *bufio.Writer, t *fixture.Table) error {
	switch e.format {
	case CSV:
		return e.csv(w, t)
	case JSONL:
		return e.each(t, func(vals []fixture.Value) error {
			e.line = append(AppendRow(e.line[:0], t, vals), '\n')
			_, err := w.Write(e.line)
			return err
		})
	}
	w.WriteByte('[')
	n := 0
	err := e.each(t, func(vals []fixture.Value) error {
		if n++; n > 1 {
			w.WriteByte(',')
		}
		e.line = AppendRow(append(e.line[:0], '\n'), t, vals)
		_, err := w.Write(e.line)
		return err
	})
	if n > 0 {
		w.WriteByte('\n')
	}
	w.WriteByte(']')
	if e.single && err == nil {
		err = w.WriteByte('\n')
	}
	return err
}

func (e *exporter) csv(w *bufio.Writer, t *fixture.Table) error {
	cols := stored(t)
	e.line = e.line[:0]
	for i, c := range cols {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		e.line = appendField(e.line, t.Columns[c].Name, false)
	}
	w.Write(append(e.line, '\n'))
	return e.each(t, func(vals []fixture.Value) error {
		e.line = e.line[:0]
		for i, v := range vals {
			if i > 0 {
				e.line = append(e.line, ',')
			}
			if s, ok := v.(string); ok && utf8.ValidString(s) {
				e.line = appendField(e.line, s, true)
			} else if ok {
				e.line = append(fixture.AppendLiteral(append(e.line, "CAST("...), []byte(s)), " AS TEXT)"...)
			} else if v != nil {
				e.line = fixture.AppendLiteral(e.line, v)
			} else if len(vals) == 1 {
				return errors.New("a row of one column that is NULL cannot be written as CSV")
			}
		}
		_, err := w.Write(append(e.line, '\n'))
		return err
	})
}

// appendField quotes a text where it would be taken for something else, always
// when it is a value: 007 in quotes is text.
func appendField(dst []byte, s string, value bool) []byte {
	if !value && s != "" && !strings.ContainsAny(s, ",;\t|\"\r\n") && s == strings.TrimSpace(s) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// schemaSQL writes what makes the tables, with the rows of virtual ones alone.
func (e *exporter) schemaSQL(w *bufio.Writer) error {
	for _, t := range e.tables {
		w.WriteString(t.SQL + ";\n")
	}
	for _, t := range e.tables {
		if !t.Virtual {
			continue
		}
		if err := e.virtual(w, t); err != nil {
			return err
		}
	}
	return e.objects(w)
}

// objects writes indexes, views and triggers of what is exported.
func (e *exporter) objects(w *bufio.Writer) error {
	whole := len(e.tables) == len(e.schema.Tables)
	for i, list := range [][]fixture.Object{e.schema.Indexes, e.schema.Views, e.schema.Triggers} {
		for _, o := range list {
			on := slices.ContainsFunc(e.tables, func(t *fixture.Table) bool { return strings.EqualFold(t.Name, o.Table) })
			if whole || on && i != 1 {
				w.WriteString(o.SQL + ";\n")
			}
		}
	}
	return nil
}

// sql writes a dump that sqlite3 and an import read.
func (e *exporter) sql(w *bufio.Writer) error {
	w.WriteString("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
	for _, t := range e.tables {
		w.WriteString(t.SQL + ";\n")
	}
	for _, t := range e.tables {
		if t.Virtual {
			if err := e.virtual(w, t); err != nil {
				return err
			}
			continue
		}
		head := "INSERT INTO " + fixture.Quote(t.Name) + " (" + fixture.QuoteAll(t.Stored()) + ") VALUES ("
		if err := e.inserts(w, t, head); err != nil {
			return err
		}
	}
	if err := e.objects(w); err != nil {
		return err
	}
	_, err := w.WriteString("COMMIT;\n")
	return err
}

// insert writes the statement that adds a row; head is its beginning, to the first
// value.
func (e *exporter) insert(w *bufio.Writer, head string, vals []fixture.Value) error {
	e.line = append(e.line[:0], head...)
	for i, v := range vals {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		e.line = fixture.AppendLiteral(e.line, v)
	}
	_, err := w.Write(append(e.line, ");\n"...))
	return err
}

func (e *exporter) inserts(w *bufio.Writer, t *fixture.Table, head string) error {
	return e.each(t, func(vals []fixture.Value) error {
		return e.insert(w, head, vals)
	})
}

// virtual fills a full-text table that takes its text from another table by a
// rebuild, any other virtual table by rows with their ids.
func (e *exporter) virtual(w *bufio.Writer, t *fixture.Table) error {
	low := strings.ToLower(t.SQL)
	if strings.Contains(low, "content=") {
		_, err := w.WriteString("INSERT INTO " + fixture.Quote(t.Name) + " (" + fixture.Quote(t.Name) + ") VALUES ('rebuild');\n")
		return err
	}
	names := t.Stored()
	sql := "SELECT rowid, " + fixture.QuoteAll(names) + " FROM " + fixture.Quote(t.Name) + " ORDER BY rowid"
	head := "INSERT INTO " + fixture.Quote(t.Name) + " (rowid, " + fixture.QuoteAll(names) + ") VALUES ("
	return e.db.Query(e.ctx, sql, nil, len(names)+1, func(vals []fixture.Value) error {
		return e.insert(w, head, vals)
	})
}
