package store

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

const refusals = `
CREATE TABLE teams (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE);
CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT NOT NULL, nick TEXT DEFAULT 'anon', age INTEGER CHECK (age >= 0), team_id INTEGER REFERENCES teams (id),
  rank INTEGER, gone INTEGER DEFAULT 0, half INTEGER AS (rank / 2) UNIQUE, CONSTRAINT team_rank UNIQUE (team_id, rank));
CREATE UNIQUE INDEX by_email ON people (email COLLATE NOCASE);
CREATE UNIQUE INDEX by_nick ON people (nick) WHERE gone = 0;
CREATE UNIQUE INDEX by_sum ON people (age + id);
CREATE TABLE notes (person_id INTEGER NOT NULL REFERENCES people (id), pos INTEGER, text TEXT NOT NULL, PRIMARY KEY (person_id, pos)) WITHOUT ROWID;
CREATE TABLE locked (id INTEGER PRIMARY KEY, v TEXT);
CREATE TABLE audit (id INTEGER PRIMARY KEY, v TEXT UNIQUE);
CREATE TRIGGER no_change BEFORE UPDATE ON locked BEGIN SELECT RAISE(ABORT, 'locked rows stay'); END;
CREATE TRIGGER mirror AFTER INSERT ON locked BEGIN INSERT INTO audit (v) VALUES (new.v); END;
INSERT INTO teams VALUES (1, 'red'), (2, 'blue');
INSERT INTO people (id, email, nick, team_id, rank, gone) VALUES (1, 'a@x', 'ann', 1, 1, 0), (2, 'b@x', 'bob', 1, 4, 1), (3, 'c@x', 'bob', 2, 6, 0), (4, 'd@x', 'dan', 2, 8, 1), (5, 'e@x', 'dan', 2, 10, 1);
INSERT INTO notes VALUES (1, 1, 'n');
INSERT INTO locked VALUES (1, 'v');
`

// A refusal says what it is known to be about: the table, the filters, what was scanned,
// and the column, constraint, index or parameter that refused.
func TestRefusalMeta(t *testing.T) {
	db := openSQL(t, refusals, nil)
	for _, c := range []struct {
		call call
		want string
	}{
		{call{id: "people.create", body: `{"email":"A@X"}`}, `{"table":"people","rows_scanned":0,"rows":0,"refused":{"by":"unique","columns":["email"],"index":"by_email","holder":{"id":1}}}`},
		{call{id: "people.create", body: `{"email":"z","id":3}`}, `"refused":{"by":"unique","columns":["id"],"holder":{"id":3}}}`},
		{call{id: "people.create", body: `{"email":"z","nick":"ann"}`}, `"refused":{"by":"unique","columns":["nick"],"index":"by_nick","holder":{"id":1}}}`},
		{call{id: "people.create", body: `{"email":"z","nick":"bob"}`}, `"refused":{"by":"unique","columns":["nick"],"index":"by_nick"}}`}, // 2 is not in the index, but looks the same
		{call{id: "people.create", body: `{"email":"z","rank":9}`}, `"refused":{"by":"unique","columns":["half"]}}`},
		{call{id: "people.update", path: "id=2", body: `{"rank":1}`}, `{"table":"people","filters":["id"],"rows_scanned":1,"rows":0,"refused":{"by":"unique","columns":["team_id","rank"],"index":"sqlite_autoindex_people_2","holder":{"id":1}}}`},
		{call{id: "people.replace", path: "id=2", body: `{"email":"C@x"}`}, `"refused":{"by":"unique","columns":["email"],"index":"by_email","holder":{"id":3}}}`},
		{call{id: "people.update", path: "id=1", body: `{"age":-1}`}, `"rows_scanned":1,"rows":0,"refused":{"by":"check","rule":"age >= 0"}}`},
		{call{id: "people.update", path: "id=1", body: `{"nick":null,"email":null}`}, `"refused":{"by":"not_null","columns":["email"]}}`},
		{call{id: "people.update", path: "id=1", body: `{"team_id":7}`}, `"refused":{"by":"foreign_key","columns":["team_id"],"parent":"teams","nearest":{"id":2}}}`},
		{call{id: "people.create", body: `{"email":"z","team":{"slug":"bleu"}}`}, `"refused":{"by":"foreign_key","columns":["team_id"],"parent":"teams","nearest":{"slug":"blue"}}}`},
		{call{id: "people.delete", path: "id=1"}, `{"table":"people","filters":["id"],"rows_scanned":1,"rows":0,"refused":{"by":"foreign_key","table":"notes","columns":["person_id"]}}`},
		{call{id: "people.create", body: `{"email":7,"agee":1,"id":"x"}`}, `{"table":"people","rows_scanned":0,"rows":0,"refused":{"by":"body","fields":["email","agee","id"]}}`},
		{call{id: "notes.create", body: `{"person_id":1,"pos":2,"txet":"z"}`}, `"refused":{"by":"body","fields":["txet"],"columns":["text"]}}`},
		{call{id: "people.create", body: `[]`}, `"refused":{"by":"body"}}`},
		{call{id: "people.create", body: `{}`}, `"refused":{"by":"not_null","columns":["email"]}}`},
		{call{id: "notes.create", body: `{"person_id":1,"pos":1,"text":"x"}`}, `"refused":{"by":"unique","columns":["person_id","pos"],"index":"sqlite_autoindex_notes_1","holder":{"person_id":1,"pos":1}}}`},
		{call{id: "locked.update", path: "id=1", body: `{"v":"w"}`}, `"refused":{"by":"rule","rule":"locked rows stay"}}`},
		{call{id: "people.list", query: `age=3&email="x"`, size: 2, cursor: "zz"}, `{"table":"people","filters":["age","email"],"rows_scanned":0,"rows":0,"refused":{"by":"cursor"}}`},
		{call{id: "people.list", query: `sort="-age"&nope=1`, size: 2, cursor: "zz"}, `{"table":"people","ignored":["nope"],"sort":["-age"],"rows_scanned":0,"rows":0,"refused":{"by":"cursor"}}`},
		{call{id: "people.list", query: `age=3&rank_gt="x"`, size: 2}, `{"table":"people","filters":["age"],"rows_scanned":0,"rows":0,"refused":{"by":"parameter","fields":["rank_gt"]}}`},
		{call{id: "people.list", query: `$filter="age eq 1 or"`, size: 2}, `"refused":{"by":"parameter","fields":["$filter"]}}`},
		{call{id: "people.get", path: `id={}`}, `{"table":"people","rows_scanned":0,"rows":0,"refused":{"by":"parameter","fields":["id"]}}`},
	} {
		res := c.call.do(t, db)
		if res.OK || !strings.Contains(string(res.Meta), c.want) {
			t.Errorf("%s %s %s %s: %s\n got %s\nwant %s", c.call.id, c.call.path, c.call.query, c.call.body, show(res), res.Meta, c.want)
		}
	}
	if res := (call{id: "locked.create", body: `{"v":"w"}`}).do(t, db); !res.OK {
		t.Fatalf("the first row: %s", show(res))
	}
	if res := (call{id: "locked.create", body: `{"v":"w"}`}).do(t, db); res.OK || !strings.Contains(string(res.Meta), `"refused":{"by":"unique","table":"audit","columns":["v"]}}`) {
		t.Errorf("another table's rule: %s %s", show(res), res.Meta)
	}
}

// An expression's index, strict mode, and a database that is only read.
func TestRefusalMetaOfOptions(t *testing.T) {
	for _, c := range []struct {
		opts Options
		call call
		want string
	}{
		{Options{}, call{id: "people.create", body: `{"id":9,"age":1,"email":"y"}`}, `{"table":"people"`},
		{Options{Strict: true}, call{id: "people.list", query: `age=3&agee=4&x=1`, size: 1}, `{"table":"people","filters":["age"],"ignored":["agee","x"],"rows_scanned":0,"rows":0,"refused":{"by":"strict","fields":["agee","x"]}}`},
		{Options{ReadOnly: true}, call{id: "people.delete", path: "id=1"}, `{"table":"people","rows_scanned":0,"rows":0,"refused":{"by":"read_only"}}`},
		{Options{}, call{op: &provider.Request{OperationID: "x", Method: "GET", PathTemplate: "/nothing", Kind: "list", Action: "list"}}, `{"operation":"x (GET /nothing)","refused":{"by":"mapping"}}`},
	} {
		db := openSQL(t, refusals, &c.opts)
		res := c.call.do(t, db)
		if !strings.Contains(string(res.Meta), c.want) {
			t.Errorf("%s: %s\n got %s\nwant %s", c.call.id, show(res), res.Meta, c.want)
		}
	}
	db := openSQL(t, refusals, nil)
	call{id: "people.create", body: `{"id":9,"age":1,"email":"y"}`}.do(t, db)
	if res := (call{id: "people.create", body: `{"id":8,"age":2,"email":"z","nick":"zoe"}`}).do(t, db); !strings.Contains(string(res.Meta), `"refused":{"by":"unique","index":"by_sum"}}`) {
		t.Errorf("an index over an expression: %s %s", show(res), res.Meta)
	}
}

// Where a map names rows by a column of its own, the holder is named by it; a map's SQL
// says what was refused and how many rows it went over until then.
func TestRefusalMetaOfMap(t *testing.T) {
	m, err := ParseMap("m.yaml", []byte(`{version: 1, tables: {teams: {id: slug}}, operations: {
  gone: {sql: "SELECT id FROM people WHERE nick = :query.nick", result: row, errors: {no_row: not_found}},
  twice: {sql: "UPDATE people SET email = 'a@x' WHERE nick = 'bob'; SELECT 1 AS n"},
  lost: {sql: "INSERT INTO people (email) VALUES (:body.email) RETURNING id"},
  pages: {sql: "SELECT id FROM people"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, refusals, &Options{Map: m})
	op := func(id string, kind provider.Kind) *provider.Request {
		return &provider.Request{OperationID: id, Method: "POST", PathTemplate: "/" + id, Kind: kind, Action: string(kind)}
	}
	for _, c := range []struct {
		call call
		want string
	}{
		{call{op: &provider.Request{OperationID: "y", Method: "POST", PathTemplate: "/teams", Kind: "create", Action: "create"}, body: `{"id":1,"slug":"green"}`}, `"refused":{"by":"unique","columns":["id"],"holder":{"slug":"red"}}}`},
		{call{op: op("gone", "read"), query: `nick="zoe"`}, `{"operation":"gone","by":"sql","full_scan_rows":4,"rows":0,"refused":{"by":"no_row"}}`},
		{call{op: op("twice", "action")}, `{"operation":"twice","by":"sql","full_scan_rows":1,"rows":0,"refused":{"by":"unique","table":"people","columns":["email"]}}`},
		{call{op: op("lost", "create"), body: `{}`}, `"rows":0,"refused":{"by":"not_null","table":"people","columns":["email"]}}`},
		{call{op: op("lost", "create"), body: `{"email":`}, `"rows":0,"refused":{"by":"parameter","fields":["body.email"]}}`},
		{call{op: op("pages", "list"), size: 2, cursor: "zz"}, `{"operation":"pages","by":"sql","full_scan_rows":0,"rows":0,"refused":{"by":"cursor"}}`},
	} {
		res := c.call.do(t, db)
		if res.OK || !strings.Contains(string(res.Meta), c.want) {
			t.Errorf("%s%v: %s\n got %s\nwant %s", c.call.id, c.call.op, show(res), res.Meta, c.want)
		}
	}
}
