package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

const jqlSQL = `
CREATE TABLE project (id INTEGER PRIMARY KEY, key TEXT UNIQUE, name TEXT);
CREATE TABLE user (account_id TEXT PRIMARY KEY, display_name TEXT);
CREATE TABLE issue (id INTEGER PRIMARY KEY, key TEXT UNIQUE, project_id INTEGER REFERENCES project (id), summary TEXT, status TEXT,
  priority INTEGER, labels JSON, assignee_id TEXT REFERENCES user (account_id), created_at DATETIME);
INSERT INTO project VALUES (1, 'ENG', 'Engine'), (2, 'OPS', 'Works');
INSERT INTO user VALUES ('a1', 'Mona'), ('a2', 'Eve');
INSERT INTO issue VALUES
  (1, 'ENG-1', 1, 'It fails', 'Open', 3, '["bug"]', 'a1', '2026-01-01T10:00:00Z'),
  (2, 'ENG-2', 1, 'It is slow', 'In Progress', 2, '["bug","ui"]', NULL, '2026-01-03T10:00:00Z'),
  (3, 'OPS-1', 2, 'A "quoted" word', NULL, 1, '[]', 'a2', '2026-01-05T10:00:00Z'),
  (4, 'ENG-3', 1, 'order by hand', 'Done', NULL, NULL, 'a2', '2026-01-07T10:00:00Z');`

func jql(t *testing.T, db *DB, query string) (ids, ignored string, res *provider.Response) {
	t.Helper()
	req := &provider.Request{RequestID: "r1", OperationID: "x", Method: "GET", PathTemplate: "/issues", Kind: "list", Action: "list", Page: &provider.Page{Size: 50},
		Params: provider.Params{Query: provider.Object{{Name: "jql", Value: quoteText(query)}}}}
	res, err := db.Invoke(context.Background(), req)
	if err != nil {
		t.Fatal(query, err)
	}
	var list []string
	for _, item := range res.Items {
		var row struct{ ID int }
		if err := json.Unmarshal(item, &row); err != nil {
			t.Fatal(err)
		}
		list = append(list, strconv.Itoa(row.ID))
	}
	var meta struct{ Ignored []string }
	if res.Meta != nil {
		if err := json.Unmarshal(res.Meta, &meta); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(list, " "), strings.Join(meta.Ignored, "; "), res
}

func TestJQL(t *testing.T) {
	db := openSQL(t, jqlSQL, nil)
	for _, c := range []struct{ query, ids, ignored string }{
		{`project = ENG`, "1 2 4", ""},
		{`project = Works or project = 1 order by key desc`, "3 4 2 1", ""},
		{`project in (ENG, OPS) AND status in ("In Progress", Open) ORDER BY created DESC`, "2 1", ""},
		{`status != Done`, "1 2", ""},
		{`status not in (Done, Open)`, "2", ""},
		{`status is EMPTY or assignee is empty`, "2 3", ""},
		{`assignee = Mona && status is not null`, "1", ""},
		{`labels = bug and not labels in (ui)`, "1", ""},
		{`priority >= 2 and priority < 3`, "2", ""},
		{`created > 2026-01-02 and created <= "2026-01-05T10:00:00Z"`, "2 3", ""},
		{`summary ~ "fail*" or summary !~ It`, "1 3 4", ""},
		{`summary ~ '"quoted"' and summary ~ "\"quoted\""`, "3", ""},
		{`text ~ slow`, "2", ""},
		{`key = ENG-3 or issuekey in (OPS-1)`, "3 4", ""},
		{`(project = ENG or (status is empty)) and id > 1`, "2 3 4", ""},
		{`order by priority, id desc`, "4 3 2 1", ""},
		{`ORDER BY rank ASC, created desc`, "4 3 2 1", "jql at character 10: order by rank"},
		{``, "1 2 3 4", ""},
		{`project = ENG and sprint in openSprints()`, "1 2 4", "jql at character 19: sprint"},
		{`project = ENG and (sprint = 4 or status = Done)`, "1 2 4", "jql at character 20: sprint"},
		{`project = ENG and not (sprint = 4 and status = Done)`, "1 2 4", "jql at character 24: sprint"},
		{`status was "Open" by currentUser() and project = OPS`, "3", "jql at character 1: status was"},
		{`assignee = currentUser()`, "1 2 3 4", "jql at character 1: assignee"},
	} {
		ids, ignored, res := jql(t, db, c.query)
		if ids != c.ids || ignored != c.ignored || !res.OK {
			t.Errorf("%s\n got %s, ignored %q: %s\nwant %s, ignored %q", c.query, ids, ignored, show(res), c.ids, c.ignored)
		}
	}
}

// What is written wrong is refused with its place; strict refuses what no column takes.
func TestJQLRefusals(t *testing.T) {
	strict := openSQL(t, jqlSQL, &Options{Strict: true})
	for query, want := range map[string]string{
		`project ENG`:                           `at character 9: found "ENG", want =, !=`,
		`project =`:                             `at character 10: found the end, want a value`,
		`project = ENG status = x`:              `at character 15: found "status", want and, or, order by, or the end`,
		`(project = ENG`:                        `at character 15: found the end, want )`,
		`project = "ENG`:                        `want a closing quote`,
		`status in ()`:                          `at character 12: found ")", want a value`,
		`status in (a b)`:                       `at character 14: found "b", want , or )`,
		`status not = a`:                        `want in`,
		`= 1`:                                   `found "=", want a field`,
		`status = a order key`:                  `found "key", want by`,
		`status = a order by`:                   `want a field`,
		`status = f(`:                           `found the end, want )`,
		`status = ' OR 1=1 --`:                  `want a closing quote`,
		`status = a; DROP TABLE issue`:          `found "DROP", want and`,
		strings.Repeat("(", 100):                `nested deeper than 64`,
		strings.Repeat("id = 1 or ", 600):       `more than 500 comparisons`,
		`project = ENG and sprint = 4`:          `no column for the parameter "jql at character 19: sprint"`,
		`order by ` + strings.Repeat("id,", 40): `sorts by more than 32`,
	} {
		_, _, res := jql(t, strict, query)
		if got := show(res); !strings.HasPrefix(got, "validation_error: ") || !strings.Contains(got, want) {
			t.Errorf("%.60s\n got %s\nwant %s", query, got, want)
		}
	}
}

// No text makes a query that panics, hangs or breaks the SQL around it.
func FuzzJQL(f *testing.F) {
	db := openSQL(f, jqlSQL, nil)
	for _, seed := range []string{`project = ENG and status in ("a", b) order by created desc, id`, `not (a = 1 || b ~ "x*") && c is not empty`, `x was in (a) and`, `"a b" = f(1, 2)`, `!`, `order by`, `a in`, `'`} {
		f.Add(seed)
	}
	codes := []provider.Code{provider.ValidationError}
	f.Fuzz(func(t *testing.T, query string) {
		req := &provider.Request{RequestID: "r1", OperationID: "x", Method: "GET", PathTemplate: "/issues", Kind: "list", Action: "list", Page: &provider.Page{Size: 50},
			Params: provider.Params{Query: provider.Object{{Name: "jql", Value: quoteText(query)}}}}
		res, err := db.Invoke(context.Background(), req)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		if !res.OK && !slices.Contains(codes, res.Error.Code) {
			t.Fatalf("%q: %s", query, show(res))
		}
	})
}
