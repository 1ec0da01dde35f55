package changelog

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
)

// A Querier runs a statement and calls row for each of its rows of cols values.
type Querier func(ctx context.Context, sql string, args []driver.Value, cols int, row func(vals []driver.Value) error) error

// A table is what the log must know of a table to note its rows and to put them
// back.
type table struct {
	name    string
	columns []string // that rows hold: no generated ones
	rowid   string   // a name of the rowid that no column hides, "" without one
	key     []string // of a table without rowids
	counted bool     // it has an AUTOINCREMENT counter
	shadow  bool     // a module writes it, by REPLACE too
	unique  []string // conditions under which a row stands in the way of NEW
	opaque  bool     // a unique set has an expression, so unique has not all
	watched bool
}

// read finds the columns and what tells rows apart.
func (t *table) read(ctx context.Context, query Querier) error {
	key := map[int64]string{}
	const info = `SELECT name, pk, hidden FROM pragma_table_xinfo(?, 'main') ORDER BY cid`
	err := query(ctx, info, []driver.Value{t.name}, 3, func(v []driver.Value) error {
		if v[2] != int64(0) {
			return nil
		}
		t.columns = append(t.columns, fixture.Text(v[0]))
		if n, _ := v[1].(int64); n > 0 {
			key[n] = fixture.Text(v[0])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t.rowid == "" {
		for i := int64(1); i <= int64(len(key)); i++ {
			t.key = append(t.key, key[i])
		}
		return nil
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(t.columns, func(c string) bool { return strings.EqualFold(c, name) }) {
			t.rowid = name
			return nil
		}
	}
	return fmt.Errorf("its columns hide every name of the rowid, by which rows are told apart")
}

// readUnique finds which rows a REPLACE would remove without a word.
func (t *table) readUnique(ctx context.Context, query Querier) error {
	if t.rowid != "" {
		t.unique = append(t.unique, "was."+t.rowid+" = NEW."+t.rowid)
	}
	last := ""
	var terms []string
	add := func() {
		if terms != nil {
			t.unique = append(t.unique, strings.Join(terms, " AND "))
		}
		terms = nil
	}
	const unique = `SELECT l.name, i.name, i.coll FROM pragma_index_list(?1, 'main') AS l, pragma_index_xinfo(l.name, 'main') AS i
		WHERE l."unique" = 1 AND i.key = 1 ORDER BY l.name, i.seqno`
	err := query(ctx, unique, []driver.Value{t.name}, 3, func(v []driver.Value) error {
		if fixture.Text(v[0]) != last {
			add()
			last = fixture.Text(v[0])
		}
		if v[1] == nil {
			t.opaque = true
			return nil
		}
		name := fixture.Quote(fixture.Text(v[1]))
		terms = append(terms, "was."+name+" = NEW."+name+" COLLATE "+fixture.Quote(fixture.Text(v[2])))
		return nil
	})
	add()
	return err
}

// identity are the columns of a note that tell which row it is of.
func (t *table) identity() []string {
	if t.rowid != "" {
		return []string{rowColumn}
	}
	return noted(t.key)
}

// own are the columns of the table that hold the same.
func (t *table) own() []string {
	if t.rowid != "" {
		return []string{t.rowid}
	}
	return quoted(t.key)
}

// rowColumn is where a note has the rowid.
const rowColumn = "row"

// noted are the columns of a note that hold the values of columns.
func noted(columns []string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = fixture.Quote("was_" + c)
	}
	return out
}

func quoted(columns []string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = fixture.Quote(c)
	}
	return out
}

// prefixed are columns of a row: OLD."name".
func prefixed(row string, columns []string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = row + "." + c
	}
	return out
}
