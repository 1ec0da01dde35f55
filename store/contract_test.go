package store

import (
	"bytes"
	"testing"

	"github.com/anvil-sim/anvil/air"
)

// load checks that a derived contract is a contract.
func load(tb testing.TB, db *DB) *air.Document {
	tb.Helper()
	text, err := db.Contract()
	if err != nil {
		tb.Fatal(err)
	}
	doc, err := air.Parse("derived.json", text)
	if err != nil {
		tb.Fatalf("the derived contract is no contract: %v\n%s", err, text)
	}
	return doc
}

func TestDerivedContractLoads(t *testing.T) {
	db := openFile(t, chinook, nil)
	doc := load(t, db)
	if doc.Service.ID != "chinook" {
		t.Errorf("service id %q", doc.Service.ID)
	}
	if n := len(doc.Operations); n != 11*6 {
		t.Errorf("%d operations, want %d", n, 11*6)
	}
	served, err := doc.Served("")
	if err != nil || len(served) != len(doc.Operations) {
		t.Errorf("%d operations are served (%v)", len(served), err)
	}
	kinds := map[string]string{"list": "list", "get": "read", "create": "create", "update": "update", "replace": "update", "delete": "delete"}
	for _, o := range doc.Operations {
		if want := kinds[o.Action]; o.Kind() != want {
			t.Errorf("%s has kind %s, want %s", o.ID, o.Kind(), want)
		}
		if o.Paged() != (o.Action == "list") {
			t.Errorf("%s: paged %v", o.ID, o.Paged())
		}
		if doc.Response(o) == nil && o.Action != "delete" {
			t.Errorf("%s declares no response", o.ID)
		}
	}
	again := openFile(t, chinook, nil)
	a, _ := db.Contract()
	b, _ := again.Contract()
	if !bytes.Equal(a, b) {
		t.Error("two derivations differ")
	}
}

// OData's options are declared, or they would not reach the store, whatever columns are called.
func TestDerivedContractDeclaresOData(t *testing.T) {
	db := openSQL(t, `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, "count" INTEGER, "select" TEXT, odata_filter TEXT, order_by TEXT);
INSERT INTO items VALUES (1, 'a', 5, 's', 'f', 'o'), (2, 'b', 6, 's', 'f', 'o');`, nil)
	doc := load(t, db)
	found := map[string]bool{}
	for _, p := range doc.Operations[0].Params {
		found[p.Name] = true
	}
	for _, name := range []string{"$filter", "$orderby", "$select", "$count", "$search", "name", "count", "select", "odata_filter"} {
		if !found[name] {
			t.Errorf("%s is not declared: %v", name, found)
		}
	}
	want(t, db, call{id: "items.list", query: `$orderby="name desc"&$select="name"&$count=true&$search="b"`, size: 9}, `1 of 1 {"name":"b"}`)
}
