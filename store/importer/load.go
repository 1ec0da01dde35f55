package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/store/fixture"
)

// inferred is a table whose shape was inferred from its rows.
type inferred struct {
	name string
	g    *guess
	key  []string
}

// table imports the rows of one table, which is made when it is not there.
func (im *importer) table(t *table) error {
	target, err := im.db.Table(im.ctx, t.name)
	if err != nil {
		return err
	}
	strict := target == nil
	if strict {
		if err := im.make(t); err != nil {
			return err
		}
		if target, err = im.db.Table(im.ctx, t.name); err != nil {
			return err
		}
	}
	l := &loader{im: im, table: t, target: target, bad: &BadRowsError{}, report: TableReport{Name: t.name, File: t.file, Key: target.KeyNames()}}
	for _, c := range target.Columns {
		l.report.Columns = append(l.report.Columns, strings.TrimSpace(c.Name+" "+c.Type))
		l.convert = append(l.convert, converter{classOf(c.Type), strict})
	}
	if err := t.rows(l.row); err != nil && err != errEnough {
		return err
	}
	if len(l.bad.Rows) > 0 {
		return l.bad
	}
	im.report.Tables = append(im.report.Tables, l.report)
	im.progress(t.name, l.report.Rows)
	return nil
}

func (im *importer) progress(table string, rows int) {
	if im.opts.Progress != nil {
		im.opts.Progress(table, rows)
	}
}

// make infers the table's shape from its rows and makes it.
func (im *importer) make(t *table) error {
	g := newGuess(t.columns)
	isCandidate := candidate(t.name)
	err := t.rows(func(r *row) error {
		if r.bad == "" {
			g.see(r, isCandidate)
		}
		return im.ctx.Err()
	})
	if err != nil {
		return err
	}
	if len(g.columns) == 0 {
		return fmt.Errorf("%s: table %q: there are no rows to tell its columns by", t.file, t.name)
	}
	for _, c := range g.columns {
		if c.name == "" || strings.IndexByte(c.name, 0) >= 0 {
			return fmt.Errorf("%s: table %q has a column without a usable name (%q)", t.file, t.name, c.name)
		}
		c.decl = c.choose(t.source)
		if err := im.askedType(t.name, c); err != nil {
			return err
		}
	}
	key, err := im.keyOf(t, g)
	if err != nil {
		return err
	}
	made := &inferred{t.name, g, key}
	im.made = append(im.made, made)
	return im.db.Exec(made.sql(nil))
}

// typePattern is what --types may say: words and lengths, no SQL.
var typePattern = pattern.Of(`^[A-Za-z][A-Za-z0-9_ ]*(\(\d+(, *\d+)?\))?$`)

func (im *importer) askedType(table string, c *column) error {
	given := c.decl
	for _, name := range []string{c.name, table + "." + c.name} { // the longer name wins
		for asked, decl := range im.opts.Types {
			if !strings.EqualFold(asked, name) {
				continue
			}
			if !typePattern().MatchString(decl) {
				return fmt.Errorf("--types %s=%s: want a type such as INTEGER, REAL, NUMERIC, TEXT, BOOLEAN, DATE, DATETIME, JSON, BLOB or VARCHAR(40)", asked, decl)
			}
			im.asked["type "+asked] = true
			given = strings.ToUpper(decl)
		}
	}
	c.decl = given
	return nil
}

// keyOf is the table's primary key: asked for, else inferred.
func (im *importer) keyOf(t *table, g *guess) ([]string, error) {
	for asked, cols := range im.opts.Keys {
		if asked != "" && strings.EqualFold(asked, t.name) {
			im.asked["key "+asked] = true
			for _, c := range cols {
				if _, ok := g.byName[strings.ToLower(c)]; !ok {
					return nil, fmt.Errorf("--pk %s: %s has no column %q, it has %s", asked, t.file, c, g.names())
				}
			}
			return cols, nil
		}
	}
	if cols, ok := im.opts.Keys[""]; ok {
		all := true
		for _, c := range cols {
			_, has := g.byName[strings.ToLower(c)]
			all = all && has
		}
		if all {
			im.asked["key "] = true
			return cols, nil
		}
	}
	if k := g.key(t.name); k != "" {
		return []string{k}, nil
	}
	return nil, nil
}

func (g *guess) names() string {
	var out []string
	for _, c := range g.columns {
		out = append(out, c.name)
	}
	return strings.Join(out, ", ")
}

// sql is the CREATE TABLE of an inferred table.
func (m *inferred) sql(foreign []string) string { return m.create(m.name, foreign) }

func (m *inferred) create(name string, foreign []string) string {
	var parts []string
	for _, c := range m.g.columns {
		def := fixture.Quote(c.name)
		if c.decl != "ANY" {
			def += " " + c.decl
		}
		inKey := slices.ContainsFunc(m.key, func(k string) bool { return strings.EqualFold(k, c.name) })
		if inKey && len(m.key) == 1 {
			def += " PRIMARY KEY"
		}
		if inKey && !(len(m.key) == 1 && c.decl == "INTEGER") {
			def += " NOT NULL"
		}
		parts = append(parts, def)
	}
	if len(m.key) > 1 {
		parts = append(parts, "PRIMARY KEY ("+fixture.QuoteAll(m.key)+")")
	}
	parts = append(parts, foreign...)
	return "CREATE TABLE " + fixture.Quote(name) + " (\n  " + strings.Join(parts, ",\n  ") + "\n)"
}

// A loader takes the rows of one table.
type loader struct {
	im      *importer
	table   *table
	target  *fixture.Table
	convert []converter
	bad     *BadRowsError
	report  TableReport
	args    []fixture.Value
	at      []int  // positions in the target of a row's cells
	sql     string // of the last row's columns
	names   []string
}

// errEnough ends reading after too many bad rows.
var errEnough = fmt.Errorf("enough")

const progressEvery = 10000

func (l *loader) row(r *row) error {
	msg := r.bad
	if msg == "" {
		msg = l.take(r)
	}
	if msg != "" {
		return l.reject(r, msg)
	}
	l.report.Rows++
	if l.report.Rows%progressEvery == 0 {
		l.im.progress(l.table.name, l.report.Rows)
		return l.im.ctx.Err()
	}
	return nil
}

func (l *loader) reject(r *row, msg string) error {
	bad := &badRow{l.table.file, r.line, r.index, msg}
	if bad.line == 0 {
		bad.line = lineOf(l.table.file, l.table.under, r.index)
	}
	if l.im.opts.SkipBad {
		if l.report.Skipped++; l.report.Skipped <= mostBad {
			l.im.note("left out %v", bad)
		}
		return nil
	}
	if len(l.bad.Rows) == mostBad {
		l.bad.More = true
		return errEnough
	}
	l.bad.Rows = append(l.bad.Rows, bad.Error())
	return nil
}

// take inserts a row; the message says why it cannot be taken.
func (l *loader) take(r *row) string {
	if msg := l.aim(r); msg != "" {
		return msg
	}
	l.args = l.args[:0]
	for i, c := range r.cells {
		v, ok := l.convert[l.at[i]].value(c)
		if !ok {
			return fmt.Sprintf("column %q: found %s, want %s", l.target.Columns[l.at[i]].Name, describe(c), wants[l.convert[l.at[i]].class])
		}
		l.args = append(l.args, v)
	}
	if err := l.im.db.Insert(l.sql, l.args); err != nil {
		return err.Error()
	}
	return ""
}

func describe(c cell) string {
	switch c.kind {
	case nested:
		return clip(c.text)
	case number, boolean, plain:
		return "`" + clip(c.text) + "`"
	}
	return fmt.Sprintf("%q", clip(c.text))
}

// aim finds the columns that the row's cells go to, and the statement.
func (l *loader) aim(r *row) string {
	names := r.names
	if names == nil {
		names = l.table.columns
	}
	if l.sql != "" && slices.Equal(names, l.names) {
		return ""
	}
	l.sql, l.at = "", l.at[:0]
	var list []string
	for i, n := range names {
		pos := l.target.Column(n)
		if pos < 0 || l.target.Columns[pos].Generated {
			return fmt.Sprintf("table %q has no column %q that can be written; it has %s", l.target.Name, n, strings.Join(l.target.Stored(), ", "))
		}
		if slices.Contains(l.at, pos) {
			return fmt.Sprintf("the key %q stands twice in the row in different letter cases", names[i])
		}
		l.at = append(l.at, pos)
		list = append(list, l.target.Columns[pos].Name)
	}
	l.names = append(l.names[:0], names...)
	l.sql = insertSQL(l.target.Name, list, "INSERT")
	return ""
}

func insertSQL(table string, columns []string, verb string) string {
	if len(columns) == 0 {
		return verb + " INTO " + fixture.Quote(table) + " DEFAULT VALUES"
	}
	return verb + " INTO " + fixture.Quote(table) + " (" + fixture.QuoteAll(columns) + ") VALUES (?" + strings.Repeat(",?", len(columns)-1) + ")"
}
