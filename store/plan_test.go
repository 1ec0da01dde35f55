package store

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

// An answer says how SQLite found its rows, also where that depends on the values,
// and whichever values came first.
func TestPlan(t *testing.T) {
	const sql = `CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT, name TEXT COLLATE NOCASE, at TEXT);
CREATE INDEX by_name ON jobs (name);
CREATE INDEX open_at ON jobs (at) WHERE state = 'open';
CREATE TABLE steps (job_id INTEGER REFERENCES jobs (id), no INTEGER, PRIMARY KEY (job_id, no)) WITHOUT ROWID;
INSERT INTO jobs VALUES (1, 'open', 'a', '1'), (2, 'done', 'b', '2');`
	db := openSQL(t, sql, nil)
	for _, c := range []struct {
		path, query string
		want        []string
	}{
		{"/jobs", "", []string{"SCAN jobs"}},
		{"/jobs", `name="a"`, []string{"SEARCH jobs USING INDEX by_name (name=?)"}},
		{"/jobs", `name_prefix="a"`, []string{"SEARCH jobs USING INDEX by_name (name>? AND name<?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"/jobs", `name_like="%a"`, []string{"SCAN jobs"}},
		{"/jobs", `state="done"&at="1"`, []string{"SCAN jobs"}},
		{"/jobs", `state="open"&at="1"`, []string{"SEARCH jobs USING INDEX open_at (at=?)"}},
		{"/steps", `job_id=1`, []string{"SEARCH steps USING PRIMARY KEY (job_id=?)"}},
	} {
		for range 2 {
			res, err := db.Invoke(context.Background(), &provider.Request{RequestID: "r1", OperationID: c.path, Method: "GET", PathTemplate: c.path,
				Kind: provider.KindList, Action: "list", Page: &provider.Page{Size: 5}, Params: provider.Params{Query: pairs(c.query)}})
			if err != nil {
				t.Fatal(err)
			}
			var meta struct{ Plan []string }
			if err := json.Unmarshal(res.Meta, &meta); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(meta.Plan, c.want) {
				t.Errorf("%s?%s: got %q, want %q", c.path, c.query, meta.Plan, c.want)
			}
		}
	}
}
