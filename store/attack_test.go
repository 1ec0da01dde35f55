package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/hostile"
)

const attackSQL = `CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT, extras TEXT, created_at TEXT);
INSERT INTO notes (title, body, created_at) VALUES ('one', 'first', '2026-01-01T00:00:00Z'), ('two', 'second', '2026-01-02T00:00:00Z');
CREATE TABLE vault (id INTEGER PRIMARY KEY, secret TEXT);
INSERT INTO vault (secret) VALUES ('hunter2');
CREATE VIRTUAL TABLE notes_fts USING fts4(content="notes", title, body);
INSERT INTO notes_fts (rowid, title, body) SELECT id, title, body FROM notes;
CREATE TABLE "odd ""name" ("a ""b" TEXT PRIMARY KEY, "c]d" TEXT);`

// Whatever stands in a name or a value, the answer is rows that match or a
// refusal: never an error of SQL, another table's row, or a change.
func TestInjection(t *testing.T) {
	db := openSQL(t, attackSQL, nil)
	ask := func(where string, req *provider.Request) {
		t.Helper()
		if req.Page == nil && req.Kind == provider.KindList {
			req.Page = &provider.Page{Size: 10}
		}
		res, err := db.Invoke(context.Background(), req)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if strings.Contains(string(res.Result), "hunter2") || slices.ContainsFunc(res.Items, func(i json.RawMessage) bool { return strings.Contains(string(i), "hunter2") }) {
			t.Fatalf("%s: %s", where, show(res))
		}
	}
	list := func(query provider.Object) *provider.Request {
		return &provider.Request{OperationID: "x.list", Method: "GET", PathTemplate: "/notes", Kind: provider.KindList, Action: "list", Params: provider.Params{Query: query}}
	}
	for _, text := range hostile.Texts() {
		raw := json.RawMessage(jsonText(text))
		for _, name := range []string{"id", "title", "title[like]", "title[contains]", "title_ne", "id_gte", "created_at[after]", "q", "sort", "order", "$filter",
			"$orderby", "$select", "$search", "filter[title]", "created_since", "title[in]", "title[null]"} {
			ask(name+" = "+text, list(provider.Object{{Name: name, Value: raw}}))
		}
		for _, name := range []string{text, "title[" + text + "]", "filter[" + text + "]", text + "[gte]", text + "_gte"} {
			ask("name "+name, list(provider.Object{{Name: name, Value: json.RawMessage(`"x"`)}}))
		}
		ask("sort direction "+text, list(provider.Object{{Name: "sort", Value: json.RawMessage(jsonText("-" + text))}, {Name: "order", Value: raw}}))
		cursor := list(nil)
		cursor.Page = &provider.Page{Size: 1, Cursor: &text}
		ask("cursor "+text, cursor)
		ask("object "+text, list(provider.Object{{Name: "filter", Value: json.RawMessage(`{` + jsonText(text) + `:{` + jsonText(text) + `:1},"title":` + string(raw) + `}`)}}))
		path := provider.Object{{Name: "id", Value: raw}}
		ask("path "+text, &provider.Request{OperationID: "x.get", Method: "GET", PathTemplate: "/notes/{id}", Kind: provider.KindRead, Action: "get", Params: provider.Params{Path: path}})
		ask("delete "+text, &provider.Request{OperationID: "x.delete", Method: "DELETE", PathTemplate: "/notes/{id}", Kind: provider.KindDelete, Action: "delete", Params: provider.Params{Path: path}})
		ask("template "+text, &provider.Request{OperationID: "x", Method: "GET", PathTemplate: "/" + text + "/{" + text + "}", Kind: provider.KindRead, Action: "get", Resource: &text})
		ask("body field "+text, &provider.Request{OperationID: "x.update", Method: "PATCH", PathTemplate: "/notes/{id}", Kind: provider.KindUpdate, Action: "update",
			Params: provider.Params{Path: provider.Object{{Name: "id", Value: json.RawMessage("1")}}},
			Body:   json.RawMessage(`{` + jsonText(text) + `:` + string(raw) + `}`)})
	}
	for table, n := range map[string]int64{"notes": 2, "vault": 1, `odd "name`: 0} {
		c, err := db.reader(context.Background(), &provider.Request{RequestID: "r1"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.schema.table(table).count(context.Background(), c, nil)
		db.release(c)
		if err != nil || got != n {
			t.Errorf("%s has %d rows (%v), want %d", table, got, err, n)
		}
	}
}

// Names in a map, and every value that its SQL may take, are no SQL either.
func TestInjectionThroughMap(t *testing.T) {
	ctx := context.Background()
	for _, text := range hostile.Texts() {
		quoted := string(jsonText(text))
		for _, m := range []string{
			"tables: {notes: {id: " + quoted + "}}", "tables: {notes: {hidden: [" + quoted + "]}}", "tables: {notes: {columns: {x: " + quoted + "}}}",
			"tables: {" + quoted + ": {}}", "tables: {notes: {join: {x: {table: " + quoted + ", on: {id: id}}}}}", "operations: {a: {table: notes, do: " + quoted + "}}",
			"operations: {a: {sql: " + quoted + "}}", "operations: {a: {table: notes, filters: {x: " + quoted + "}}}", "operations: {a: {table: notes, key: {x: " + quoted + "}}}",
		} {
			parsed, err := ParseMap("m", []byte(m))
			if err != nil {
				continue
			}
			if db, err := OpenSQL(ctx, attackSQL, &Options{Map: parsed}); err == nil {
				t.Errorf("%s is taken", m)
				closeDB(t, db)
			}
		}
		m, err := ParseMap("m", []byte(`
tables: {notes: {defaults: {body: `+quoted+`}}}
operations:
  all: {sql: "INSERT INTO notes (title, body) VALUES (:tenant || :key, :principal.id || :header.h || :cookie.c || :query.q || :path.p || :body.a.b) RETURNING title, body"}
  "GET /find": {table: notes, do: list, filters: {`+quoted+`: title}}
`))
		if err != nil {
			t.Fatal(err)
		}
		db := openSQL(t, attackSQL, &Options{Map: m, Log: true})
		raw := json.RawMessage(quoted)
		one := func(name string) provider.Object { return provider.Object{{Name: name, Value: raw}} }
		res, err := db.invoke(ctx, &provider.Request{RequestID: "r1", OperationID: "all", Method: "POST", PathTemplate: "/all/{p}", Kind: provider.KindCreate, Action: "create",
			TenantID: &text, IdempotencyKey: &text, Principal: &provider.Principal{ID: text},
			Params: provider.Params{Header: one("h"), Cookie: one("c"), Query: one("q"), Path: one("p")}, Body: json.RawMessage(`{"a":{"b":` + quoted + `}}`)})
		if want := `{"title":` + jsonText(text+text) + `,"body":` + jsonText(strings.Repeat(text, 6)) + `}`; err != nil || string(res.Result) != want {
			t.Errorf("%q: %v\n got %s\nwant %s", text, err, show(res), want)
		}
		res, err = db.Invoke(ctx, &provider.Request{RequestID: "r2", OperationID: "find", Method: "GET", PathTemplate: "/find", Kind: provider.KindList, Action: "list",
			Page: &provider.Page{Size: 9}, Params: provider.Params{Query: provider.Object{{Name: text, Value: json.RawMessage(`"one"`)}}}})
		if err != nil || len(res.Items) != 1 {
			t.Errorf("%q as a parameter: %v %s", text, err, show(res))
		}
		res, err = db.Invoke(ctx, &provider.Request{RequestID: "r3", OperationID: "x.create", Method: "POST", PathTemplate: "/notes", Kind: provider.KindCreate, Action: "create",
			TenantID: &text, Body: json.RawMessage(`{"title":"x"}`)})
		if err != nil || !strings.Contains(string(res.Result), `"body":`+jsonText(text)) {
			t.Errorf("%q as a default of a tenant: %v %s", text, err, show(res))
		}
		path := TenantFile(filepath.Join(t.TempDir(), "s"), text)
		if filepath.Base(filepath.Dir(path)) != "s.tenants" || strings.ContainsAny(filepath.Base(path), "/\\\x00 ") {
			t.Errorf("%q: %q", text, path)
		}
	}
}

// Tables and columns may be called anything: they are served, logged and put back.
func TestHostileNames(t *testing.T) {
	ctx := context.Background()
	schema := "CREATE TABLE vault (id INTEGER PRIMARY KEY, secret TEXT); INSERT INTO vault (secret) VALUES ('hunter2');"
	var names []string
	for i, text := range hostile.Texts() {
		if strings.ContainsRune(text, 0) {
			continue // no name of SQL
		}
		names = append(names, text)
		schema += fmt.Sprintf("CREATE TABLE %s (id INTEGER PRIMARY KEY, %s TEXT, %s INT UNIQUE);", fixture.Quote(text), fixture.Quote("c "+text), fixture.Quote(hostile.Texts()[(i+3)%8]))
		schema += fmt.Sprintf("CREATE TRIGGER %s AFTER INSERT ON %s BEGIN UPDATE vault SET secret = secret || '!' WHERE 0; END;", fixture.Quote("g "+text), fixture.Quote(text))
	}
	checkCalls(t, schema, int64(len(names)), func(db *DB, n int64) {
		name := names[n-1]
		res, err := db.Invoke(ctx, &provider.Request{RequestID: fmt.Sprint("r", n), OperationID: "x", Method: "POST", PathTemplate: "/" + name, Resource: &name,
			Kind: provider.KindCreate, Action: "create", Body: json.RawMessage(`{` + jsonText("c "+name) + `:` + jsonText(name) + `}`)})
		if err != nil {
			t.Fatal(err)
		}
		if !res.OK && res.Error.Code != provider.UnsupportedOperation { // a path with a brace or a slash names no table
			t.Errorf("%q: %s", name, show(res))
		}
	})
}

// The authorizer refuses what no call has a use for, on every connection.
func TestGuard(t *testing.T) {
	db := openSQL(t, attackSQL, nil)
	ctx := context.Background()
	c, err := db.writer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer db.unwrite(c)
	for _, sql := range []string{"ATTACH ':memory:' AS x", "PRAGMA writable_schema=ON", "CREATE TABLE y (a)", "DROP TABLE notes", "ALTER TABLE notes ADD z",
		"SELECT load_extension('x')", "CREATE TEMP TABLE y (a)", "VACUUM INTO '/tmp/never'", "CREATE TRIGGER a AFTER INSERT ON notes BEGIN SELECT 1; END",
		"SELECT fts3_tokenizer('simple')"} {
		if err := c.exec(sql); err == nil || !strings.Contains(err.Error(), "not authorized") && !strings.Contains(err.Error(), "authorization denied") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := c.exec("INSERT INTO notes (title) VALUES ('fine')"); err != nil {
		t.Error(err)
	}
}

// A database whose bytes were changed anywhere gives an error or rows, and the
// program goes on.
func TestHostileFiles(t *testing.T) {
	ctx := context.Background()
	whole, err := os.ReadFile(makeFile(t, attackSQL))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range 60 {
		bad := slices.Clone(whole)
		for j := range 1 + i%5 {
			bad[(i*7919+j*104729+17)%len(bad)] ^= byte(1 + i*31 + j)
		}
		if i%10 == 0 {
			bad = bad[:len(bad)*(i+1)/160]
		}
		path := filepath.Join(dir, fmt.Sprint(i, ".db"))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(ctx, path, nil)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("%v does not name the file", err)
			}
			continue
		}
		for _, query := range []string{"", `q="first"`, `sort="-title"`} {
			_, _ = db.Invoke(ctx, &provider.Request{OperationID: "x.list", Method: "GET", PathTemplate: "/notes", Kind: provider.KindList,
				Action: "list", Page: &provider.Page{Size: 5}, Params: provider.Params{Query: pairs(query)}})
		}
		_, _ = db.Invoke(ctx, &provider.Request{OperationID: "x.create", Method: "POST", PathTemplate: "/notes", Kind: provider.KindCreate,
			Action: "create", Body: json.RawMessage(`{"title":"x"}`)})
		if err := db.Close(ctx); err != nil {
			t.Logf("close: %v", err)
		}
	}
}
