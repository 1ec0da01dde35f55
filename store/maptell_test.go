package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
)

// What of a map the contract has no use for is told, and not passed over.
func TestMapTells(t *testing.T) {
	m, err := ParseMap("m.yaml", []byte(`operations:
  desk.tickets.get: {table: tickets, key: {nrr: nr}}
  "GET /ticket": {sql: SELECT 1}
  desk.tickets.list: {table: tickets, filters: {stat: state, slug: slug}}
  "DELETE /tickets/{nr}": {sql: "DELETE FROM tickets WHERE nr = :path.nr AND state = :query.sta AND slug = :path.slug"}`))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	opts := &Options{Map: m, Name: "desk", Logf: func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }}
	db := openSQL(t, helpdeskSQL, opts)
	text, err := db.Contract()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := air.Parse("desk", text)
	if err != nil {
		t.Fatal(err)
	}
	const from = "map m.yaml: operations."
	want := []string{
		from + `DELETE /tickets/{nr}: :path.slug: /tickets/{nr} has no such path parameter`,
		from + `GET /ticket: the contract has no such operation; did you mean "GET /tickets"?`,
		from + `desk.tickets.get: key.nrr: /tickets/{nr} has no such path parameter; did you mean "nr"?`,
	}
	if _, err := db.Initialize(context.Background(), &provider.InitializeParams{}); err != nil || !slices.Equal(told, want) {
		t.Errorf("without a contract %q, %v\nwant %q", told, err, want)
	}
	told = nil
	opts.Contract = doc
	if _, err := openSQL(t, helpdeskSQL, opts).Inspect(); err != nil {
		t.Fatal(err)
	}
	want = slices.Insert(want, 0, from+`DELETE /tickets/{nr}: :query.sta: the operation has no such parameter`)
	want = append(want, from+`desk.tickets.list: filters.stat: the operation has no such parameter; did you mean "state"?`)
	if !slices.Equal(told, want) {
		t.Errorf("with a contract\n got %q\nwant %q", told, want)
	}
}
