package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

// An answer says how SQLite found its rows, also where that depends on the values,
// and whichever values came first.
func TestPlan(t *testing.T) {
	const sql = `CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT, name TEXT COLLATE NOCASE, at TEXT);
CREATE INDEX by_name ON jobs (name);
CREATE INDEX open_at ON jobs (at) WHERE state = 'open';
CREATE TABLE steps (job_id INTEGER REFERENCES jobs (id), no INTEGER, PRIMARY KEY (job_id, no)) WITHOUT ROWID;
INSERT INTO jobs VALUES (1, 'open', 'a', '1'), (2, 'done', 'b', '2');`
	db := openSQL(t, sql, nil)
	cases := []struct {
		path, query string
		scanned     int64
		want        []string
	}{
		{"/jobs", "", 2, []string{"SCAN jobs"}},
		{"/jobs", `name="a"`, 1, []string{"SEARCH jobs USING INDEX by_name (name=?)"}},
		{"/jobs", `name_prefix="a"`, 1, []string{"SEARCH jobs USING INDEX by_name (name>? AND name<?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"/jobs", `name_like="%a"`, 2, []string{"SCAN jobs"}},
		{"/jobs", `state="done"&at="1"`, 2, []string{"SCAN jobs"}},
		{"/jobs", `state="open"&at="1"`, 1, []string{"SEARCH jobs USING INDEX open_at (at=?)"}},
		{"/steps", `job_id=1`, 0, []string{"SEARCH steps USING PRIMARY KEY (job_id=?)"}},
	}
	// In turns and often, so that every connection meets each value after each other.
	for range 20 {
		for _, c := range cases {
			res, err := db.Invoke(context.Background(), &provider.Request{RequestID: "r1", OperationID: c.path, Method: "GET", PathTemplate: c.path,
				Kind: provider.KindList, Action: "list", Page: &provider.Page{Size: 5}, Params: provider.Params{Query: pairs(c.query)}})
			if err != nil {
				t.Fatal(err)
			}
			var meta struct {
				Plan    []string
				Scanned int64 `json:"rows_scanned"`
			}
			if err := json.Unmarshal(res.Meta, &meta); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(meta.Plan, c.want) || meta.Scanned != c.scanned {
				t.Errorf("%s?%s: got %q and %d rows, want %q and %d", c.path, c.query, meta.Plan, meta.Scanned, c.want, c.scanned)
			}
		}
	}
}

// Rows are counted that SQLite looked at, whichever way it found them, and in writes
// and a map's SQL too. What a page's end, an offset and a sort leave or add counts.
func TestRowsScanned(t *testing.T) {
	const sql = `CREATE TABLE jobs (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT);
CREATE INDEX by_kind ON jobs (kind);
CREATE TABLE tickets (id TEXT PRIMARY KEY, title TEXT);
INSERT INTO tickets VALUES ('T-1', 'a'), ('T-2', 'b'), ('T-3', 'c');
CREATE VIEW odd AS SELECT id, name FROM jobs WHERE id % 2;
INSERT INTO jobs WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i, i % 10, 'n' || i FROM n;
CREATE TABLE slips (id INTEGER PRIMARY KEY, no INTEGER NOT NULL UNIQUE);
INSERT INTO slips SELECT id, id + 7 FROM jobs;`
	m, err := ParseMap("m.yaml", []byte("{version: 1, operations: {sql: {sql: SELECT count(*) AS n FROM jobs WHERE name LIKE 'n1%', result: row}}}"))
	if err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, sql, &Options{Map: m})
	for _, c := range []struct {
		call call
		want string
	}{
		{call{id: "jobs.list", query: "kind=3", size: 4}, `"rows_scanned":5,"rows":4`},
		{call{id: "jobs.list", query: "kind=[3,4]", size: 40}, `"rows_scanned":20,"rows":20`},
		{call{id: "jobs.list", query: `kind=3&name_like="%3%"&sort="-name"`, size: 4}, `"rows_scanned":10,"rows":4`},
		{call{id: "jobs.list", query: `name="n7"`, size: 4}, `"rows_scanned":100,"rows":1`},
		{call{id: "jobs.list", query: `$filter="kind eq 3 or id eq 5"`, size: 40}, `"rows_scanned":11,"rows":11`},
		{call{id: "odd.list", query: `name="n7"`, size: 4}, `"rows_scanned":50,"rows":1`},
		{call{id: "jobs.get", path: "id=7"}, `"rows_scanned":1,"rows":1`},
		{call{id: "jobs.get", path: "id=700"}, `"rows_scanned":0,"rows":0,"nearest":{"id":100}`},
		{call{id: "jobs.update", path: "id=7", body: `{"name":"x"}`}, `{"table":"jobs","filters":["id"],"rows_scanned":1,"rows":1}`},
		{call{id: "jobs.update", path: "id=7", body: `{}`}, `{"table":"jobs","filters":["id"],"rows_scanned":1,"rows":1}`},
		{call{id: "jobs.update", path: "id=700", body: `{"name":"x"}`}, `"rows_scanned":0,"rows":0,"nearest":{"id":100}`},
		{call{id: "jobs.delete", path: "id=8"}, `"rows_scanned":1,"rows":1}`},
		{call{id: "jobs.delete", path: "id=8"}, `"rows_scanned":0,"rows":0,"nearest":{"id":7}`},
		{call{id: "jobs.create", body: `{"name":"x"}`}, `{"table":"jobs","rows_scanned":0,"rows":1}`},
		{call{id: "tickets.create", body: `{"title":"x"}`}, `{"table":"tickets","generated":["id"],"rows_scanned":6,"rows":1}`}, // the last three, then all
		{call{id: "tickets.create", body: `{"title":"x"}`}, `{"table":"tickets","generated":["id"],"rows_scanned":5,"rows":1}`}, // the last four, then the remembered one
		{call{id: "slips.create", body: `{}`}, `{"table":"slips","generated":["no"],"rows_scanned":21,"rows":1}`},               // the last twenty, then the index's end
		{call{op: &provider.Request{OperationID: "sql", Method: "GET", PathTemplate: "/sql", Kind: provider.KindRead, Action: "get"}}, `"full_scan_rows":99,"rows":1`},
	} {
		for range 2 {
			res := c.call.do(t, db)
			if !strings.Contains(string(res.Meta), c.want) {
				t.Errorf("%s %s %s %s: %s, want %s", c.call.id, c.call.path, c.call.query, c.call.body, res.Meta, c.want)
			}
			if c.call.id == "jobs.delete" || strings.HasSuffix(c.call.id, ".create") {
				break
			}
		}
	}
}
