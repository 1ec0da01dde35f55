package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
)

const eventsSQL = `CREATE TABLE events (id INTEGER PRIMARY KEY, title TEXT NOT NULL, state TEXT, starts DATETIME, created_at INTEGER, price NUMERIC, note TEXT);
INSERT INTO events VALUES (1, 'Opening day', 'open', '2026-01-01 09:00:00', 1767225600, 1.5, NULL), (2, 'Closing night', 'done', '2026-02-01 20:00:00', 1769904000, 20, 'null'),
  (3, 'Day of rest', 'open', NULL, 1772323200, NULL, '100%');
CREATE VIRTUAL TABLE events_fts USING fts4(content="events", title, note);
INSERT INTO events_fts (rowid, title, note) SELECT id, title, note FROM events;
CREATE TABLE plain (id INTEGER PRIMARY KEY, title TEXT, note TEXT); INSERT INTO plain SELECT id, title, note FROM events;`

func TestQueries(t *testing.T) {
	db := openSQL(t, eventsSQL, nil)
	for query, want := range map[string]string{
		`starts[gte]="2026-01-01T09:00:01Z"`:           "2",
		`startsAfter="2026-01-01"`:                     "1 2",
		`starts_before="2026-01-01T10:00:00+02:00"`:    "",
		`created_since="2026-02-01T00:00:00Z"`:         "2 3",
		`created[lt]="2026-02-01"`:                     "1",
		`created_at=1767225600`:                        "1",
		`created_at="2026-01-01T00:00:00Z"`:            "1",
		`since="2026-03-01"`:                           "3",
		`price[gt]="2"`:                                "2",
		`price_lte=1.50`:                               "1",
		`minPrice=1&max_price="19"`:                    "1",
		`starts[null]="true"`:                          "3",
		`starts[exists]="true"`:                        "1 2",
		`note="null"`:                                  "1 2",
		`note[contains]="0%"`:                          "3",
		`state[ne]="open"`:                             "2",
		`state="open"&state_ne="done"`:                 "1 3",
		`q="day"`:                                      "1 3",
		`q="clos"`:                                     "2",
		`q="day is:open -id:1"`:                        "3",
		`q="\"of rest\""`:                              "3",
		`q="created:>=2026-02-02"`:                     "3",
		`$search="night"`:                              "2",
		`filter={"state":"open","id":{"gt":1}}`:        "3",
		`where[id][in]=[1,3]`:                          "1 3",
		`sort="-starts"`:                               "2 1 3",
		`sort="starts"`:                                "3 1 2",
		`order_by="price desc"`:                        "2 1 3",
		`sort[state]="asc"`:                            "2 1 3",
		`sort="created"&direction="desc"`:              "3 2 1",
		`order="desc"`:                                 "3 2 1",
		`$orderby="state desc,price asc"`:              "3 1 2",
		`$filter="price ge 1.5 and state eq 'open'"`:   "1",
		`$filter="starts ge 2026-01-15T00:00:00Z"`:     "2",
		`$filter="startswith(title,'Day') or id eq 2"`: "2 3",
		`$filter="not (id in (1,2))"`:                  "3",
		`$filter="price eq null"`:                      "3",
		`like="x"&title[like]="*of*"`:                  "3",
	} {
		req := listRequest(query, 9, nil)
		req.PathTemplate = "/events"
		res, err := db.Invoke(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if !res.OK {
			t.Errorf("%s: %s", query, show(res))
			continue
		}
		var ids []string
		for _, item := range res.Items {
			ids = append(ids, strings.TrimSuffix(strings.TrimPrefix(strings.SplitN(string(item), ",", 2)[0], `{"id":`), "}"))
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s finds %q, want %q; meta %s", query, got, want, res.Meta)
		}
	}
}

func TestQueryFaults(t *testing.T) {
	db := openSQL(t, eventsSQL, &Options{Strict: true})
	for query, want := range map[string]string{
		`price[gt]="much"`:      `parameter "price[gt]" wants a number, got the string "much"`,
		`price[near]=1`:         `parameter "price[near]": no operator is called "near", want one of eq, ne`,
		`created_after="soon"`:  `parameter "created_after" wants a time such as`,
		`starts[null]="maybe"`:  `wants true or false, got the string "maybe"`,
		`$filter="price gt"`:    `parameter "$filter", at character 9: found the end, want a value`,
		`$filter="prise gt 1"`:  `at character 1: found "prise", which is no column of events; did you mean "price"?`,
		`$filter="price > 1"`:   `at character 7: found ">", want eq, ne, gt, ge, lt, le or in`,
		`$filter="(price gt 1"`: `found the end, want )`,
		`$filter="title eq 'x"`: `want a closing quote`,
		`colour="red"`:          `events has no column for the parameter "colour"`,
		`titel="x"`:             `events has no column for the parameter "titel"; did you mean "title"?`,
		`$count="many"`:         `wants true or false`,
		`id=` + "[" + strings.Repeat("1,", 5001) + "1]": `at most 5000 can be asked for at once`,
	} {
		req := listRequest(query, 9, nil)
		req.PathTemplate = "/events"
		res, err := db.Invoke(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(res); !strings.HasPrefix(got, "validation_error: ") || !strings.Contains(got, want) {
			t.Errorf("%.60s\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestReasons(t *testing.T) {
	db := openSQL(t, eventsSQL, nil)
	meta := func(op, path, query string) string {
		f := strings.Fields(op)
		req := &provider.Request{RequestID: "r1", OperationID: op, Method: f[0], PathTemplate: f[1], Kind: provider.Kind(f[2]), Action: f[2],
			Params: provider.Params{Path: pairs(path), Query: pairs(query)}}
		if f[2] == "list" {
			req.Page = &provider.Page{Size: 5}
		}
		res, err := db.Invoke(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Meta)
	}
	for _, c := range []struct{ op, path, query, want string }{
		{"GET /events list", "", `state="open"&price_gt=5&x=1`, `{"table":"events","filters":["state","price gt"],"ignored":["x"],"plan":["SCAN events"],"rows_scanned":3,"rows":0,"empty":{"by":"price gt","alone":[2,1]}}`},
		{"GET /events list", "", `sort="-price,state"&price[null]="false"`, `{"table":"events","filters":["price present"],"sort":["-price","state"],"plan":["SCAN events","USE TEMP B-TREE FOR ORDER BY"],"rows_scanned":3,"rows":2}`},
		{"GET /events/{id} read", "id=17", "", `{"table":"events","filters":["id"],"plan":["SEARCH events USING INTEGER PRIMARY KEY (rowid=?)"],"rows_scanned":0,"rows":0,"nearest":{"id":3}}`},
		{"GET /events/{id} read", `id="x"`, "", `{"table":"events","filters":["id"],"plan":["SEARCH events USING INTEGER PRIMARY KEY (rowid=?)"],"rows_scanned":0,"rows":0,"nearest":{"id":3}}`},
	} {
		if got := meta(c.op, c.path, c.query); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.op, c.query, got, c.want)
		}
	}
}

// A row is served as its contract declares it.
func TestShapes(t *testing.T) {
	const sql = `CREATE TABLE users (id INTEGER PRIMARY KEY, login TEXT UNIQUE, admin INTEGER);
INSERT INTO users VALUES (1, 'amy', 1), (2, 'bob', 0);
CREATE TABLE items (item_id INTEGER PRIMARY KEY, label TEXT, active INTEGER, price TEXT, made_at TEXT, tags TEXT, owner_id INTEGER REFERENCES users (id), size_width INTEGER, size_height INTEGER, secret TEXT, due TEXT);
INSERT INTO items VALUES (9007199254740993, 'a', 1, '1.10', '2026-01-02 03:04:05', '["x"]', 1, 3, 4, 's', NULL), (7, 'b', 0, 'n/a', NULL, NULL, NULL, NULL, NULL, 't', '2026-05-05');`
	doc, err := air.Parse("c.yaml", []byte(shapeContract))
	if err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, sql, &Options{Contract: doc})
	for _, c := range []struct{ id, op, path, body, want string }{
		{"x.get", "GET /items/{id} read", "id=9007199254740993", "", `{"data":{"label":"a","id":"9007199254740993","owner":{"admin":true,"login":"amy"},"active":true,"price":1.10,"made_at":"2026-01-02T03:04:05Z","tags":["x"],"size":{"width":3,"height":4},"due":null}}`},
		{"x.get", "GET /items/{id} read", "id=7", "", `{"data":{"label":"b","id":"7","owner":null,"active":false,"price":"n/a","tags":null,"size":{"width":null,"height":null},"due":"2026-05-05"}}`},
		{"x.create", "POST /items create", "", `{"data":{"label":"c","owner":{"login":"bob"},"active":true,"price":2.50,"made_at":"2026-01-02T03:04:05+01:00","tags":["y",{"z":1.0}],"size":{"width":5}}}`,
			`{"label":"c","id":"9007199254740994","owner":{"admin":false,"login":"bob"},"active":true,"price":2.50,"made_at":"2026-01-02T02:04:05Z","tags":["y",{"z":1.0}],"size":{"width":5,"height":null},"due":null}`},
	} {
		if got := ask(t, db, c.id, c.op, c.path, "", c.body); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.op, c.body, got, c.want)
		}
	}
}

var shapeContract = fmt.Sprintf(`
service: {id: x, version: "1", source: {kind: openapi}}
operations:
  - {id: x.get, canonicalName: get, displayName: get, sourceRef: {kind: openapi, path: "/items/{id}", method: get},
     effect: {kind: read, action: get, resource: item}, input: {params: [{name: id, in: path, required: true, schema: {type: string}}]},
     output: {schema: {type: object, properties: {data: {$ref: "#/components/schemas/Item"}}}, successStatuses: [200]}, %[1]s, cli: {command: get}, skill: {}, mcp: {toolName: x_get}}
  - {id: x.create, canonicalName: create, displayName: create, sourceRef: {kind: openapi, path: /items, method: post},
     effect: {kind: mutation, action: create, resource: item}, input: {params: [], body: {contentType: application/json, required: true, projection: whole,
       schema: {type: object, properties: {data: {$ref: "#/components/schemas/Item"}}}}},
     output: {schema: {$ref: "#/components/schemas/Item"}, successStatuses: [201]}, %[1]s, cli: {command: create}, skill: {}, mcp: {toolName: x_create}}
schemas:
  User: {type: object, required: [admin, login], properties: {admin: {type: boolean}, login: {type: string}}}
  Item:
    type: object
    required: [id, tags, owner]
    properties:
      label: {type: string}
      id: {type: string}
      owner: {$ref: "#/components/schemas/User"}
      active: {type: boolean}
      price: {type: number}
      made_at: {type: string, format: date-time}
      tags: {type: array, items: {}}
      size: {type: object, properties: {width: {type: [integer, "null"]}, height: {type: [integer, "null"]}}}
      due: {type: [string, "null"], format: date}
      nothing: {type: string}
`, `errors: [], idempotency: {mode: none}, retries: {mode: none}, confirmation: {required: false}, auth: {type: none}, state: approved`)

// A path names a row, or its parent, by either of two columns, or by another
// than its key.
func TestEitherKey(t *testing.T) {
	db := openSQL(t, `CREATE TABLE users (id INTEGER PRIMARY KEY, login TEXT UNIQUE); INSERT INTO users VALUES (1, 'amy'), (2, 'bob');
CREATE TABLE issues (id INTEGER PRIMARY KEY, key TEXT UNIQUE, owner_id INTEGER REFERENCES users (id)); INSERT INTO issues VALUES (10, 'ENG-1', 1), (11, 'ENG-2', 2);
CREATE TABLE comments (id INTEGER PRIMARY KEY, issue_id INTEGER REFERENCES issues (id), body TEXT); INSERT INTO comments VALUES (1, 10, 'a'), (2, 11, 'b');`, nil)
	for _, c := range []struct{ op, path, body, want string }{
		{"GET /issue/{issueIdOrKey} read", `issueIdOrKey="ENG-2"`, "", `{"id":11,"key":"ENG-2","owner_id":2}`},
		{"GET /issue/{issueIdOrKey} read", `issueIdOrKey="11"`, "", `{"id":11,"key":"ENG-2","owner_id":2}`},
		{"GET /issue/{issueIdOrKey} read", `issueIdOrKey="ENG-9"`, "", `not_found: no issues with "id" "ENG-9"`},
		{"GET /issue/{issueIdOrKey}/comment list", `issueIdOrKey="ENG-1"`, "", `1 of 1 {"id":1,"issue_id":10,"body":"a"}`},
		{"GET /issue/{issueIdOrKey}/comment list", `issueIdOrKey="ENG-9"`, "", `not_found: no issues with "id" "ENG-9"`},
		{"POST /issue/{issueIdOrKey}/comment create", `issueIdOrKey="ENG-2"`, `{"body":"c"}`, `{"id":3,"issue_id":11,"body":"c"}`},
		{"POST /issue/{issueIdOrKey}/comment create", `issueIdOrKey="ENG-9"`, `{"body":"c"}`, `not_found: no issues with "id" "ENG-9"`},
		{"GET /users/{username}/issues list", `username="bob"`, "", `1 of 1 {"id":11,"key":"ENG-2","owner_id":2}`},
		{"GET /users/{username}/issues list", `username="eve"`, "", `not_found: no users with "login" "eve"`},
	} {
		if got := ask(t, db, "x", c.op, c.path, "", c.body); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.op, c.path, got, c.want)
		}
	}
}
