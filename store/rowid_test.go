package store

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/store/fixture"
)

const lastRowids = `
CREATE TABLE m (id INTEGER PRIMARY KEY, v);
INSERT INTO m VALUES (9223372036854775807, 1);
CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
INSERT INTO auto VALUES (9223372036854775807, 1);
CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
INSERT INTO gone VALUES (9223372036854775807, 1);
DELETE FROM gone;
CREATE TABLE words (code TEXT PRIMARY KEY, v);
INSERT INTO words (rowid, code) VALUES (9223372036854775807, 'a'), (9223372036854775805, 'b');
CREATE TABLE ids (id TEXT PRIMARY KEY, v);
INSERT INTO ids (rowid, id) VALUES (9223372036854775807, 'T-7');
CREATE TABLE big (id NUMERIC PRIMARY KEY, v);
INSERT INTO big VALUES (1e300, 1);
CREATE TABLE low (id INTEGER PRIMARY KEY, v);
INSERT INTO low VALUES (-5, 1);
`

// Past the largest rowid SQLite picks rowids by chance; no answer may hold one.
func TestLastRowid(t *testing.T) {
	db := openSQL(t, lastRowids, nil)
	for _, table := range []string{"m", "auto", "gone"} {
		text := `conflict: ` + table + ` has no next "id": the largest one, 9223372036854775807, is taken; give an "id" that is free`
		want(t, db, call{id: table + ".create", body: `{"v":2}`}, text)
		want(t, db, call{id: table + ".create"}, text)
		want(t, db, call{id: table + ".create", body: `{"id":5,"v":2}`}, `{"id":5,"v":2}`)
	}
	want(t, db, call{id: "low.create"}, `{"id":-4,"v":null}`)
	want(t, db, call{id: "ids.create"}, `{"id":"T-8","v":null}`)
	want(t, db, call{id: "ids.create"}, `{"id":"T-9","v":null}`)
	want(t, db, call{id: "big.create"}, `validation_error: "id" must have a value in big`)
	for _, code := range []string{"c", "d", "e"} {
		want(t, db, call{id: "words.create", body: `{"code":"` + code + `"}`}, `{"code":"`+code+`","v":null}`)
	}
	c, err := openConn(savedState(t, db), accessRead)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	var got []string
	for _, table := range []string{"words", "ids"} {
		got = append(got, rowids(t, c, table)...)
	}
	if text := strings.Join(got, " "); text != "7 6 5 4 3 7 6 5" {
		t.Errorf("the rowids end in %s, want 7 6 5 4 3 7 6 5", text)
	}
}

func savedState(tb testing.TB, db *DB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "state.db")
	if err := db.SaveState(context.Background(), path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// rowids are the last digits of a table's rowids, highest first.
func rowids(tb testing.TB, c *conn, table string) (got []string) {
	tb.Helper()
	err := c.query(context.Background(), "SELECT substr(rowid, -1) FROM "+table+" ORDER BY rowid DESC", nil, 1, func(v []driver.Value) error {
		got = append(got, fixture.Text(v[0]))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}
