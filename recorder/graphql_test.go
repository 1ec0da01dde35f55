package recorder

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
)

const graphqlContract = `
service: {id: g, version: "1", source: {kind: graphql}}
operations:
  - {id: g.user, canonicalName: user, displayName: user, sourceRef: {kind: graphql, path: /graphql/Query/user, method: post, binding: {protocol: graphql, document: "query User($id: ID!) { user(id: $id) { id } }", operationName: User, rootField: user}}, effect: {kind: read, action: get}, input: {body: {projection: fields, fields: [{name: id}]}}, idempotency: {mode: natural}, retries: {mode: safe}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: g_user}, skill: {}, state: approved}
  - {id: g.add, canonicalName: add, displayName: add, sourceRef: {kind: graphql, path: /graphql/Mutation/add, method: post, binding: {protocol: graphql, document: "mutation Add($n: Int) { add(n: $n) }", operationName: Add, rootField: add}}, effect: {kind: mutation, action: create}, input: {}, idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: g_add}, skill: {}, state: approved}
`

// GraphQL calls share one path: their documents say which operations were seen.
func TestSummaryOfGraphQL(t *testing.T) {
	doc, err := air.Parse("g", []byte(graphqlContract))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(`{"data":{}}`)) }))
	defer srv.Close()
	rec := open(t, filepath.Join(t.TempDir(), "tape.yaml"), &Options{Contract: doc})
	base, _ := proxy(t, rec, srv.URL, ProxyOptions{})
	client := rawClient(t)
	get(t, client, "POST", base+"/graphql", "application/json", `{"query":"query User { user(id: 1) { id } }"}`)
	get(t, client, "POST", base+"/graphql", "application/json", `{"query":"{ other }"}`)
	get(t, client, "POST", base+"/graphql", "application/json", `no JSON`)
	s := rec.Summary()
	if diff := cmp.Diff([][]string{{"g.user"}, {"g.add"}}, [][]string{s.Seen, s.Unseen}); diff != "" || s.Unknown != 2 {
		t.Errorf("%d unknown\n%s", s.Unknown, diff)
	}
	if text := s.String(); !strings.Contains(text, "1 of 2 operations seen, never: g.add") {
		t.Error(text)
	}
}
