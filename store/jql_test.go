package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

const jqlSQL = `
CREATE TABLE project (id INTEGER PRIMARY KEY, key TEXT UNIQUE, name TEXT);
CREATE TABLE user (account_id TEXT PRIMARY KEY, display_name TEXT);
CREATE TABLE issue (id INTEGER PRIMARY KEY, key TEXT UNIQUE, project_id INTEGER REFERENCES project (id), summary TEXT, status TEXT,
  priority INTEGER, labels JSON, assignee_id TEXT REFERENCES user (account_id), created_at DATETIME, due DATE);
INSERT INTO project VALUES (1, 'ENG', 'Engine'), (2, 'OPS', 'Works');
INSERT INTO user VALUES ('a1', 'Mona'), ('a2', 'Eve');
INSERT INTO issue VALUES
  (1, 'ENG-1', 1, 'It fails', 'Open', 3, '["bug"]', 'a1', '2026-01-01T10:00:00Z', '2026-01-02'),
  (2, 'ENG-2', 1, 'It is slow', 'In Progress', 2, '["bug","ui"]', NULL, '2026-01-03T10:00:00Z', '2026-01-09'),
  (3, 'OPS-1', 2, 'A "quoted" word', NULL, 1, '[]', 'a2', '2026-01-05T10:00:00Z', '2026-01-08'),
  (4, 'ENG-3', 1, 'order by hand', 'Done', NULL, NULL, 'a2', '2026-01-07T10:00:00Z', NULL);`

func jql(t *testing.T, db *DB, query string) (ids, ignored string, res *provider.Response) {
	t.Helper()
	req := &provider.Request{RequestID: "r1", OperationID: "x", Method: "GET", PathTemplate: "/issues", Kind: "list", Action: "list", Page: &provider.Page{Size: 50},
		Principal: &provider.Principal{ID: "Eve"}, Params: provider.Params{Query: provider.Object{{Name: "jql", Value: quoteText(query)}}}}
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
	db := openSQL(t, jqlSQL, &Options{Now: time.Date(2026, 1, 8, 12, 0, 0, 0, time.UTC)})
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
		{`sprint was "Open" by currentUser() and project = OPS`, "3", "jql at character 1: sprint was"},
		{`élan = 1 and rank = 2`, "1 2 3 4", "jql at character 1: élan; jql at character 14: rank"},
		{`labels is EMPTY`, "3 4", ""},
		{`labels is not EMPTY and status is not empty`, "1 2", ""},
		{`labels in (ui, EMPTY)`, "2 3 4", ""},
		{`assignee in (EMPTY, Mona)`, "1 2", ""},
		{`assignee not in (EMPTY, Mona)`, "3 4", ""},
		{`priority = null`, "4", ""},
		{`summary is EMPTY`, "", ""},
		{`assignee = currentUser()`, "3 4", ""},
		{`assignee in (currentUser(), a1) and project = ENG`, "1 4", ""},
		{`assignee != currentUser()`, "1", ""},
		{`created >= -7d`, "2 3 4", ""}, // now is 2026-01-08T12:00:01Z
		{`created >= "-5d"`, "3 4", ""},
		{`created >= "-5d 3h"`, "2 3 4", ""},
		{`created < -1w`, "1", ""},
		{`created > "-1585"`, "4", ""}, // minutes
		{`created > startOfDay("-1")`, "4", ""},
		{`created > startOfDay(-1)`, "4", ""},
		{`created >= startOfWeek()`, "3 4", ""}, // the 4th is a Sunday
		{`created >= STARTOFWEEK("+1d")`, "3 4", ""},
		{`created < startOfMonth() or created > endOfMonth("-1")`, "1 2 3 4", ""},
		{`created <= now() and created >= startOfYear("+4d")`, "3 4", ""},
		{`created >= 2026/01/05 and created < "2026/01/07 10:00"`, "3", ""},
		{`created > 1767600000000`, "3 4", ""}, // milliseconds
		{`created in ("2026-01-05 10:00", startOfDay())`, "3", ""},
		{`due < now()`, "1 3", ""}, // days: today began before now
		{`due >= now()`, "2", ""},
		{`due > -1d and due <= startOfDay()`, "3", ""},
		{`due is empty`, "4", ""},
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
		`assignee = curentUser()`:               `at character 12: found "curentUser", which is no function; did you mean currentUser()?`,
		`assignee in membersOf("x")`:            `at character 13: found "membersOf", which is no function that the rows can answer; want now(), `,
		`status was Open`:                       `at character 8: found "was", which asks for the history of "status"`,
		`key = é and priority changed`:          `at character 22: found "changed", which asks for the history of "priority"`,
		`created > startOfDay(1x)`:              `at character 22: found "1x", want a length such as -1`,
		`created > startOfDay(1, 2)`:            `at character 25: found "2", too many arguments of startOfDay()`,
		`created > now("-1d")`:                  `at character 15: found "-1d", too many arguments of now()`,
		`created > yesterday`:                   `at character 11: found "yesterday", want a time such as 2026-01-31`,
		`created > -7x`:                         `at character 11: found "-7x", want a time`,
		`created > 900000y`:                     `at character 11: found "900000y", which is a time beyond the years`,
		`created > empty`:                       `at character 11: found "empty", which can only be compared with =`,
		`assignee ~ currentUser()`:              `at character 12: found "currentUser", which can only be compared with =`,
		`summary ~ now()`:                       `at character 11: found "now", want a text`,
		`priority < now()`:                      `at character 12: found "now", but "priority" of issue holds no times`,
		`status is Open`:                        `at character 11: found "Open", want EMPTY or NULL`,
		`status in Open`:                        `at character 11: found "Open", want ( or a function`,
		`project = ENG and sprint = 4`:          `no column for the parameter "jql at character 19: sprint"`,
		`order by ` + strings.Repeat("id,", 40): `sorts by more than 32`,
	} {
		_, _, res := jql(t, strict, query)
		if got := show(res); !strings.HasPrefix(got, "validation_error: ") || !strings.Contains(got, want) {
			t.Errorf("%.60s\n got %s\nwant %s", query, got, want)
		}
	}
}

// The edges of periods, as Jira's documentation has them: the last millisecond is in.
func TestJQLTimes(t *testing.T) {
	db := openSQL(t, jqlSQL, &Options{Now: time.Date(2024, 3, 31, 23, 59, 58, 0, time.UTC)})
	r := &reading{db: db, req: &provider.Request{RequestID: "r1"}}
	col := db.schema.table("issue").col("created_at")
	for text, want := range map[string]string{
		`now()`:                "2024-03-31T23:59:59.000Z",
		`startOfDay()`:         "2024-03-31T00:00:00.000Z",
		`endOfDay("-1")`:       "2024-03-30T23:59:59.999Z",
		`startOfDay(-2h)`:      "2024-03-30T22:00:00.000Z",
		`startOfWeek()`:        "2024-03-31T00:00:00.000Z",
		`endOfWeek("-1w")`:     "2024-03-30T23:59:59.999Z",
		`endOfMonth("-1")`:     "2024-02-29T23:59:59.999Z",
		`endOfMonth("+15d")`:   "2024-04-15T23:59:59.999Z",
		`startOfMonth("+14d")`: "2024-03-15T00:00:00.000Z",
		`startOfMonth(1)`:      "2024-04-01T00:00:00.000Z",
		`startOfYear("-1")`:    "2023-01-01T00:00:00.000Z",
		`endOfYear("1M")`:      "2025-01-31T23:59:59.999Z",
		`endOfYear()`:          "2024-12-31T23:59:59.999Z",
		`"-1M"`:                "2024-02-29T23:59:59.000Z",
		`"-1y"`:                "2023-03-31T23:59:59.000Z",
		`"+30"`:                "2024-04-01T00:29:59.000Z",
		`"2024-03-01 09:30"`:   "2024-03-01T09:30:00.000Z",
	} {
		p := &jqlParser{tokens: tokens{name: "jql", text: text}, r: r}
		if err := p.next(); err != nil {
			t.Fatal(err)
		}
		v, err := p.value()
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := p.resolveOne(col, "eq", v); err != nil || string(raw) != strconv.Quote(want) {
			t.Errorf("%s: got %s (%v), want %q", text, raw, err, want)
		}
	}
}

// Without a principal nobody is the current user.
func TestJQLNobody(t *testing.T) {
	db := openSQL(t, jqlSQL, nil)
	for query, n := range map[string]int{`assignee = currentUser()`: 0, `assignee in (currentUser())`: 0, `assignee in (currentUser(), a1)`: 1, `assignee != currentUser()`: 3} {
		req := &provider.Request{RequestID: "r1", OperationID: "x", Method: "GET", PathTemplate: "/issues", Kind: "list", Action: "list", Page: &provider.Page{Size: 50},
			Params: provider.Params{Query: provider.Object{{Name: "jql", Value: quoteText(query)}}}}
		res, err := db.Invoke(context.Background(), req)
		if err != nil || !res.OK || len(res.Items) != n {
			t.Errorf("%s: %s (%v), want %d", query, show(res), err, n)
		}
	}
}

// No text makes a query that panics, hangs or breaks the SQL around it.
func FuzzJQL(f *testing.F) {
	db := openSQL(f, jqlSQL, nil)
	for _, seed := range []string{`project = ENG and status in ("a", b) order by created desc, id`, `not (a = 1 || b ~ "x*") && c is not empty`, `x was in (a) and`, `"a b" = f(1, 2)`, `!`, `order by`, `created > -7d and due < endOfWeek("1M") or assignee = currentUser()`, `a in`, `'`} {
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
