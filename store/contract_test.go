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
