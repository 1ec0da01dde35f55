package seed

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/store/fixture"
)

func load(t *testing.T, path string) *air.Document {
	t.Helper()
	doc, err := air.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// look spells the rows of a query, one a line.
func look(t *testing.T, path, sql string, cols int) string {
	t.Helper()
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out []byte
	err = db.Query(context.Background(), sql, nil, cols, func(vals []fixture.Value) error {
		for i, v := range vals {
			if i > 0 {
				out = append(out, '|')
			}
			out = fixture.AppendLiteral(out, v)
		}
		out = append(out, '\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

const contract = `
service: {id: shop, version: '1', source: {kind: openapi}}
schemas:
  Customer:
    type: object
    properties:
      id: {type: integer}
      name: {type: string}
      email: {type: string, format: email}
      tier: {type: string, enum: [gold, silver]}
      active: {type: boolean}
      created_at: {type: string, format: date-time}
  Order:
    allOf:
      - {type: object, properties: {id: {type: string, example: ord_100}, total: {type: number}}}
      - {type: object, properties: {customer_id: {type: integer}, lines: {type: array, items: {type: object, properties: {sku: {type: string}}}}, placed: {type: [string, 'null'], format: date}}}
operations:
%s`

func operation(id, method, path, action, resource, ref string, params ...string) string {
	kind := "read"
	if method != "get" {
		kind = "mutation"
	}
	op := "- {id: " + id + ", canonicalName: " + strings.ReplaceAll(id, ".", "_") + ", displayName: x, sourceRef: {kind: openapi, path: '" + path + "', method: " + method +
		"}, effect: {kind: " + kind + ", action: " + action + ", resource: " + resource + "}, input: {params: ["
	for _, p := range params {
		op += "{name: " + p + ", in: path, required: true, schema: {type: integer}}, "
	}
	op += "]}, output: {" + ref + "}, idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: " +
		strings.ReplaceAll(id, ".", "_") + "}, skill: {intentExamples: []}, state: approved}\n"
	return op
}

func shop(t *testing.T) *air.Document {
	t.Helper()
	ops := operation("customers.list", "get", "/customers", "list", "customer", "schema: {type: array, items: {$ref: '#/components/schemas/Customer'}}") +
		operation("customers.get", "get", "/customers/{id}", "get", "customer", "schemaRef: Customer", "id") +
		operation("orders.get", "get", "/orders/{order_id}", "get", "order", "schemaRef: Order", "order_id") +
		operation("notes.list", "get", "/customers/{customer_id}/notes", "list", "note",
			"schema: {type: object, properties: {data: {type: array, items: {type: object, properties: {id: {type: integer}, text: {type: string}}}}}}", "customer_id") +
		operation("ping.get", "get", "/ping", "get", "ping", "schema: {type: object, properties: {ok: {type: boolean}}}")
	doc, err := air.Parse("shop.yaml", []byte(strings.Replace(contract, "%s", ops, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestMake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	report, err := Make(context.Background(), path, shop(t), &Options{Rows: 3, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := &Report{Left: []string{"ping"}, Tables: []TableReport{
		{Name: "customer", Rows: 3, Columns: 6, Key: "id"},
		{Name: "note", Rows: 3, Columns: 3, Key: "id", Parents: []string{"customer_id -> customer"}},
		{Name: "order", Rows: 3, Columns: 5, Key: "id", Parents: []string{"customer_id -> customer"}},
	}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	wantSQL := `CREATE TABLE "order" (
  "id" TEXT PRIMARY KEY NOT NULL,
  "total" REAL,
  "customer_id" INTEGER,
  "lines" JSON,
  "placed" DATE,
  FOREIGN KEY ("customer_id") REFERENCES "customer" ("id")
)`
	if got := look(t, path, `SELECT sql FROM sqlite_schema WHERE name = 'order'`, 1); got != string(fixture.AppendLiteral(nil, wantSQL))+"\n" {
		t.Errorf("got %s", got)
	}
	if got, want := look(t, path, `SELECT id, name, email, +created_at FROM customer`, 4), "1|'customer'|'user1@example.com'|'2026-01-01T00:00:00Z'\n"+
		"2|'customer-2'|'user2@example.com'|'2026-01-01T01:00:00Z'\n3|'customer-3'|'user3@example.com'|'2026-01-01T02:00:00Z'\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := look(t, path, `SELECT id, +placed, json_type(lines, '$[0].sku') FROM "order"`, 3), "'ord_100'|'2026-01-01'|'text'\n'ord_101'|'2026-01-02'|'text'\n'ord_102'|'2026-01-03'|'text'\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := look(t, path, "SELECT count(*) FROM pragma_foreign_key_check", 1); got != "0\n" {
		t.Errorf("%s rows refer to nothing", got)
	}
	if got := look(t, path, "SELECT count(*) FROM customer WHERE tier NOT IN ('gold', 'silver') OR active NOT IN (0, 1)", 1); got != "0\n" {
		t.Errorf("%s rows are not as the schema says", got)
	}
}

func TestMakeIsSeeded(t *testing.T) {
	dir := t.TempDir()
	made := func(name string, opts Options) []byte {
		path := filepath.Join(dir, name)
		if _, err := Make(context.Background(), path, shop(t), &opts); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	a, b, c := made("a", Options{Rows: 5, Seed: 1}), made("b", Options{Rows: 5, Seed: 1}), made("c", Options{Rows: 5, Seed: 2})
	if !bytes.Equal(a, b) || bytes.Equal(a, c) {
		t.Errorf("the same seed gives equal bytes: %v; another seed gives other ones: %v", bytes.Equal(a, b), !bytes.Equal(a, c))
	}
	made("more", Options{Rows: 9, Seed: 1})
	for _, q := range []string{`SELECT total, lines FROM "order" ORDER BY id LIMIT 5`, `SELECT tier, text FROM customer, note ORDER BY customer.id, note.id LIMIT 5`} {
		if x, y := look(t, filepath.Join(dir, "a"), q, 2), look(t, filepath.Join(dir, "more"), q, 2); x != y {
			t.Errorf("more rows changed the first ones: %s and %s", x, y)
		}
	}
}

func TestMakeChooses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	report, err := Make(context.Background(), path, shop(t), &Options{Resources: []string{"order"}})
	if err != nil || len(report.Tables) != 2 {
		t.Errorf("an order needs its customer: %+v %v", report, err)
	}
	_, err = Make(context.Background(), path, shop(t), &Options{Mode: fixture.Replace, Resources: []string{"ping"}})
	if err == nil || !strings.Contains(err.Error(), "it has customer, note, order") {
		t.Errorf("got %v", err)
	}
}

// Contracts of real APIs give the tables that their documentation speaks of.
func TestRealContracts(t *testing.T) {
	tests := []struct {
		name  string
		keys  map[string]string // table to key column
		links []string          // "table.column -> parent"
	}{
		{"slack", map[string]string{"user": "id", "conversation": "id", "team": "id", "usergroup": "id", "file": "id", "reminder": "id"}, []string{"user.team_id -> team"}},
		{"asana", map[string]string{"task": "gid", "project": "gid", "section": "gid", "user": "gid", "workspace": "gid", "tag": "gid", "story": "gid"},
			[]string{"custom_field_setting.project_gid -> project"}},
		{"petstore", map[string]string{"pet": "id", "order": "id", "user": "id"}, []string{"order.petId -> pet"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			report, err := Make(context.Background(), path, load(t, "testdata/"+tt.name+".air.yaml.gz"), &Options{Rows: 12})
			if err != nil {
				t.Fatal(err)
			}
			found, links := map[string]string{}, map[string]bool{}
			for _, x := range report.Tables {
				found[x.Name] = x.Key
				for _, p := range x.Parents {
					links[x.Name+"."+p] = true
				}
				if got := look(t, path, "SELECT count(*) FROM "+fixture.Quote(x.Name), 1); got != "12\n" {
					t.Errorf("%s has %s rows", x.Name, got)
				}
			}
			for table, key := range tt.keys {
				if found[table] != key {
					t.Errorf("%s has key %q, want %q", table, found[table], key)
				}
			}
			for _, l := range tt.links {
				if !links[l] {
					t.Errorf("no %s in %v", l, links)
				}
			}
			if got := look(t, path, "SELECT count(*) FROM pragma_foreign_key_check", 1); got != "0\n" {
				t.Errorf("%s rows refer to nothing", got)
			}
		})
	}
}
