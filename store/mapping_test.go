package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
)

const vendor = `
CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title TEXT, ArtistId INTEGER REFERENCES Artist (ArtistId));
CREATE TABLE issues (id INTEGER PRIMARY KEY, key TEXT UNIQUE, project_id INTEGER REFERENCES projects (id), assignee_id INTEGER, status TEXT, is_open BOOLEAN);
CREATE TABLE projects (id INTEGER PRIMARY KEY, slug TEXT UNIQUE, title TEXT);
CREATE TABLE issue_comments (id INTEGER PRIMARY KEY, issue_id INTEGER REFERENCES issues (id), body TEXT);
CREATE TABLE people (person_id TEXT PRIMARY KEY NOT NULL, org TEXT);
CREATE TABLE repos (owner TEXT, repo TEXT, stars INTEGER, PRIMARY KEY (owner, repo));
CREATE VIEW open_issues AS SELECT * FROM issues WHERE status = 'open';
CREATE TABLE logs (line TEXT);
CREATE TABLE settings (id INTEGER PRIMARY KEY, project_id INTEGER UNIQUE REFERENCES projects (id), color TEXT);
`

func TestMapping(t *testing.T) {
	db := openSQL(t, vendor, nil)
	cases := []struct {
		op   string // method, path, kind, action, resource
		want string
	}{
		{"GET /Artist list list -", "list Artist"},
		{"GET /artists list list -", "list Artist"},
		{"GET /v1/artists/{artist_id} read get -", "get Artist key artist_id=ArtistId"},
		{"GET /artists/{id} read get artist", "get Artist key id=ArtistId"},
		{"GET /artists/{artistId}/albums list list album", "list Album under artistId=ArtistId"},
		{"GET /artists/{id}/albums/{album_id} read get album", "get Album key album_id=AlbumId under id=ArtistId"},
		{"POST /artists/{id}/albums create create album", "create Album under id=ArtistId"},
		{"PUT /albums/{id} update replace album", "replace Album key id=AlbumId"},
		{"PATCH /albums/{id} update update album", "patch Album key id=AlbumId"},
		{"PUT /albums/{id} update update album", "replace Album key id=AlbumId"},
		{"POST /albums/{id} update update album", "patch Album key id=AlbumId"},
		{"DELETE /albums/{id} delete delete album", "delete Album key id=AlbumId"},
		{"GET /rest/api/3/issue/{issueIdOrKey} read get issue", "get issues key issueIdOrKey=id"},
		{"GET /issues/{key} read get issue", "get issues key key=key"},
		{"DELETE /issues/{key} delete delete issue", "delete issues key key=key"},
		{"GET /issues/{issue_id}/comments list list comment", "list issue_comments under issue_id=issue_id"},
		{"POST /issues/{issueId}/comments create create comment", "create issue_comments under issueId=issue_id"},
		{"DELETE /issues/{issueId}/comments/{id} delete delete comment", "delete issue_comments key id=id under issueId=issue_id"},
		{"GET /projects/{project}/issues list list issue", "list issues under project=project_id"},
		{"GET /search list search issue", "list issues"},
		{"GET /issues.json list list issue", "list issues"},
		{"GET /open-issues list list -", "list open_issues"},
		{"GET /people/{personId} read get person", "get people key personId=person_id"},
		{"GET /repos/{owner}/{repo} read get repo", "get repos key owner=owner repo=repo"},
		{"GET /repos/{a}/{b} read get repo", "get repos key a=owner b=repo"},
		{"GET /orgs/{org}/people list list person", "list people under org=org"},
		{"GET /tenants/{tenant}/people list list person", "list people ignoring tenant"},
		{"PUT /people/{id}/rename update update person", "replace people key id=person_id"},
		{"GET /Artist('{id}') read get artist", "get Artist key id=ArtistId"},
		{"PUT /people/{person} create create person", "create people under person=person_id"},
		{"GET /issues/{id}/watchers list list issue", `no table is called "watchers" or "issue"`},
		{"GET /issues/{id} list list issue", "list issues key id=id"},
		{"GET /Artists({id})/Albums list list Album", "list Album under id=ArtistId"},
		{"POST /issues/{id}/transitions action execute issue", `the action "execute" has no meaning for the rows of issues`},
		{"POST /issues action validate issue", "create issues"},
		{"POST /projects/{project}/issues action execute issue", "create issues under project=project_id"},
		{"PATCH /issues/{id} action approve issue", "patch issues key id=id"},
		{"DELETE /projects/{project}/issues/{id} action cancel issue", "delete issues key id=id under project=project_id"},
		{"POST /issues/{id} action execute issue", `the action "execute" has no meaning for the rows of issues`},
		{"DELETE /issues/{id}/lock action reserve issue", `the action "reserve" has no meaning for the rows of issues`},
		{"POST /issues/search action execute issue", `the action "execute" has no meaning for the rows of issues`},
		{"PUT /projects/{id}/settings update replace setting", "replace settings under id=project_id"},
		{"DELETE /projects/{id}/settings delete delete setting", "delete settings under id=project_id"},
		{"DELETE /projects/{id}/issues delete delete issue", "the path names no row of issues to change"},
		{"GET /widget list list widget", `no table is called "widget"; the tables are Album, `},
		{"GET /widgets list list widget", `no table is called "widgets" or "widget"; the tables are Album, Artist, `},
		{"GET / list list -", "no table is called"},
		{"POST /logs create create log", "create logs"},
		{"DELETE /logs/{id} delete delete log", `the path parameter "id" names no column of logs ("line")`},
		{"DELETE /logs/{line} delete delete log", `more than one row of logs may have the same "line"`},
		{"POST /open_issues create create issue", "open_issues is a view and can only be read"},
		{"DELETE /issues delete delete issue", "the path names no row of issues to change"},
		{"PATCH /issues/{status} update update issue", `more than one row of issues may have the same "status"`},
	}
	for _, c := range cases {
		f := strings.Fields(c.op)
		op := provider.Operation{OperationID: "x", Method: f[0], PathTemplate: f[1], Kind: provider.Kind(f[2]), Action: f[3], Paged: f[2] == "list"}
		if f[4] != "-" {
			op.Resource = &f[4]
		}
		if got := describeTarget(db.schema.mapOperation(&op, nil, known{})); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.op, got, c.want)
		}
	}
}

func describeTarget(g *target) string {
	if g.reason != "" {
		return g.reason
	}
	verbs := map[verb]string{listRows: "list", getRow: "get", createRow: "create", patchRow: "patch", replaceRow: "replace", deleteRow: "delete"}
	out := verbs[g.verb] + " " + g.table.name
	for _, part := range []struct {
		word string
		list []binding
	}{{" key", g.key}, {" under", g.parents}} {
		for i, b := range part.list {
			if i == 0 {
				out += part.word
			}
			out += " " + b.param + "=" + b.col.name
		}
	}
	if len(g.ignored) > 0 {
		out += " ignoring " + strings.Join(g.ignored, " ")
	}
	return out
}

func TestQueryColumns(t *testing.T) {
	db := openSQL(t, vendor, nil)
	g := &target{table: db.schema.table("issues")}
	for param, want := range map[string]string{
		"status": "status", "Status": "status", "statuses": "status", "assignee": "assignee_id", "assigneeId": "assignee_id",
		"project_id": "project_id", "isOpen": "is_open", "ids": "id", "sort": "", "page": "", "q": "",
	} {
		got := ""
		if col := g.queryColumn(param); col != nil {
			got = col.name
		}
		if got != want {
			t.Errorf("%s is mapped to %q, want %q", param, got, want)
		}
	}
}

func TestUnsupportedNamesTheOperation(t *testing.T) {
	db := openSQL(t, vendor, nil)
	res, err := db.Invoke(context.Background(), &provider.Request{OperationID: "shop.widgets.list", Method: "GET", PathTemplate: "/widgets",
		Kind: provider.KindList, Action: "list", Page: &provider.Page{Size: 1}})
	if err != nil {
		t.Fatal(err)
	}
	got := show(res)
	for _, part := range []string{"unsupported_operation", "shop.widgets.list (GET /widgets)", `"widgets"`, "Album"} {
		if !strings.Contains(got, part) {
			t.Errorf("%s does not say %s", got, part)
		}
	}
}

func TestMetaSaysWhatWasIgnored(t *testing.T) {
	db := openSQL(t, vendor, nil)
	artist := "artist"
	res, err := db.Invoke(context.Background(), &provider.Request{OperationID: "x", Method: "GET", PathTemplate: "/artists", Kind: provider.KindList,
		Action: "list", Resource: &artist, Page: &provider.Page{Size: 1},
		Params: provider.Params{Query: pairs(`name="x"&sort="name"&colour="red"&limit=1&page_size=3`)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Meta), `{"table":"Artist","filters":["Name"],"ignored":["colour"],"sort":["Name"],"plan":["SCAN Artist"],"rows_scanned":0,"rows":0,"empty":{"by":"Name","alone":[0]}}`; got != want {
		t.Errorf("meta %s, want %s", got, want)
	}
}

// A contract may count its pages or its rows.
func TestNumberedPages(t *testing.T) {
	contract := func(style, param string) *air.Document {
		doc, err := air.Parse("c.yaml", fmt.Appendf(nil, `
service: {id: x, version: "1", source: {kind: openapi}}
operations:
  - id: x.list
    canonicalName: list
    displayName: list
    sourceRef: {kind: openapi, path: /n, method: get}
    effect: {kind: read, action: list, resource: n}
    input: {params: [{name: %s, in: query, schema: {type: integer}}, {name: even, in: query}]}
    idempotency: {mode: natural}
    retries: {mode: safe}
    confirmation: {}
    auth: {type: none}
    pagination: {style: %s, cursorParam: %s, pageSizeParam: size}
    cli: {command: x}
    mcp: {toolName: x}
    skill: {}
    state: approved
`, param, style, param))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	const rows = `CREATE TABLE n (id INTEGER PRIMARY KEY, even BOOLEAN);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 25) INSERT INTO n SELECT i, i % 2 = 0 FROM n`
	for _, c := range []struct{ style, param, want string }{
		{"page", "page", "first 1 next 2, 11 next 3, 21 last"},
		{"offset", "offset", "first 1 next 10, 11 next 20, 21 last"},
		{"cursor", "cursor", "first 1 next *, 11 next *, 21 last"},
	} {
		db := openSQL(t, rows, &Options{Contract: contract(c.style, c.param)})
		doc := db.opts.Contract
		var got []string
		cursor := ""
		for {
			one := demoCall(t, doc, "x.list", call{size: 10, cursor: cursor})
			res := one.do(t, db)
			at := strings.TrimPrefix(strings.SplitN(string(res.Items[0]), ",", 2)[0], `{"id":`)
			if cursor == "" {
				at = "first " + at
			}
			if res.NextCursor == nil {
				got = append(got, at+" last")
				break
			}
			cursor = *res.NextCursor
			shown := cursor
			if c.style == "cursor" {
				shown = "*"
			}
			got = append(got, at+" next "+shown)
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s: %s, want %s", c.style, all, c.want)
		}
		bad := []string{"x", "-1", "99999999999999999999", "AAAA"}
		if c.style == "page" {
			bad = append(bad, "0")
		}
		for _, cursor := range bad {
			res := demoCall(t, doc, "x.list", call{size: 10, cursor: cursor}).do(t, db)
			if res.OK || res.Error.Code != provider.ValidationError {
				t.Errorf("%s: the cursor %q gave %s", c.style, cursor, show(res))
			}
		}
	}
}

func TestInitialize(t *testing.T) {
	db, doc := openDemo(t)
	ctx := context.Background()
	own, other := doc.ContractDigest(), strings.Repeat("0", 64)
	ops := []provider.Operation{operation(doc.Operations[0])}
	if _, err := db.Initialize(ctx, &provider.InitializeParams{ProtocolVersion: 1, ContractDigest: &own, Operations: ops}); err != nil {
		t.Errorf("its own contract: %v", err)
	}
	_, err := db.Initialize(ctx, &provider.InitializeParams{ProtocolVersion: 1, ContractDigest: &other, Operations: ops})
	if err == nil || !strings.Contains(err.Error(), own) || !strings.Contains(err.Error(), other) {
		t.Errorf("another contract: %v", err)
	}
	res, err := db.Initialize(ctx, &provider.InitializeParams{ProtocolVersion: 1})
	if err != nil || res.ProtocolVersion != 1 {
		t.Fatalf("asked for a contract: %v", err)
	}
	contract, _ := db.Contract()
	if !slices.Equal(res.Contract, contract) || len(contract) == 0 {
		t.Error("it does not answer with the derived contract")
	}
}

func TestTooManyChoices(t *testing.T) {
	db := openSQL(t, vendor, nil)
	list := strings.Repeat("1,", maxChoices)
	res := call{id: "artist.list", query: "ArtistId=[" + list + "1]", size: 1}.do(t, db)
	if got := show(res); !strings.Contains(got, "validation_error: the filters give 5001 values") {
		t.Error(got)
	}
	want(t, db, call{id: "artist.list", query: "ArtistId=[" + strings.TrimSuffix(list, ",") + "]", size: 1}, "0 of 0 ")
}

// A contract that was derived and then edited pages by its own parameters.
func TestEditedDerivation(t *testing.T) {
	first := openSQL(t, vendor, nil)
	text, err := first.Contract()
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer(`"cursor"`, `"page"`).Replace(string(text))
	doc, err := air.Parse("edited.json", []byte(edited))
	if err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, vendor, &Options{Contract: doc})
	for range 3 {
		call{id: "artist.create", body: `{"Name":"x"}`}.do(t, db)
	}
	want(t, db, call{id: "artist.list", size: 2, cursor: "2", query: `page=2&Name=["x"]`}, `1 of 3 {"ArtistId":3,"Name":"x"}`)
}
