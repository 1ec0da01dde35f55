package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A table is one table or view as the provider sees it. It does not change
// after Open.
type table struct {
	name    string
	cols    []*column // in table order; generated ones are there, hidden ones not
	key     []*column // the primary key in key order, nil without one
	order   []*column // what rows are ordered by: the key, or nil for rowid or nothing
	rowid   string    // the name under which the rowid can be asked, "" without one
	view    bool
	virtual bool
	fks     []foreignKey
	unique  [][]*column // column sets that no two rows share, key included
	indexes []index     // the unique ones that have columns alone
	search  *fullText   // finds words in the rows, nil without one
	trigger bool        // rows may look different after a write than it said
	// every column as a select list, and as the end of a write
	columns, returning string
}

// A column is one column of a table.
type column struct {
	table     *table
	name      string
	decl      string // the declared type as spelled, "" without one
	class     class
	affinity  affinity
	notNull   bool
	dflt      string // the default as SQL text, "" without one
	generated bool
	hidden    bool   // by the map: neither served nor taken
	auto      bool   // INTEGER PRIMARY KEY: SQLite gives the value
	norm      string // the name for matching, see normal
	form      string // of the times it holds, see times.go; "" when it holds none
	pos       int    // index in table.cols
	lead      string // what stands before the value in a row: {"AlbumId": or ,"Title":
}

// An index is a unique index, of some rows or of all.
type index struct {
	name       string
	cols       []*column
	collations []string // by which it compares each of them
}

// indexOn is the unique index on columns, the zero one where there is none: the rowid
// has no index.
func (t *table) indexOn(cols []*column) index {
	for _, i := range t.indexes {
		if slices.Equal(i.cols, cols) {
			return i
		}
	}
	return index{}
}

// A foreignKey says that cols hold a key of the table named parent.
type foreignKey struct {
	cols    []*column
	parent  string
	refs    []string // the parent's columns, empty for its primary key
	cascade bool     // deleting or changing the parent changes rows here
}

// col finds a column by its exact name, then in any letter case.
func (t *table) col(name string) *column {
	for _, c := range t.cols {
		if c.name == name {
			return c
		}
	}
	for _, c := range t.cols {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

// shown are the columns that the map does not hide.
func (t *table) shown() []*column {
	if !slices.ContainsFunc(t.cols, func(c *column) bool { return c.hidden }) {
		return t.cols
	}
	return slices.DeleteFunc(slices.Clone(t.cols), func(c *column) bool { return c.hidden })
}

// names are the names of the shown columns.
func (t *table) names() []string {
	var names []string
	for _, c := range t.shown() {
		names = append(names, c.name)
	}
	return names
}

// writable tells whether rows can be created, changed and deleted through the
// table: it needs a key to name a row by.
func (t *table) writable() bool { return !t.view && !t.virtual && len(t.key) > 0 }

// required tells whether a new row must be given a value for the column.
func (c *column) required() bool {
	if c.auto || c.generated || c.dflt != "" {
		return false
	}
	return c.notNull || slices.Contains(c.table.key, c)
}

// A schema is the tables of a fixture, sorted by name.
type schema struct {
	tables []*table
	// entangled is set when writing one table may change another: triggers, or
	// foreign keys with actions.
	entangled bool
	logged    bool              // it is a saved state with the change log of its run
	impure    bool              // the schema asks for the time or for chance
	remembers bool              // the schema asks for what a connection keeps from call to call
	modules   map[string]string // of virtual tables, by the table's name
}

// table finds a table by its exact name, then in any letter case.
func (s *schema) table(name string) *table {
	for _, t := range s.tables {
		if t.name == name {
			return t
		}
	}
	for _, t := range s.tables {
		if strings.EqualFold(t.name, name) {
			return t
		}
	}
	return nil
}

// readSchema reads the tables of a database. warn hears of what is left out.
func readSchema(ctx context.Context, c *conn, warn func(format string, args ...any)) (*schema, error) {
	s := &schema{}
	triggers, err := s.readMaster(ctx, c)
	if err != nil {
		return nil, err
	}
	const list = `SELECT name, type FROM pragma_table_list WHERE schema = 'main'
		AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`
	if s.logged, err = carriesLog(ctx, c); err != nil {
		return nil, err
	}
	err = c.query(ctx, list, nil, 2, func(v []driver.Value) error {
		if s.logged && fixture.IsLogName(fixture.Text(v[0])) {
			return nil
		}
		kind := fixture.Text(v[1])
		s.tables = append(s.tables, &table{name: fixture.Text(v[0]), view: kind == "view", virtual: kind == "virtual"})
		return nil
	})
	if err != nil {
		return nil, err
	}
	gone := s.leaveOut(ctx, c)
	for _, l := range gone {
		warn("fixture: %s", l.text())
	}
	if err := s.readTables(ctx, c, triggers, warn); err != nil {
		return nil, err
	}
	switch {
	case len(s.tables) == 0 && gone != nil:
		return nil, fmt.Errorf("nothing is left to serve: table %q: %w", gone[0].table, gone[0].err)
	case len(s.tables) == 0:
		return nil, fmt.Errorf("the database has no tables, want at least one")
	}
	s.probeTriggers(c, warn)
	return s, s.findFullText(ctx, c)
}

// readTables reads what each table is, and leaves out broken views.
func (s *schema) readTables(ctx context.Context, c *conn, triggers map[string]bool, warn func(format string, args ...any)) error {
	kept := s.tables[:0]
	for _, t := range s.tables {
		t.trigger = triggers[strings.ToLower(t.name)]
		err := t.read(ctx, c)
		switch {
		case err != nil && t.view && ctx.Err() == nil:
			warn("fixture: view %q is left out: %v", t.name, err)
			continue
		case err != nil:
			return fmt.Errorf("table %q: %w", t.name, err)
		}
		kept = append(kept, t)
		for _, fk := range t.fks {
			s.entangled = s.entangled || fk.cascade
		}
	}
	s.tables = kept
	return nil
}

// read fills the table from SQLite's own description of it.
func (t *table) read(ctx context.Context, c *conn) error {
	if err := t.readColumns(ctx, c); err != nil {
		return err
	}
	if t.view {
		return t.tryList(ctx, c)
	}
	if err := t.readIndexes(ctx, c); err != nil {
		return err
	}
	if err := t.readForeignKeys(ctx, c); err != nil {
		return err
	}
	if err := t.readTimes(ctx, c); err != nil {
		return err
	}
	t.findRowid(c)
	nulls, err := t.keyHasNull(ctx, c)
	if err != nil {
		return err
	}
	if t.order = t.key; nulls {
		t.order = nil // NULL has no place in a comparison, the rowid has
	}
	return t.tryList(ctx, c)
}

// tryList proves that the rows can be read at all: every module, collation and
// function that the table needs is there.
func (t *table) tryList(ctx context.Context, c *conn) error {
	return c.query(ctx, t.selectRows()+" LIMIT 0", nil, len(t.cols), func([]driver.Value) error { return nil })
}

func (t *table) readColumns(ctx context.Context, c *conn) error {
	type keyPart struct {
		at  int64
		col *column
	}
	var key []keyPart
	const info = `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid`
	err := c.query(ctx, info, []driver.Value{t.name}, 6, func(v []driver.Value) error {
		if number(v[5]) == 1 {
			return nil // a hidden column of a virtual table
		}
		col := &column{table: t, name: fixture.Text(v[0]), decl: fixture.Text(v[1]), notNull: number(v[2]) != 0,
			dflt: fixture.Text(v[3]), generated: number(v[5]) > 1, pos: len(t.cols)}
		col.norm = normal(col.name)
		if strings.EqualFold(strings.TrimSpace(col.dflt), "null") {
			col.dflt = ""
		}
		col.affinity, col.class = classify(col.decl)
		open := byte(',')
		if col.pos == 0 {
			open = '{'
		}
		col.lead = string(append(canon.AppendString([]byte{open}, col.name), ':'))
		t.cols = append(t.cols, col)
		if at := number(v[4]); at > 0 {
			key = append(key, keyPart{at, col})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(t.cols) == 0 {
		return fmt.Errorf("it has no columns that can be read")
	}
	t.columns, t.returning = selectList(t.cols, "t."), " RETURNING "+selectList(t.cols, "")
	slices.SortFunc(key, func(a, b keyPart) int { return int(a.at - b.at) })
	for _, k := range key {
		t.key = append(t.key, k.col)
	}
	return nil
}

func (t *table) readIndexes(ctx context.Context, c *conn) error {
	if len(t.key) > 0 {
		t.unique = append(t.unique, t.key)
	}
	const unique = `SELECT l.name, i.name, i.coll, l.partial = 0 AND l.origin <> 'pk' FROM pragma_index_list(?1) AS l, pragma_index_xinfo(l.name) AS i
		WHERE l."unique" = 1 AND i.key = 1 ORDER BY l.name, i.seqno`
	var list []index
	adds := map[string]bool{} // to what is unique in all rows
	err := c.query(ctx, unique, []driver.Value{t.name}, 4, func(v []driver.Value) error {
		name := fixture.Text(v[0])
		if n := len(list); n == 0 || list[n-1].name != name {
			list = append(list, index{name: name})
		}
		adds[name] = number(v[3]) != 0
		i := &list[len(list)-1]
		i.cols = append(i.cols, t.col(fixture.Text(v[1])))
		i.collations = append(i.collations, fixture.Text(v[2]))
		return nil
	})
	for _, i := range list {
		if slices.Contains(i.cols, nil) { // an expression
			continue
		}
		t.indexes = append(t.indexes, i)
		if adds[i.name] {
			t.unique = append(t.unique, i.cols)
		}
	}
	return err
}

func (t *table) readForeignKeys(ctx context.Context, c *conn) error {
	const keys = `SELECT id, "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq`
	last := int64(-1)
	return c.query(ctx, keys, []driver.Value{t.name}, 6, func(v []driver.Value) error {
		if id := number(v[0]); id != last {
			last = id
			acts := fixture.Text(v[4]) + " " + fixture.Text(v[5])
			t.fks = append(t.fks, foreignKey{parent: fixture.Text(v[1]),
				cascade: strings.Contains(acts, "CASCADE") || strings.Contains(acts, "SET")})
		}
		fk := &t.fks[len(t.fks)-1]
		if col := t.col(fixture.Text(v[2])); col != nil {
			fk.cols = append(fk.cols, col)
		}
		if v[3] != nil {
			fk.refs = append(fk.refs, fixture.Text(v[3]))
		}
		return nil
	})
}

// findRowid finds a name for the rowid that no column hides, and whether the
// single key column is the rowid itself.
func (t *table) findRowid(c *conn) {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if t.col(name) != nil {
			continue
		}
		if _, err := c.prepare("SELECT t." + name + " FROM " + fixture.Quote(t.name) + " AS t LIMIT 0"); err == nil {
			t.rowid = name
			break
		}
	}
	// "INTEGER" exactly: any other spelling makes an ordinary key.
	if len(t.key) == 1 && strings.EqualFold(t.key[0].decl, "INTEGER") && t.rowid != "" && !t.virtual {
		t.key[0].auto = true
	}
}

// keyHasNull looks for rows whose key is partly NULL, which SQLite allows in
// keys of rowid tables that are not its rowid.
func (t *table) keyHasNull(ctx context.Context, c *conn) (found bool, err error) {
	var terms []string
	for _, k := range t.key {
		if !k.notNull && !k.auto {
			terms = append(terms, "t."+fixture.Quote(k.name)+" IS NULL")
		}
	}
	if t.rowid == "" || len(terms) == 0 {
		return false, nil
	}
	sql := "SELECT 1 FROM " + fixture.Quote(t.name) + " AS t WHERE " + strings.Join(terms, " OR ") + " LIMIT 1"
	err = c.query(ctx, sql, nil, 1, func([]driver.Value) error {
		found = true
		return nil
	})
	return found, err
}

// number reads what SQLite's own tables hold; [fixture.Text] reads their texts.
func number(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}
