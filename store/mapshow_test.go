package store

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

func withMap(t *testing.T, sql, text string) *DB {
	t.Helper()
	m, err := ParseMap("map.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return openSQL(t, sql, &Options{Map: m, Name: "desk"})
}

// The contract that the tables make is of the tables as the map shows them.
func TestMapShapesDerivedContract(t *testing.T) {
	db := withMap(t, helpdeskSQL, strings.Replace(helpdeskMap, "operations:\n", "operations:\n  \"DELETE /tickets/{slug}\":\n    sql: UPDATE tickets SET state = 'gone' WHERE slug = :path.slug\n    result: none\n", 1))
	text, err := db.Contract()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := air.Parse("desk", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{`"pass"`, `"closed_by"`, `"owner"`, `"more"`} {
		if bytes.Contains(text, []byte(gone)) {
			t.Errorf("the contract shows %s, which the map hides", gone)
		}
	}
	row := doc.Schemas.Get("tickets").Get("properties")
	var names []string
	for _, m := range row.Members() {
		names = append(names, m.Key)
	}
	if got, want := strings.Join(names, " "), "number slug fields labels urgent tenant assignee notes"; got != want {
		t.Errorf("the row has %s, want %s", got, want)
	}
	if got := string(row.Get("fields").Get("required").AppendJSON(nil)); got != `["subject","state"]` {
		t.Errorf("fields has %s", got)
	}
	for _, c := range []struct{ id, op, path, query, body, want string }{
		{"desk.tickets.get", "GET /tickets/{slug} read", `slug="T-2"`, "", "", `{"number":2,"slug":"T-2","fields":{"subject":"Mouse"`},
		{"desk.tickets.list", "GET /tickets list", "", `fields.state="closed"`, "", `1 of 1 {"number":2,`},
		{"desk.tickets.create", "POST /tickets create", "", "", `{"fields":{"subject":"Desk"},"floor":2}`, `{"number":3,"slug":"T-3","fields":{"subject":"Desk","state":"open"},"labels":null,"urgent":null,"tenant":"acme","assignee":null,"notes":[],"floor":2}`},
		{"desk.people.get", "GET /people/{id} read", `id=1`, "", "", `{"id":1,"login":"amy"}`},
		{"desk.people.create", "POST /people create", "", "", `{"login":"x","pass":"y"}`, `validation_error: people has no column "pass"; its columns are id, login`},
		{"desk.tickets.delete", "DELETE /tickets/{slug} delete", `slug="T-2"`, "", "", `null`},
		{"desk.tickets.get", "GET /tickets/{slug} read", `slug="T-2"`, "", "", `{"number":2,"slug":"T-2","fields":{"subject":"Mouse","state":"gone"`},
	} {
		if got := ask(t, db, c.id, c.op, c.path, c.query, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s %s%s\n got %s\nwant %s", c.op, c.path, c.query, c.body, got, c.want)
		}
	}
}

// What the map hides cannot be found out by asking for it, nor through the row of
// another table that shows it.
func TestMapHides(t *testing.T) {
	const sql = `CREATE TABLE people (id INTEGER PRIMARY KEY, login TEXT UNIQUE, pin TEXT UNIQUE);
INSERT INTO people VALUES (1, 'amy', 'zebra'), (2, 'bob', 'lion');
CREATE TABLE cards (id INTEGER PRIMARY KEY, holder_id INTEGER REFERENCES people (id), text TEXT, code TEXT);
INSERT INTO cards VALUES (1, 1, 'red', 'zebra'), (2, 2, 'blue', 'lion');
CREATE VIRTUAL TABLE cards_fts USING fts4(content="cards", text, code);
INSERT INTO cards_fts (cards_fts) VALUES ('rebuild');
CREATE TABLE shops (id INTEGER PRIMARY KEY, owner INTEGER);
INSERT INTO shops VALUES (1, 1);`
	db := withMap(t, sql, `tables:
  people: {hidden: [pin]}
  cards: {hidden: [code], columns: {code: code, secrets.code: code}}
  shops: {join: {boss: {table: people, on: {id: owner}}, cards: {table: cards, on: {holder_id: owner}, many: true}}}`)
	for _, c := range []struct{ op, path, query, body, want string }{
		{"GET /people list", "", `q="zebra"`, "", "0 of 0"},
		{"GET /people list", "", `q="amy"`, "", `1 of 1 {"id":1,"login":"amy"}`},
		{"GET /cards list", "", `q="zebra"`, "", "0 of 0"},
		{"GET /cards list", "", `q="blue"`, "", `1 of 1 {"id":2,"holder_id":2,"text":"blue"}`},
		{"GET /cards list", "", `code="zebra"`, "", `1 of 2 more {"id":1,"holder_id":1,"text":"red"}`},
		{"GET /cards list", "", `$filter="code eq 'zebra'"`, "", `validation_error: parameter "$filter", at character 1: found "code", which is no column of cards (id, holder_id, text)`},
		{"GET /shops/{id} read", "id=1", "", "", `{"id":1,"owner":1,"boss":{"id":1,"login":"amy"},"cards":[{"id":1,"holder_id":1,"text":"red"}]}`},
		{"PATCH /cards/{id} update", "id=1", "", `{"holder":{"pin":"lion"}}`, `validation_error: "holder_id" of cards wants an integer, got an object`},
		{"PATCH /cards/{id} update", "id=1", "", `{"code":"x"}`, `validation_error: cards has no column "code"; its columns are id, holder_id, text`},
	} {
		if got := strings.TrimSpace(ask(t, db, "x", c.op, c.path, c.query, c.body)); got != c.want {
			t.Errorf("%s %s%s\n got %s\nwant %s", c.op, c.query, c.body, got, c.want)
		}
	}
	from := declared{schema: obj("type", "object", "properties", obj("id", obj("type", "integer"),
		"holder", obj("type", "object", "properties", obj("login", obj("type", "string"), "pin", obj("type", "string")))))}
	sh := newShape(db.schema, db.schema.table("cards"), from, db.rules.of(db.schema.table("cards")))
	if joined := sh.fields[1].group; len(joined) != 1 || joined[0].name != `"login"` {
		t.Errorf("a card shows %v of its holder, want login", joined)
	}
}

// The map's id is the field that the contract calls id, and a replaced row keeps
// what its path names it by.
func TestMapID(t *testing.T) {
	db := withMap(t, helpdeskSQL, "tables: {tickets: {id: slug}}")
	from := declared{schema: obj("type", "object", "properties", obj("id", obj("type", "string"), "subject", obj("type", "string")))}
	table := db.schema.table("tickets")
	if sh := newShape(db.schema, table, from, db.rules.of(table)); sh.source("id") != table.col("slug") {
		t.Errorf("id is %v, want the map's", sh.source("id"))
	}
	for _, c := range []struct{ op, path, body, want string }{
		{"PUT /tickets/{id} update", `id="T-1"`, `{"subject":"Desk"}`, `{"nr":1,"slug":"T-1","subject":"Desk","state":null,"owner":null,`},
		{"POST /tickets create", "", `{"id":"T-7","subject":"Lamp"}`, `{"nr":3,"slug":"T-7","subject":"Lamp",`},
	} {
		if got := ask(t, db, "x", c.op, c.path, "", c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s\n got %s\nwant %s", c.op, c.body, got, c.want)
		}
	}
}

// Joined rows are written as rows of their own are, whatever they hold.
func TestMapJoinedValues(t *testing.T) {
	const sql = `CREATE TABLE a (id INTEGER PRIMARY KEY);
INSERT INTO a VALUES (1);
CREATE TABLE b ("at t.id" INTEGER PRIMARY KEY, a INT, r REAL, bytes BLOB, doc JSON, flag BOOLEAN, "any");
INSERT INTO b VALUES (1, 1, 1e-7, x'00ff', '{"n":1.10}', 1, x'01'), (2, 1, 9e999, NULL, 'no JSON', 0, 5.0), (3, 1, 5.0, x'', NULL, NULL, char(0));`
	db := withMap(t, sql, "tables: {a: {join: {bs: {table: b, on: {a: id}, many: true}}}}")
	const rows = `{"at t.id":1,"a":1,"r":1e-7,"bytes":"AP8=","doc":{"n":1.10},"flag":true,"any":"AQ=="},` +
		`{"at t.id":2,"a":1,"r":null,"bytes":null,"doc":"no JSON","flag":false,"any":5},` +
		`{"at t.id":3,"a":1,"r":5,"bytes":"","doc":null,"flag":null,"any":"\u0000"}`
	if got, want := ask(t, db, "x", "GET /a/{id} read", "id=1", "", ""), `{"id":1,"bs":[`+rows+`]}`; got != want {
		t.Errorf("joined rows\n got %s\nwant %s", got, want)
	}
	for _, id := range []string{"1", "2", "3"} {
		if got := ask(t, db, "x", "GET /b/{id} read", "id="+id, "", ""); !strings.Contains(rows, got) {
			t.Errorf("row %s alone is %s, want one of %s", id, got, rows)
		}
	}
}

// A joined row is written as the column that names it; an array of them is not
// written, and the meta says so.
func TestMapJoinedBody(t *testing.T) {
	db := mapped(t)
	for _, c := range []struct{ body, want string }{
		{`{"assignee":{"login":"bob"}}`, `"assignee":{"id":2,"login":"bob"}`},
		{`{"assignee":null}`, `"assignee":null`},
		{`{"assignee":{"id":1,"login":"amy"}}`, `"assignee":{"id":1,"login":"amy"}`},
		{`{"assignee":2}`, `"assignee":{"id":2,"login":"bob"}`},
		{`{"assignee":{"login":"eve"}}`, `validation_error: "owner" of tickets: there is no people with "login" "eve"`},
		{`{"assignee":{"pass":"p1"}}`, `validation_error: "owner" of tickets wants an integer, got an object`},
	} {
		if got := ask(t, db, "x", "PATCH /tickets/{id} update", `id="T-1"`, "", c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
	res, err := db.invoke(context.Background(), &provider.Request{RequestID: "r1", OperationID: "x", Method: "PATCH", PathTemplate: "/tickets/{id}",
		Kind: provider.KindUpdate, Action: "update", Params: provider.Params{Path: pairs(`id="T-1"`)}, Body: []byte(`{"urgent":false,"notes":[{"id":9}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	meta, err := canon.Parse(res.Meta, canon.Lenient)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(meta.Get("ignored").AppendJSON(nil)); got != `["notes"]` || strings.Contains(string(res.Result), `"id":9`) {
		t.Errorf("ignored %s in %s", got, res.Result)
	}
}
