package store

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

const forge = `
CREATE TABLE user (id INTEGER PRIMARY KEY, login TEXT UNIQUE);
CREATE TABLE repository (id INTEGER PRIMARY KEY, name TEXT, owner_id INTEGER REFERENCES user (id), UNIQUE (owner_id, name));
CREATE TABLE issue (id INTEGER PRIMARY KEY, number INTEGER, title TEXT, labels JSON, repository_id INTEGER REFERENCES repository (id), UNIQUE (repository_id, number));
CREATE TABLE issue_comment (id INTEGER PRIMARY KEY, body TEXT, issue_id INTEGER REFERENCES issue (id));
CREATE TABLE comment (id INTEGER PRIMARY KEY, body TEXT);
CREATE TABLE task (id INTEGER PRIMARY KEY, name TEXT, projects JSON, completed BOOLEAN, completed_at DATETIME);
CREATE TABLE story (gid TEXT PRIMARY KEY, story_gid TEXT REFERENCES story (gid));
INSERT INTO user VALUES (1, 'mona'), (2, 'acme');
INSERT INTO repository VALUES (10, 'site', 1), (11, 'site', 2);
INSERT INTO issue VALUES (100, 1, 'a', '["bug"]', 10), (101, 1, 'b', '[{"id":7,"name":"bug"},{"id":8,"name":"ui"}]', 11), (102, 2, 'c', '{"name":"ui"}', 11), (103, 3, 'd', 'bug', 11), (104, 4, 'e', NULL, 11);
INSERT INTO issue_comment VALUES (1, 'x', 100), (2, 'y', 101);
INSERT INTO task VALUES (1, 'p', '[{"gid":"7"}]', 1, '2026-01-05T00:00:00Z'), (2, 'q', '["7","8"]', 0, NULL), (3, 'r', '[]', 1, '2026-01-01T00:00:00Z');
INSERT INTO story VALUES ('1', NULL), ('2', '1');
`

// Several parameters name one parent, and a nearer parent knows the farther one.
func TestParents(t *testing.T) {
	db := openSQL(t, forge, nil)
	for _, c := range []struct{ op, path, body, want string }{
		{"GET /repos/{owner}/{repo} read", `owner="acme"&repo="site"`, "", `{"id":11,"name":"site","owner_id":2}`},
		{"GET /repos/{owner}/{repo} read", `owner="eve"&repo="site"`, "", `not_found: no repository with "owner_id" "eve", "name" "site"`},
		{"GET /repos/{owner}/{repo}/issues/{issue_number} read", `owner="mona"&repo="site"&issue_number=1`, "",
			`{"id":100,"number":1,"title":"a","labels":["bug"],"repository_id":10}`},
		{"GET /repos/{owner}/{repo}/issues/{issue_number}/comments list", `owner="acme"&repo="site"&issue_number=1`, "", `1 of 1 {"id":2,"body":"y","issue_id":101}`},
		{"GET /repos/{owner}/{repo}/issues/{issue_number}/comments list", `owner="mona"&repo="site"&issue_number=2`, "",
			`not_found: no issue with "number" 2, "repository_id"`},
		{"POST /repos/{owner}/{repo}/issues/{issue_number}/comments create", `owner="acme"&repo="site"&issue_number=2`, `{"body":"z"}`, `{"id":3,"body":"z","issue_id":102}`},
		{"POST /repos/{owner}/{repo}/issues create", `owner="mona"&repo="site"`, `{"title":"new"}`,
			`{"id":105,"number":2,"title":"new","labels":null,"repository_id":10}`},
		{"DELETE /repos/{owner}/{repo}/issues/{issue_number} delete", `owner="acme"&repo="site"&issue_number=4`, "", `null`},
		{"GET /users/{username}/repos list", `username="mona"`, "", `1 of 1 {"id":10,"name":"site","owner_id":1}`},
		{"GET /projects/{project_gid}/tasks list", `project_gid="8"`, "", `1 of 1 {"id":2,"name":"q","projects":["7","8"],"completed":false,"completed_at":null}`},
		{"GET /stories/{story_gid} read", `story_gid="2"`, "", `{"gid":"2","story_gid":"1"}`},
	} {
		if got := ask(t, db, "x", c.op, c.path, "", c.body); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.op, c.path, got, c.want)
		}
	}
}

// A plain value finds JSON columns that have it.
func TestHolds(t *testing.T) {
	db := openSQL(t, forge, nil)
	for query, want := range map[string]string{
		`labels="bug"`: "100 101 103", `labels="bug,ui"`: "101", `labels=["bug","ui"]`: "100 101 102 103", `labels="7"`: "101", `labels=8`: "101",
		`labels_not="bug"`: "102 104", `labels="none"`: "", `labels_any="ui,none"`: "101 102", `labels="null"`: "", `labels[null]=true`: "104",
		`labels="' OR 1 --"`: "",
	} {
		res := call{id: "issue.list", query: query, size: 50}.do(t, db)
		var ids []string
		for _, item := range res.Items {
			ids = append(ids, strings.TrimPrefix(strings.SplitN(string(item), ",", 2)[0], `{"id":`))
		}
		if got := strings.Join(ids, " "); !res.OK || got != want {
			t.Errorf("%s finds %s (%s), want %s", query, got, show(res), want)
		}
	}
	want(t, db, call{id: "task.list", query: `completed_since="2026-01-03T00:00:00Z"`, size: 5},
		`1 of 1 {"id":1,"name":"p","projects":[{"gid":"7"}],"completed":true,"completed_at":"2026-01-05T00:00:00Z"}`)
}

// RPC paths have verbs of two words, nouns of their own, and parameters that are
// called as the contract's answers call rows.
func TestRPCWords(t *testing.T) {
	db := openSQL(t, `
CREATE TABLE conversation (id TEXT PRIMARY KEY, name TEXT, topic TEXT, email TEXT UNIQUE);
CREATE TABLE message (ts TEXT PRIMARY KEY, text TEXT, channel_id TEXT REFERENCES conversation (id));
CREATE TABLE conversation_member (channel TEXT, user TEXT, PRIMARY KEY (channel, user));`, nil)
	k := known{inputs: []string{"channel", "ts", "email", "topic"}, alias: map[string][]string{"conversations": {"channel"}, "chat": {"message"}}}
	history := k
	history.lists = []string{"messages"}
	for _, c := range []struct {
		path string
		kind provider.Kind
		k    known
		want string
	}{
		{"/conversations.info", provider.KindRead, k, "get conversation key channel=id"},
		{"/conversations.setTopic", provider.KindAction, k, "patch conversation key channel=id"},
		{"/conversations.lookupByEmail", provider.KindRead, k, "get conversation key email=email"},
		{"/conversations.members", provider.KindList, k, "list conversation_member"},
		{"/conversations.history", provider.KindList, history, "list message"},
		{"/chat.postMessage", provider.KindAction, k, "create message"},
		{"/chat.delete", provider.KindCreate, k, "delete message key ts=ts"},
		{"/admin.conversations.list", provider.KindList, k, "list conversation"},
		{"/conversations.archive", provider.KindAction, k, `the word "archive" of "conversations.archive" has no meaning`},
		{"/conversations.setFoo", provider.KindAction, k, `the word "setFoo" of "conversations.setFoo" has no meaning`},
		{"/conversations.info", provider.KindRead, known{inputs: []string{"x"}}, `no parameter names a row of conversation`},
	} {
		op := provider.Operation{OperationID: "x", Method: "POST", PathTemplate: c.path, Kind: c.kind, Action: string(c.kind)}
		if got := describeTarget(db.schema.mapOperation(&op, nil, c.k)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.path, got, c.want)
		}
	}
}
