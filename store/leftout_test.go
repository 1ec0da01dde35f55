package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// foreign puts a table of a module that this build lacks into a database, with
// the tables that the module would have made, and all that may lean on it.
const foreign = `
CREATE TABLE docs (id INTEGER PRIMARY KEY, title TEXT);
INSERT INTO docs VALUES (1, 'one');
CREATE TABLE plain (id INTEGER PRIMARY KEY, v TEXT);
CREATE TABLE halves (id INTEGER PRIMARY KEY, v TEXT);
INSERT INTO halves VALUES (1, 'a');
CREATE TABLE fts_data (id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE fts_idx (segid, term, pgno, PRIMARY KEY (segid, term)) WITHOUT ROWID;
CREATE TABLE fts_content (id INTEGER PRIMARY KEY, c0);
CREATE TABLE fts_docsize (id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE fts_config (k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE fts_notes (id INTEGER PRIMARY KEY, v TEXT);
PRAGMA writable_schema = ON;
INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES
 ('table', 'fts', 'fts', 0, 'CREATE VIRTUAL TABLE fts USING fts5(title)'),
 ('view', 'found', 'found', 0, 'CREATE VIEW found AS SELECT * FROM fts'),
 ('trigger', 'ai', 'docs', 0, 'CREATE TRIGGER ai AFTER INSERT ON docs BEGIN INSERT INTO fts (rowid, title) VALUES (new.id, new.title); END'),
 ('trigger', 'au', 'halves', 0, 'CREATE TRIGGER au AFTER UPDATE OF v ON halves BEGIN INSERT INTO nowhere VALUES (1); END');
`

// hear collects what is told to Logf.
func hear(told *[]string) *Options {
	return &Options{Logf: func(format string, args ...any) { *told = append(*told, fmt.Sprintf(format, args...)) }}
}

func TestMissingModule(t *testing.T) {
	var told []string
	db := openSQL(t, foreign, hear(&told))
	for _, want := range []string{
		`fixture: the virtual table "fts" is left out: this build of SQLite has no module "fts5"; with it the tables of its data, fts_config, fts_content, fts_data, fts_docsize, fts_idx`,
		`fixture: view "found" is left out: no such module: fts5`,
		`fixture: a trigger of table "docs" cannot run, so its writes (create) are refused: no such module: fts5`,
		`fixture: a trigger of table "halves" cannot run, so its writes (update) are refused: no such table: main.nowhere`,
	} {
		if !slices.Contains(told, want) {
			t.Errorf("nothing said %s", want)
		}
	}
	if len(told) != 4 {
		t.Errorf("told %d things:\n%s", len(told), strings.Join(told, "\n"))
	}
	var names []string
	for _, table := range db.schema.tables {
		names = append(names, table.name)
	}
	if got := strings.Join(names, " "); got != "docs fts_notes halves plain" {
		t.Errorf("the tables are %s", got)
	}
	want(t, db, call{id: "docs.list", size: 5}, `1 of 1 {"id":1,"title":"one"}`)
	want(t, db, call{id: "docs.list", query: `q="one"`, size: 5}, `1 of 1 {"id":1,"title":"one"}`)
	want(t, db, call{id: "docs.create", body: `{"title":"x"}`},
		`policy_denied: docs cannot be written as the fixture database is: no such module: fts5; mend the trigger, view or foreign key that needs it`)
	want(t, db, call{id: "docs.update", path: "id=1", body: `{"title":"x"}`}, `{"id":1,"title":"x"}`)
	want(t, db, call{id: "halves.update", path: "id=1", body: `{"v":"x"}`},
		`policy_denied: halves cannot be written as the fixture database is: no such table: main.nowhere; mend the trigger, view or foreign key that needs it`)
	want(t, db, call{id: "halves.create", body: `{"v":"x"}`}, `{"id":2,"v":"x"}`)
	want(t, db, call{id: "plain.create", body: `{"v":"x"}`}, `{"id":1,"v":"x"}`)

	// A tenant's copy says nothing again, and is as whole.
	req := call{id: "plain.create", body: `{"v":"y"}`}.request(t, db)
	tenant := "t1"
	req.TenantID = &tenant
	res, err := db.Invoke(context.Background(), req)
	if err != nil || show(res) != `{"id":1,"v":"y"}` {
		t.Errorf("tenant: %v %v", res, err)
	}
	if len(told) != 4 {
		t.Errorf("told again: %s", strings.Join(told[4:], "\n"))
	}
}

func TestNothingLeft(t *testing.T) {
	_, err := OpenSQL(context.Background(), `CREATE TABLE gone (a); PRAGMA writable_schema = ON; DELETE FROM sqlite_schema;
INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', 'f', 'f', 0, 'CREATE VIRTUAL TABLE f USING nix')`, nil)
	if err == nil || !strings.Contains(err.Error(), `nothing is left to serve: table "f"`) || !strings.Contains(err.Error(), `needs the SQLite module "nix"`) {
		t.Errorf("got %v", err)
	}
}

func TestRenamedTables(t *testing.T) {
	var told []string
	db := openSQL(t, `CREATE TABLE "" (id INTEGER PRIMARY KEY); CREATE TABLE "." (id INTEGER PRIMARY KEY); CREATE TABLE ".." (a);
CREATE TABLE fine (a); CREATE VIEW broken AS SELECT * FROM nowhere`, hear(&told))
	for range 2 {
		if _, err := db.Contract(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`fixture: view "broken" is left out: no such table: main.nowhere`,
		`fixture: no path can hold the table's name: "" is served at /table`,
		`fixture: no path can hold the table's name: "." is served at /table_2`,
		`fixture: no path can hold the table's name: ".." is served at /table_3`}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// JSON that a generated column or a CHECK cannot read is the caller's doing.
func TestMalformedJSON(t *testing.T) {
	db := openSQL(t, `CREATE TABLE j (id INTEGER PRIMARY KEY, doc TEXT, a AS (json_extract(doc, '$.a')) STORED)`, nil)
	want(t, db, call{id: "j.create", body: `{"doc":"no json"}`}, `validation_error: j: malformed JSON`)
	want(t, db, call{id: "j.create", body: `{"doc":"{\"a\":1}"}`}, `{"id":1,"doc":"{\"a\":1}","a":1}`)
}
