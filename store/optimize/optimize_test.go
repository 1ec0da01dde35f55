package optimize

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/store"
	"github.com/anvil-sim/anvil/store/compare"
	"github.com/anvil-sim/anvil/store/fixture"
)

const contract = `
service: {id: s, version: '1', source: {kind: openapi}}
operations:
- {id: tasks.list, canonicalName: list_tasks, displayName: x, sourceRef: {kind: openapi, path: '/tasks', method: get}, effect: {kind: read, action: list, resource: task},
   input: {params: [{name: status, in: query}, {name: sort, in: query}, {name: done, in: query}, {name: squad, in: query}, {name: X-Team, in: header}]}, output: {},
   idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: list_tasks}, skill: {intentExamples: []}, state: approved}
`

const overrides = `
version: 1
operations:
  "GET /tasks":
    table: tasks
    filters: {squad: team, status: status}
`

func plan(t *testing.T, path string, opts *store.Options, minRows int) []Index {
	t.Helper()
	served, err := store.Open(context.Background(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := served.Inspect()
	if err := errors.Join(err, served.Close(context.Background())); err != nil {
		t.Fatal(err)
	}
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := Plan(context.Background(), db, operations, minRows)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func sum(t *testing.T, path string) string {
	t.Helper()
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d, err := compare.Sum(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return d.Sum
}

func TestOptimize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	err := fixture.Build(context.Background(), path, fixture.New, func(db *fixture.DB) error {
		return db.Exec(`CREATE TABLE users (id INTEGER PRIMARY KEY);
			CREATE TABLE tasks (id INTEGER PRIMARY KEY, user_id INT REFERENCES users, Status TEXT, done BOOLEAN, created_at DATETIME, team TEXT, boss INT REFERENCES users);
			CREATE INDEX anvil_tasks_user_id ON tasks(id); CREATE INDEX b ON tasks(boss, id); INSERT INTO tasks(id) VALUES (1), (2)`)
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := air.Parse("c.yaml", []byte(contract))
	if err != nil {
		t.Fatal(err)
	}
	want := []Index{
		{"tasks", "user_id", "foreign key to users"},
		{"tasks", "Status", "GET /tasks asks by it"},
		{"tasks", "created_at", "GET /tasks sorts by it"},
	}
	found := plan(t, path, &store.Options{Contract: doc}, 2)
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if few := plan(t, path, &store.Options{Contract: doc}, 3); len(few) > 0 {
		t.Errorf("a small table gets %v", few)
	}
	m, err := store.ParseMap("map.yaml", []byte(overrides))
	if err != nil {
		t.Fatal(err)
	}
	want = slices.Insert(want, 2, Index{"tasks", "team", "GET /tasks asks by it"})
	if diff := cmp.Diff(want, plan(t, path, &store.Options{Contract: doc, Map: m}, 2)); diff != "" {
		t.Error("with a map:", diff)
	}
	before := sum(t, path)
	if err := Apply(context.Background(), path, found); err != nil {
		t.Fatal(err)
	}
	if after := sum(t, path); after != before {
		t.Error("the digest changed")
	}
	if again := plan(t, path, &store.Options{Contract: doc}, 0); len(again) > 0 {
		t.Errorf("still missing: %v", again)
	}
}
