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
