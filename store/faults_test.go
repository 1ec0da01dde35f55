package store

import (
	"fmt"
	"strings"
	"testing"
)

const faulted = `
CREATE TABLE projects (id INTEGER PRIMARY KEY, key TEXT UNIQUE);
CREATE TABLE tasks (id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects (id), title TEXT NOT NULL, points INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'open',
  code TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL, updated_at DATETIME NOT NULL);
CREATE TABLE loose (id INTEGER PRIMARY KEY, title TEXT NOT NULL, extras JSON NOT NULL, done BOOLEAN NOT NULL);
INSERT INTO projects VALUES (1, 'ENG');
INSERT INTO tasks VALUES (1, 1, 'a', 3, 'open', 'T-1', '2025-01-01T00:00:00Z', '2025-01-01T00:00:00Z');
`

// All faults of a body are told in one answer: its fields in its order, then the columns
// that certainly lack a value, in the table's order. What the store may still give is not
// among them.
func TestBodyFaults(t *testing.T) {
	db := openSQL(t, faulted, nil)
	many := ""
	for n := range 30 {
		many += fmt.Sprintf(`"f%d":1,`, n)
	}
	for _, c := range []struct{ id, path, body, want string }{
		{"tasks.create", "", `{"tittle":"x","project_id":1,"points":1}`, `tasks has no column "tittle"; did you mean "title"?; "title" must have a value in tasks`},
		{"tasks.create", "", `{"point":1,"tittle":"x"}`, `tasks has no column "point"; did you mean "points"?; tasks has no column "tittle"; did you mean "title"?; "project_id", "title", "points" must have a value in tasks`},
		{"tasks.create", "", `{"points":"many","nope":1,"title":"x","project":{"key":"ENG"}}`, `"points" of tasks wants an integer, got the string "many"; tasks has no column "nope"; its columns are id, project_id, title, points, state, code, created_at, updated_at`},
		{"tasks.create", "", `{"title":null,"points":null,"nope":1,"project":1}`, `tasks has no column "nope"; its columns are id, project_id, title, points, state, code, created_at, updated_at; "title", "points" must have a value in tasks`},
		{"tasks.create", "", `{"title":null,"points":null,"project":1}`, `"title", "points" must have a value in tasks`},
		{"tasks.create", "", `{"title":"x","titel":1,"Title":"y"}`, `tasks has no column "titel"; did you mean "title"?; "title" of tasks is given twice, in two spellings; "project_id", "points" must have a value in tasks`},
		{"tasks.update", "id=1", `{"titel":"x","points":null}`, `tasks has no column "titel"; did you mean "title"?; "points" must have a value in tasks`},
		{"tasks.update", "id=1", `{"title":null,"points":null}`, `"title", "points" must have a value in tasks`},
		{"tasks.update", "id=1", `{"titel":"x"}`, `tasks has no column "titel"; did you mean "title"?`},
		{"tasks.replace", "id=1", `{"titel":"x","project_id":1,"points":1}`, `tasks has no column "titel"; did you mean "title"?; "title", "code" must have a value in tasks`},
		{"loose.create", "", `{"more":1,"done":"maybe"}`, `"done" of loose wants a boolean, got the string "maybe"; "title" must have a value in loose`},
		{"tasks.create", "", `{` + many + `"title":"x"}`, `and 11 more`},
	} {
		got := show(call{id: c.id, path: c.path, body: c.body}.do(t, db))
		if want := "validation_error: " + c.want; got != want && !strings.HasSuffix(got, "; "+c.want) {
			t.Errorf("%s %s\n got %s\nwant %s", c.id, c.body, got, want)
		}
	}
}

// When a row was made stays as it is, so a replacement need not say it.
func TestReplaceKeepsCreation(t *testing.T) {
	db := openSQL(t, faulted, nil)
	want(t, db, call{id: "tasks.replace", path: "id=1", body: `{"title":"b","project_id":1,"points":1,"code":"T-1"}`, n: 5},
		`{"id":1,"project_id":1,"title":"b","points":1,"state":"open","code":"T-1","created_at":"2025-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:05Z"}`)
}

const nested = `
CREATE TABLE teams (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE people (id INTEGER PRIMARY KEY, login TEXT UNIQUE, name TEXT, team_id INTEGER REFERENCES teams (id));
CREATE TABLE tasks (id INTEGER PRIMARY KEY, assignee_id INTEGER REFERENCES people (id), size_width INTEGER, size_height INTEGER);
CREATE TABLE notes (id INTEGER PRIMARY KEY, assignee_id INTEGER REFERENCES people (id), extras JSON);
INSERT INTO people VALUES (1, 'bob', 'Bob', NULL), (2, 'eve', 'Eve', NULL);
INSERT INTO tasks VALUES (1, 2, 3, 4);
`

// A field of an object counts as one of the body does: written, told as not written, kept in
// the extras, or a fault. None is dropped without a word.
func TestNestedFields(t *testing.T) {
	db := openSQL(t, nested, nil)
	for _, c := range []struct{ id, path, body, want string }{
		{"tasks.create", "", `{"assignee":{"id":1,"nmae":"x"}}`, `validation_error: tasks has no column "assignee.nmae"; did you mean "assignee.name"?`},
		{"tasks.update", "id=1", `{"assignee":{"logn":"x","id":1},"size":{"width":1,"hieght":2}}`,
			`validation_error: tasks has no column "assignee.logn"; did you mean "assignee.login"?; tasks has no column "size.hieght"; did you mean "size_height"?`},
		{"tasks.update", "id=1", `{"assignee":{"id":1,"login":{"a":1}}}`, `validation_error: parameter "assignee.login" wants a plain value, got an object`},
		{"tasks.update", "id=1", `{"assignee":{"nope":1}}`, `validation_error: "assignee_id" of tasks wants an integer, got an object`},
		// What an answer showed may come back: the other columns of the parent, and its own parents.
		{"tasks.update", "id=1", `{"assignee":{"id":1,"name":"Bob","login":null,"team":{"id":7}}}`, `{"id":1,"assignee_id":1,"size_width":3,"size_height":4}`},
		{"notes.create", "", `{"assignee":{"login":"bob","nmae":"x"},"more":1}`, `{"id":1,"assignee_id":1,"extras":{"assignee":{"nmae":"x"},"more":1}}`},
	} {
		if got := show(call{id: c.id, path: c.path, body: c.body}.do(t, db)); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.id, c.body, got, c.want)
		}
	}
	res := call{id: "tasks.update", path: "id=1", body: `{"assignee":{"id":1,"name":"Bob"}}`}.do(t, db)
	if !strings.Contains(string(res.Meta), `"ignored":["assignee.name"]`) {
		t.Errorf("meta %s", res.Meta)
	}
}
