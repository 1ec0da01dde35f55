package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
)

const joined = `
CREATE TABLE user (id INTEGER PRIMARY KEY, login TEXT UNIQUE);
CREATE TABLE repository (id INTEGER PRIMARY KEY, name TEXT, owner_id INTEGER REFERENCES user (id), UNIQUE (owner_id, name));
CREATE TABLE issue (id INTEGER PRIMARY KEY, number INTEGER, title TEXT, repository_id INTEGER REFERENCES repository (id), UNIQUE (repository_id, number));
CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT, color TEXT, repository_id INTEGER REFERENCES repository (id), UNIQUE (repository_id, name));
CREATE TABLE labelled (issue_id INTEGER REFERENCES issue (id), label_id INTEGER REFERENCES label (id), created_at TEXT, PRIMARY KEY (issue_id, label_id));
CREATE TABLE star (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES user (id), repository_id INTEGER REFERENCES repository (id));
CREATE TABLE fork (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES user (id), repository_id INTEGER REFERENCES repository (id));
CREATE TABLE grade (issue_id INTEGER REFERENCES issue (id), user_id INTEGER REFERENCES user (id), points INTEGER, PRIMARY KEY (issue_id, user_id));
INSERT INTO user VALUES (1, 'mona'), (2, 'acme');
INSERT INTO repository VALUES (10, 'site', 1), (11, 'site', 2);
INSERT INTO issue VALUES (100, 1, 'a', 10), (101, 1, 'b', 11), (102, 2, 'c', 11);
INSERT INTO label VALUES (1, 'bug', 'red', 10), (2, 'bug', 'blue', 11), (3, 'ui', 'grey', 11);
INSERT INTO labelled VALUES (100, 1, '2026-01-01'), (101, 2, '2026-01-01'), (101, 3, '2026-01-01'), (102, 3, '2026-01-01');
`

// What a path has below a row that another table joins with it are the rows that it
// joins; what the path removes there is the joining row.
func TestLinks(t *testing.T) {
	db := openSQL(t, joined, nil)
	const labels, one = "/repos/{owner}/{repo}/issues/{issue_number}/labels", "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}"
	for _, c := range []struct{ op, path, body, want string }{
		{"GET " + labels + " list", `owner="acme"&repo="site"&issue_number=1`, "", `1 of 2 more {"id":2,"name":"bug","color":"blue","repository_id":11}`},
		{"GET " + labels + " list", `owner="mona"&repo="site"&issue_number=1`, "", `1 of 1 {"id":1,"name":"bug","color":"red","repository_id":10}`},
		{"GET " + labels + " list", `owner="mona"&repo="site"&issue_number=7`, "", `not_found: no issue with "number" 7`},
		{"GET " + one + " read", `owner="acme"&repo="site"&issue_number=1&name="ui"`, "", `{"id":3,"name":"ui","color":"grey","repository_id":11}`},
		{"GET " + one + " read", `owner="mona"&repo="site"&issue_number=1&name="ui"`, "", `not_found: no label with "name" "ui"`},
		{"PATCH " + one + " update", `owner="acme"&repo="site"&issue_number=2&name="ui"`, `{"color":"pink"}`, `unsupported_operation: `},
		{"DELETE " + one + " delete", `owner="mona"&repo="site"&issue_number=1&name="bug"`, "", `null`},
		{"DELETE " + one + " delete", `owner="mona"&repo="site"&issue_number=1&name="bug"`, "", `not_found: no labelled with`},
		{"GET " + labels + " list", `owner="mona"&repo="site"&issue_number=1`, "", `0 of 0`},
		{"GET " + labels + " list", `owner="acme"&repo="site"&issue_number=1`, "", `1 of 2 more {"id":2,`},
		{"GET /labels list", "", "", `1 of 3 more {"id":1,`},
		{"GET /labels/{id}/issues list", "id=3", "", `1 of 2 more {"id":101,`},
		{"PUT " + one + " update", `owner="mona"&repo="site"&issue_number=1&name="bug"`, "", `null`},
		// Two tables join them, or one that says more: neither is a link.
		{"GET /users/{user_id}/repositories list", "user_id=1", "", `1 of 1 {"id":10,`},
		{"GET /issues/{issue_id}/users list", "issue_id=101", "", `1 of 2 more {"id":1,"login":"mona"}`},
	} {
		got := ask(t, db, "x", c.op, c.path, "", c.body)
		if strings.HasPrefix(c.op, "PUT") {
			if !strings.Contains(got, `labelled joins issue_id and label_id, and the contract does not say which of them PUT replaces`) {
				t.Errorf("%s: %s", c.op, got)
			}
			continue
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s\n got %s\nwant %s", c.op, c.path, got, c.want)
		}
	}
}

// linkContract is a contract of one operation on Chinook's playlists.
func linkContract(t *testing.T, method, path, kind, action, row, body string) *air.Document {
	t.Helper()
	schema, page, input := `{type: object, properties: {`+row+`}}`, "", ""
	if action == "list" {
		schema, page = `{type: object, properties: {items: {type: array, items: `+schema+`}}}`, "    pagination: {style: cursor, cursorParam: cursor, nextField: next, itemsField: items}\n"
	}
	params := []string{`{name: playlist_id, in: path, required: true, schema: {type: integer}}`}
	if strings.Contains(path, "{track_id}") {
		params = append(params, `{name: track_id, in: path, required: true, schema: {type: integer}}`)
	}
	if body != "" {
		input = `, body: {contentType: application/json, required: true, projection: whole, schema: {type: object, properties: {` + body + `}}}`
	}
	doc, err := air.Parse("c.yaml", fmt.Appendf(nil, `
service: {id: x, version: "1", source: {kind: openapi}}
operations:
  - id: x.op
    canonicalName: op
    displayName: op
    sourceRef: {kind: openapi, path: "%s", method: %s}
    effect: {kind: %s, action: %s, resource: track}
    input: {params: [%s]%s}
    output: {schema: %s, successStatuses: [200]}
%s    idempotency: {mode: none}
    retries: {mode: none}
    confirmation: {}
    auth: {type: none}
    cli: {command: x}
    mcp: {toolName: x}
    skill: {}
    state: approved
`, path, method, kind, action, strings.Join(params, ", "), input, schema, page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// What the contract declares decides which of the two rows an operation shows and
// makes; where it does not, nothing is written.
func TestLinksByContract(t *testing.T) {
	const all, one = "/playlists/{playlist_id}/tracks", "/playlists/{playlist_id}/tracks/{track_id}"
	const track = "TrackId: {type: integer}, Name: {type: string}"
	for _, c := range []struct{ method, path, kind, action, row, body, want string }{
		{"get", all, "read", "list", track, "", "list Track playlist_id=TrackId by PlaylistTrack.PlaylistId"},
		{"get", all, "read", "list", "playlist_id: {type: integer}, track_id: {type: integer}", "", "list PlaylistTrack playlist_id=PlaylistId"},
		{"get", one, "read", "get", track, "", "read Track playlist_id=TrackId by PlaylistTrack.PlaylistId"},
		{"patch", one, "mutation", "update", track, "name: {type: string}", "update Track playlist_id=TrackId by PlaylistTrack.PlaylistId"},
		{"delete", one, "mutation", "delete", "", "", "delete PlaylistTrack playlist_id=PlaylistId"},
		{"post", all, "mutation", "create", track, "track_id: {type: integer}", "create PlaylistTrack playlist_id=PlaylistId"},
		{"post", one, "mutation", "create", track, "", "create PlaylistTrack playlist_id=PlaylistId,track_id=TrackId"},
		{"post", all, "mutation", "create", track, "name: {type: string}", "PlaylistTrack joins PlaylistId and TrackId, and the contract does not say which of them a create makes; say it in the map with table and do"},
	} {
		db := openFile(t, chinook, &Options{Contract: linkContract(t, c.method, c.path, c.kind, c.action, c.row, c.body)})
		list, err := db.Inspect()
		if err != nil {
			t.Fatal(err)
		}
		m := list[0]
		got := m.Reason
		if got == "" {
			var parents []string
			for _, b := range m.Parents {
				parents = append(parents, b.Name+"="+b.Column)
			}
			got = m.Does + " " + m.Table + " " + strings.Join(parents, ",")
		}
		if got != c.want {
			t.Errorf("%s %s {%s}\n got %s\nwant %s", c.method, c.path, c.body, got, c.want)
		}
	}
}

// A create of a link answers what the contract declares: the row that it joins, or the
// link itself.
func TestLinkCreateAnswers(t *testing.T) {
	const all, one = "/playlists/{playlist_id}/tracks", "/playlists/{playlist_id}/tracks/{track_id}"
	const track = "TrackId: {type: integer}, Name: {type: string}"
	for _, c := range []struct{ path, row, input, params, body, want string }{
		{all, track, "track_id: {type: integer}", "playlist_id=9", `{"track_id":5}`, `{"TrackId":5,"Name":"Princess of the Dawn"}`},
		{one, track, "", "playlist_id=9&track_id=5", "", `{"TrackId":5,"Name":"Princess of the Dawn"}`},
		{one, "data: {type: object, properties: {" + track + "}}", "", "playlist_id=9&track_id=5", "", `{"data":{"TrackId":5,"Name":"Princess of the Dawn"}}`},
		{all, "playlist_id: {type: integer}, track_id: {type: integer}", "track_id: {type: integer}", "playlist_id=9", `{"track_id":5}`, `{"playlist_id":9,"track_id":5}`},
		{all, track, "track_id: {type: integer}", "playlist_id=9", `{"track_id":99999}`, `validation_error: "TrackId" of PlaylistTrack: there is no Track with "TrackId" 99999`},
		{all, track, "track_id: {type: integer}", "playlist_id=99", `{"track_id":5}`, `not_found: no Playlist with "PlaylistId" 99`},
	} {
		db := openFile(t, chinook, &Options{Contract: linkContract(t, "post", c.path, "mutation", "create", c.row, c.input)})
		if got := ask(t, db, "x.op", "POST "+c.path+" create", c.params, "", c.body); got != c.want {
			t.Errorf("POST %s %s %s {%s}\n got %s\nwant %s", c.path, c.params, c.body, c.row, got, c.want)
		}
	}
}

// A path whose parent does not exist says in its meta which parent is nearest, as a
// key that names no row does.
func TestMissingParentMeta(t *testing.T) {
	db := openSQL(t, joined, nil)
	const issues, labels = "/repos/{owner}/{repo}/issues", "/repos/{owner}/{repo}/issues/{issue_number}/labels"
	for _, c := range []struct{ method, kind, path, params, body, want string }{
		{"GET", "list", "/repositories/{repository_id}/issues", "repository_id=12", "", `{"table":"repository","filters":["id"],"rows_scanned":0,"rows":0,"nearest":{"id":11}}`},
		{"POST", "create", "/repositories/{repository_id}/issues", "repository_id=12", `{"title":"x"}`, `{"table":"repository","filters":["id"],"rows_scanned":0,"rows":0,"nearest":{"id":11}}`},
		{"GET", "list", labels, `owner="mona"&repo="site"&issue_number=7`, "", `{"table":"issue","filters":["number","repository_id"],"rows_scanned":0,"rows":0,"nearest":{"number":1}}`},
		{"GET", "list", issues, `owner="mona"&repo="sit"`, "", `{"table":"repository","filters":["owner_id","name"],"rows_scanned":0,"rows":0,"nearest":{"name":"site"}}`},
		{"POST", "create", issues, `owner="mona"&repo="sit"`, `{"title":"x"}`, `{"table":"repository","filters":["owner_id","name"],"rows_scanned":0,"rows":0,"nearest":{"name":"site"}}`},
	} {
		req := &provider.Request{RequestID: "r1", OperationID: "x", Method: c.method, PathTemplate: c.path, Kind: provider.Kind(c.kind), Action: c.kind,
			Params: provider.Params{Path: pairs(c.params)}, Body: json.RawMessage(c.body)}
		if c.kind == "list" {
			req.Page = &provider.Page{Size: 2}
		}
		res, err := db.Invoke(context.Background(), req)
		if err != nil || res.Error == nil || res.Error.Code != provider.NotFound || string(res.Meta) != c.want {
			t.Errorf("%s %s %s: %+v, %v\n got %s\nwant %s", c.method, c.path, c.params, res, err, res.Meta, c.want)
		}
	}
}

// A client of a playlist's tracks gets what SQL says, through pages, filters and
// changes of the link that no other write of the tracks tells.
func TestLinksAgainstSQL(t *testing.T) {
	db := openFile(t, chinook, nil)
	list := func(playlist int, query string, size int) (ids []int64, total int64) {
		var cursor *string
		for {
			req := &provider.Request{RequestID: "r1", OperationID: "x", Method: "GET", PathTemplate: "/playlists/{playlist_id}/tracks", Kind: "list", Action: "list",
				Page: &provider.Page{Size: size, Cursor: cursor}, Params: provider.Params{Path: pairs(fmt.Sprintf("playlist_id=%d", playlist)), Query: pairs(query)}}
			res, err := db.Invoke(context.Background(), req)
			if err != nil || !res.OK {
				t.Fatal(err, show(res))
			}
			for _, item := range res.Items {
				var row struct{ TrackID int64 }
				if err := json.Unmarshal(item, &row); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, row.TrackID)
			}
			if cursor, total = res.NextCursor, *res.Total; cursor == nil {
				return ids, total
			}
		}
	}
	sql := func(playlist int, rest string) (ids []int64) {
		c, err := db.reader(context.Background(), &provider.Request{RequestID: "r1"})
		if err != nil {
			t.Fatal(err)
		}
		defer db.release(c)
		err = c.query(context.Background(), "SELECT Track.TrackId FROM Track JOIN PlaylistTrack USING (TrackId) WHERE PlaylistId = ? "+rest,
			[]driver.Value{int64(playlist)}, 1, func(v []driver.Value) error {
				ids = append(ids, v[0].(int64))
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	same := func(playlist int, query, rest string) {
		t.Helper()
		got, total := list(playlist, query, 400)
		if want := sql(playlist, rest); fmt.Sprint(got) != fmt.Sprint(want) || total != int64(len(want)) {
			t.Errorf("playlist %d %s: %d rows, total %d, want %d", playlist, query, len(got), total, len(want))
		}
	}
	same(1, "", "ORDER BY TrackId")
	same(5, `sort="-Name"`, "ORDER BY Name DESC, TrackId DESC")
	same(5, `GenreId=1&Milliseconds_gt=300000`, "AND GenreId = 1 AND Milliseconds > 300000 ORDER BY TrackId")
	same(2, "", "")
	for _, op := range []string{"DELETE /playlists/{playlist_id}/tracks/{track_id} delete", "GET /playlists/{playlist_id}/tracks/{track_id} read"} {
		got := ask(t, db, "x", op, "playlist_id=5&track_id=3", "", "")
		if want := map[bool]string{true: "null", false: "not_found: no Track with"}[op[0] == 'D']; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", op, got)
		}
	}
	same(5, `GenreId=1&Milliseconds_gt=300000`, "AND GenreId = 1 AND Milliseconds > 300000 ORDER BY TrackId")
	same(5, "", "ORDER BY TrackId")
	if got := ask(t, db, "x", "GET /tracks/{id} read", "id=3", "", ""); !strings.HasPrefix(got, `{"TrackId":3,`) {
		t.Errorf("the track is gone: %s", got)
	}
}

// A count through another table is of now, though its own table was not written.
func TestTotalThroughAnotherTable(t *testing.T) {
	db := openSQL(t, joined, nil)
	ask(t, db, "x", "POST /repositories create", "", "", `{"name":"b","owner_id":2}`)
	const repos = "GET /users/{username}/repos list"
	for i, want := range []string{"1 of 1 ", "1 of 2 "} {
		if got := ask(t, db, "x", repos, `username="mona"`, "", ""); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
		ask(t, db, "x", "PATCH /users/{id} update", "id=1", "", `{"login":"zed"}`)
		ask(t, db, "x", "PATCH /users/{id} update", "id=2", "", `{"login":"mona"}`)
	}
}

// A removal answers without a row, so nothing is said of its fields.
func TestInspectOfADelete(t *testing.T) {
	for method, want := range map[string]string{"patch": "update", "delete": "delete"} {
		contract := linkContract(t, method, "/tracks/{track_id}", "mutation", want, "TrackId: {type: integer}, colour: {type: string}", "")
		list, err := openFile(t, chinook, &Options{Contract: contract}).Inspect()
		if err != nil {
			t.Fatal(err)
		}
		m := list[0]
		if m.Does != want || m.Table != "Track" || (len(m.Fields) > 0) != (method == "patch") || (len(m.Absent) > 0) != (method == "patch") {
			t.Errorf("%s: %+v", method, m)
		}
	}
}
