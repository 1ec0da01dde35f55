package store

import (
	"os"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
)

const demoDir = "../cmd/anvil-sim/demo/"

// openDemo opens the demo's fixture with the demo's contract.
func openDemo(tb testing.TB) (*DB, *air.Document) {
	tb.Helper()
	doc, err := air.Load(demoDir + "air.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	sql, err := os.ReadFile(demoDir + "fixtures.sql")
	if err != nil {
		tb.Fatal(err)
	}
	return openSQL(tb, string(sql), &Options{Contract: doc}), doc
}

// operation is what `initialize` says of an operation.
func operation(o *air.Operation) provider.Operation {
	op := provider.Operation{OperationID: o.ID, ToolName: o.ToolName, Kind: provider.Kind(o.Kind()), Action: o.Action,
		Method: upper(o.Method), PathTemplate: o.Path, Paged: o.Paged()}
	if o.Resource != "" {
		op.Resource = &o.Resource
	}
	return op
}

func upper(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] -= 'a' - 'A'
	}
	return string(b)
}

// demoCall asks the demo an operation of its contract.
func demoCall(tb testing.TB, doc *air.Document, id string, c call) call {
	tb.Helper()
	for _, o := range doc.Operations {
		if o.ID == id {
			op := operation(o)
			c.op = &provider.Request{RequestID: "r7", OperationID: op.OperationID, Kind: op.Kind, Action: op.Action,
				Resource: op.Resource, Method: op.Method, PathTemplate: op.PathTemplate}
			return c
		}
	}
	tb.Fatalf("no operation %s", id)
	return c
}

func TestDemoMapsWhole(t *testing.T) {
	db, doc := openDemo(t)
	tables := map[string]string{"ticket": "tickets", "comment": "comments", "user": "users"}
	served, err := doc.Served("")
	if err != nil || len(served) != 9 {
		t.Fatalf("%d operations served (%v)", len(served), err)
	}
	for _, o := range served {
		op := operation(o)
		g := db.target(&op)
		if g.reason != "" {
			t.Errorf("%s: %s", o.ID, g.reason)
			continue
		}
		if g.table.name != tables[o.Resource] || len(g.ignored) > 0 {
			t.Errorf("%s is mapped to %s, ignoring %v", o.ID, g.table.name, g.ignored)
		}
		for _, p := range o.Params {
			if p.In == "query" && !g.pages(p.Name) && g.queryColumn(p.Name) == nil {
				t.Errorf("%s: no column for the filter %s", o.ID, p.Name)
			}
		}
		if o.Body != nil {
			for _, f := range o.Body.Fields {
				if g.table.named(normal(f.Name)) == nil {
					t.Errorf("%s: no column for the field %s", o.ID, f.Name)
				}
			}
		}
	}
}

func TestDemoAnswers(t *testing.T) {
	db, doc := openDemo(t)
	ask := func(id string, c call, text string) {
		t.Helper()
		want(t, db, demoCall(t, doc, "helpdesk."+id, c), text)
	}
	ask("tickets.list", call{query: `status="open"&priority="urgent"&limit=1`, size: 1},
		`1 of 2 more {"id":5,"subject":"Webhook deliveries stopped on Sunday","description":"Last delivery 2025-11-02T03:12Z, no errors on our side.","status":"open","priority":"urgent","requester_id":7,"assignee_id":3,"created_at":"2025-11-05T01:03:00Z","updated_at":"2025-11-06T11:48:00Z"}`)
	ask("tickets.get", call{path: "ticket_id=99"}, `not_found: no tickets with "id" 99`)
	ask("comments.list", call{path: "ticket_id=2", size: 1},
		`1 of 3 more {"id":3,"ticket_id":2,"author_id":3,"body":"I have sent a new link to the new address.","is_public":true,"created_at":"2025-11-03T11:15:00Z"}`)
	ask("comments.list", call{path: "ticket_id=3", size: 1}, `0 of 0 `)
	ask("comments.list", call{path: "ticket_id=99", size: 1}, `not_found: no tickets with "id" 99`)
	ask("tickets.create", call{body: `{"subject":"Hello","requester_id":5}`},
		`{"id":21,"subject":"Hello","description":"","status":"open","priority":"normal","requester_id":5,"assignee_id":null,"created_at":"2026-01-01T00:00:07Z","updated_at":"2026-01-01T00:00:07Z"}`)
	ask("tickets.update", call{path: "ticket_id=10", body: `{"assignee_id":null}`},
		`{"id":10,"subject":"Please delete my test workspace","description":"Workspace \"sandbox-2\".","status":"closed","priority":"low","requester_id":7,"assignee_id":null,"created_at":"2025-11-10T11:00:00Z","updated_at":"2026-01-01T00:00:07Z"}`)
	ask("tickets.create", call{body: `{"subject":"Hello","requester_id":77}`}, `validation_error: "requester_id" of tickets: there is no users with "id" 77`)
	ask("comments.create", call{path: "ticket_id=1", body: `{"author_id":2,"body":"On it.","is_public":false}`},
		`{"id":20,"ticket_id":1,"author_id":2,"body":"On it.","is_public":false,"created_at":"2026-01-01T00:00:07Z"}`)
	ask("comments.create", call{path: "ticket_id=99", body: `{"author_id":2,"body":"On it."}`}, `not_found: no tickets with "id" 99`)
	ask("tickets.delete", call{path: "ticket_id=1"}, `null`)
	ask("tickets.delete", call{path: "ticket_id=1"}, `not_found: no tickets with "id" 1`)
	ask("comments.list", call{path: "ticket_id=1", size: 1}, `not_found: no tickets with "id" 1`)
	ask("users.get", call{path: "user_id=3"}, `{"id":3,"name":"Priya Raman","email":"priya@helpdesk.example","role":"agent"}`)
}
