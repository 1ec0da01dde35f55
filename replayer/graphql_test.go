package replayer_test

import (
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/replayer"
	"github.com/anvil-sim/anvil/replayer/tape"
)

const graphqlContract = `
service: {id: g, version: "1", source: {kind: graphql}}
operations:
  - {id: g.user, canonicalName: user, displayName: user, sourceRef: {kind: graphql, path: /graphql/Query/user, method: post, binding: {protocol: graphql, document: "query User($id: ID!) { user(id: $id) { id } }", operationName: User, rootField: user}}, effect: {kind: read, action: get}, input: {body: {projection: fields, fields: [{name: id}]}}, errors: [{code: not_found, upstream: {code: NOT_FOUND}}], idempotency: {mode: natural}, retries: {mode: safe}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: g_user}, skill: {}, state: approved}
  - {id: g.add, canonicalName: add, displayName: add, sourceRef: {kind: graphql, path: /graphql/Mutation/add, method: post, binding: {protocol: graphql, document: "mutation Add($n: Int) { add(n: $n) }", operationName: Add, rootField: add}}, effect: {kind: mutation, action: create}, input: {body: {projection: fields, fields: [{name: n, schema: {type: integer}}]}}, idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: g_add}, skill: {}, state: approved}
`

func TestGraphQLThroughTheContract(t *testing.T) {
	doc, err := air.Parse("g", []byte(graphqlContract))
	if err != nil {
		t.Fatal(err)
	}
	rec := tapeOf(t,
		`POST https://api/graphql {"operationName":"User","query":"query User($id: ID!) { user(id: $id) { id name } }","variables":{"id":"7"}} -> {"data":{"user":{"id":"7","name":"Ada"}}}`,
		`POST https://api/graphql {"query":"query Mine($id: ID!) { me: user(id: $id) { id } }","variables":{"id":"8"}} -> {"data":{"me":{"id":"8"}}}`,
		`POST https://api/graphql {"query":"mutation Add($n: Int) { add(n: $n) }","variables":{"n":1}} -> {"data":{"add":1.0}}`,
		`POST https://api/graphql {"operationName":"User","query":"query User { user { id } }","variables":{"id":"9"}} -> {"errors":[{"message":"none","extensions":{"code":"NOT_FOUND"}}],"data":null}`,
	)
	p, err := replayer.NewProvider([]*tape.Tape{rec}, doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`g.user body {"id":"7"}`, `{"ok":true,"result":{"id":"7","name":"Ada"}}`},
		{`g.user body {"id":"8"}`, `{"ok":true,"result":{"id":"8"}}`},
		{`g.add body {"n":1}`, `{"ok":true,"result":1.0}`},
		{`g.user body {"id":"9"}`, `{"ok":false,"error":{"code":"not_found","upstreamCode":"NOT_FOUND","message":"none"}}`},
		{`g.user body {"id":"10"}`, "[not_recorded]"},
	} {
		if got := invoke(t, p, c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}
