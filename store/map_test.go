package store

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/provider"
)

const helpdeskSQL = `CREATE TABLE people (id INTEGER PRIMARY KEY, login TEXT UNIQUE NOT NULL, pass TEXT);
INSERT INTO people (login, pass) VALUES ('amy', 'p1'), ('bob', 'p2');
CREATE TABLE tickets (nr INTEGER PRIMARY KEY, slug TEXT UNIQUE NOT NULL, subject TEXT NOT NULL, state TEXT, owner INTEGER REFERENCES people (id),
  tags TEXT, urgent INTEGER, more TEXT, closed_by TEXT, tenant TEXT);
INSERT INTO tickets VALUES (1, 'T-1', 'Printer', 'open', 1, '["a","b"]', 1, NULL, NULL, NULL), (2, 'T-2', 'Mouse', 'closed', NULL, NULL, 0, '{"room":"B 2"}', NULL, NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, ticket INTEGER REFERENCES tickets (nr), body TEXT, public BOOLEAN);
INSERT INTO notes (ticket, body, public) VALUES (1, 'first', 1), (1, 'second', 0), (2, 'third', 1);`

const helpdeskMap = `
version: 1
tables:
  people: {hidden: [pass]}
  tickets:
    id: slug
    columns: {number: nr, fields.subject: subject, fields.state: state, labels: tags}
    json: [tags]
    booleans: [urgent]
    hidden: [owner, closed_by]
    extras: more
    defaults: {state: open, tenant: ":tenant"}
    join:
      assignee: {table: people, on: {id: owner}, columns: [id, login]}
      notes: {table: notes, on: {ticket: nr}, many: true, columns: {id: id, text: body, public: public}}
operations:
  close:
    table: tickets
    do: update
    key: {slug: slug}
    set: {state: closed, closed_by: ":principal.id"}
  "GET /stats":
    sql: SELECT count(*) AS total, sum(state = 'open') AS "by.open" FROM tickets WHERE state <> coalesce(:query.not, '')
    result: row
  search:
    sql: |
      -- a ticket's subject, by part; "quoted" and 'text with ? and :colons' are passed over
      SELECT slug AS id, subject FROM tickets WHERE subject LIKE '%' || :query.part || '%' ORDER BY nr;
  rename:
    sql: UPDATE tickets SET subject = :body.subject.text WHERE slug = :path.slug RETURNING slug AS id, subject
    errors: {no_row: not_found, constraint: validation_error}
  dup:
    sql: INSERT INTO people (login) VALUES (:body.login)
    result: none
    errors: {constraint: conflict}
`

func mapped(t *testing.T) *DB {
	t.Helper()
	m, err := ParseMap("map.yaml", []byte(helpdeskMap))
	if err != nil {
		t.Fatal(err)
	}
	return openSQL(t, helpdeskSQL, &Options{Map: m})
}

// ask sends one request: method, path template, kind; params as name=json.
func ask(t *testing.T, db *DB, id, op, path, query, body string) string {
	t.Helper()
	f := strings.Fields(op)
	tenant := "acme"
	req := &provider.Request{RequestID: "r1", OperationID: id, Method: f[0], PathTemplate: f[1], Kind: provider.Kind(f[2]), Action: f[2],
		Params: provider.Params{Path: pairs(path), Query: pairs(query)}, Principal: &provider.Principal{ID: "root"}}
	if f[2] == "list" {
		req.Page = &provider.Page{Size: 1}
	}
	if f[2] == "create" {
		req.TenantID = &tenant
	}
	if body != "" {
		req.Body = json.RawMessage(body)
	}
	res, err := db.invoke(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return show(res)
}

func TestMap(t *testing.T) {
	db := mapped(t)
	for _, c := range []struct{ id, op, path, query, body, want string }{
		{"x", "GET /tickets/{id} read", `id="T-1"`, "", "",
			`{"number":1,"slug":"T-1","fields":{"subject":"Printer","state":"open"},"labels":["a","b"],"urgent":true,"tenant":null,"assignee":{"id":1,"login":"amy"},"notes":[{"id":1,"text":"first","public":true},{"id":2,"text":"second","public":false}]}`},
		{"x", "GET /tickets/{id} read", `id="T-2"`, "", "",
			`{"number":2,"slug":"T-2","fields":{"subject":"Mouse","state":"closed"},"labels":null,"urgent":false,"tenant":null,"assignee":null,"notes":[{"id":3,"text":"third","public":true}],"room":"B 2"}`},
		{"x", "POST /tickets create", "", "", `{"fields":{"subject":"Desk"},"labels":["c"],"urgent":true,"floor":1.10}`,
			`{"number":3,"slug":"T-3","fields":{"subject":"Desk","state":"open"},"labels":["c"],"urgent":true,"tenant":"acme","assignee":null,"notes":[],"floor":1.10}`},
		{"x", "PATCH /tickets/{id} update", `id="T-3"`, "", `{"floor":null,"wing":"west"}`,
			`{"number":3,"slug":"T-3","fields":{"subject":"Desk","state":"open"},"labels":["c"],"urgent":true,"tenant":"acme","assignee":null,"notes":[],"wing":"west"}`},
		{"x", "GET /tickets list", "", `state="closed"`, "", `1 of 1 {"number":2,"slug":"T-2","fields":{"subject":"Mouse","state":"closed"},"labels":null,"urgent":false,"tenant":null,"assignee":null,"notes":[{"id":3,"text":"third","public":true}],"room":"B 2"}`},
		{"x", "GET /people/{id} read", `id=1`, "", "", `{"id":1,"login":"amy"}`},
		{"x", "PATCH /people/{id} update", `id=1`, "", `{"pass":"x"}`, `validation_error: people has no column "pass"; its columns are id, login`},
		{"close", "POST /tickets/{slug}/close action", `slug="T-1"`, "", "",
			`{"number":1,"slug":"T-1","fields":{"subject":"Printer","state":"closed"},"labels":["a","b"],"urgent":true,"tenant":null,"assignee":{"id":1,"login":"amy"},"notes":[{"id":1,"text":"first","public":true},{"id":2,"text":"second","public":false}]}`},
		{"stats", "GET /stats read", "", `not="nothing"`, "", `{"total":3,"by":{"open":1}}`},
		{"search", "GET /search list", "", `part="o"`, "", `1 of 1 {"id":"T-2","subject":"Mouse"}`},
		{"search", "GET /search list", "", `part="e"`, "", `1 of 3 more {"id":"T-1","subject":"Printer"}`},
		{"search", "GET /search list", "", `part="'; DROP TABLE tickets; --"`, "", `0 of 0`},
		{"rename", "POST /tickets/{slug}/name action", `slug="T-1"`, "", `{"subject":{"text":"Scanner"}}`, `{"id":"T-1","subject":"Scanner"}`},
		{"rename", "POST /tickets/{slug}/name action", `slug="T-9"`, "", `{"subject":{"text":"Scanner"}}`, `not_found: rename (POST /tickets/{slug}/name): no row`},
		{"rename", "POST /tickets/{slug}/name action", `slug="T-1"`, "", `{}`, `validation_error: NOT NULL constraint failed: tickets.subject`},
		{"dup", "POST /dup action", "", "", `{"login":"amy"}`, `conflict: UNIQUE constraint failed: people.login`},
		{"dup", "POST /dup action", "", "", `{"login":"eve"}`, `null`},
	} {
		if got := strings.TrimSpace(ask(t, db, c.id, c.op, c.path, c.query, c.body)); got != c.want {
			t.Errorf("%s %s %s\n got %s\nwant %s", c.op, c.path, c.body, got, c.want)
		}
	}
}

func TestMapFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"tables: {tickets: {colums: {a: b}}}", "map m.yaml: line 1: unknown key colums, want one of id, columns, hidden"},
		{"version: 2", "version: found 2, want 1"},
		{"tables: {ticket: {}}", `there is no table "ticket"; the tables are notes, people, tickets; did you mean "tickets"?`},
		{"tables: {tickets: {id: slag}}", `tables.tickets.id: tickets has no column "slag"; its columns are`},
		{"tables: {tickets: {defaults: {nr: many}}}", `tables.tickets.defaults.nr: "nr" of tickets wants an integer, got the string "many"`},
		{"tables: {tickets: {defaults: {state: ':who'}}}", "line 1: :who is no value of a request"},
		{"tables: {tickets: {join: {x: {table: notes, on: {ticket: nr}}}}}", "more than one row of notes may have the same"},
		{"operations: {a: {sql: 'DROP TABLE tickets'}}", `operations.a.sql: found "DROP", want SELECT`},
		{"operations: {a: {sql: 'ATTACH x AS y'}}", `found "ATTACH"`},
		{"operations: {a: {sql: 'SELECT :nothing'}}", "at byte 7: :nothing is no value of a request"},
		{"operations: {a: {sql: 'SELECT ?'}}", "want parameters as :path.id"},
		{"operations: {a: {sql: \"SELECT 'open\"}}", "a quote or a comment has no end"},
		{"operations: {a: {do: fly, table: tickets}}", `operations.a.do: found "fly"`},
		{"operations: {a: {sql: SELECT 1, errors: {no_row: gone}}}", `operations.a.errors.no_row: found "gone"`},
		{"tables: [", "map m.yaml: line 1"},
		{"[1]", "map m.yaml: line 1: found a list, want version, tables and operations"},
		{"tables: 5", "map m.yaml: line 1: found the number `5`, want names with values"},
		{"tables: {tickets: {json: tags}}", "line 1: found the text `tags`, want a list of names"},
		{"version: 1\n---\nversion: 1", "map m.yaml: found a second document, want one"},
		{"tables: {tickets: {columns: {a: nr, a: slug}}}", `line 1: "a" is given twice`},
		{"tables: {tickets: {join: {n: {table: notes, on: {ticket: nr}, many: true, limit: 0}}}}", "tables.tickets.join.n.limit: found 0, want at least 1"},
		{"operations: {a: {sql: SELECT 1, errors: {no_row: x, constraint: y}}}", `operations.a.errors.no_row: found "x", want one of the error codes, as not_found or conflict; operations.a.errors.constraint: found "y"`},
	} {
		m, err := ParseMap("m.yaml", []byte(c.text))
		if err == nil {
			_, err = OpenSQL(context.Background(), helpdeskSQL, &Options{Map: m})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// The published schema takes what the reader takes.
func TestMapSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(MapSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("map.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("map.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		inst, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(inst)
	}
	if err := check(helpdeskMap); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"version: 2", "tables: {a: {colums: {}}}", "operations: {a: {do: fly}}"} {
		if check(bad) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}

func FuzzMap(f *testing.F) {
	f.Add(helpdeskMap)
	f.Add("operations: {a: {sql: \"SELECT ':x', [a], `b` -- c\\n ; /* d */ SELECT :body\"}}")
	db, err := OpenSQL(context.Background(), helpdeskSQL, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMap("m", []byte(text))
		if err == nil {
			_, _ = m.compile(db.schema)
		}
	})
}

func FuzzOData(f *testing.F) {
	for _, s := range []string{"a eq 1 and (b ne 'x''y' or not contains(c,'z'))", "a in (1,2,'x')", "substringof('a',b) eq true", "x gt datetime'2026-01-01'", "((((", "'"} {
		f.Add(s)
	}
	db, err := OpenSQL(context.Background(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c TEXT, x DATETIME)", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"$filter", "sort", "q"} {
			req := &provider.Request{RequestID: "r1", OperationID: "x", Method: "GET", PathTemplate: "/t", Kind: provider.KindList, Action: "list",
				Page: &provider.Page{Size: 2}, Params: provider.Params{Query: provider.Object{{Name: name, Value: json.RawMessage(jsonText(text))}}}}
			if _, err := db.Invoke(context.Background(), req); err != nil {
				t.Fatalf("%s %q: %v", name, text, err)
			}
		}
	})
}
