package surface_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim/surface"
)

func hub(t testing.TB) *air.Document {
	t.Helper()
	text, err := os.ReadFile("testdata/hub.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := air.Parse("hub.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// hubState answers by operation; what it was asked for comes back under asked.
func hubState(req *provider.Request) (*provider.Response, error) {
	body := string(req.Body)
	if body == "" {
		body = "null"
	}
	switch req.OperationID {
	case "hub.repository":
		if strings.Contains(body, `"missing"`) {
			return provider.ParseResponse([]byte(`{"ok":false,"error":{"code":"not_found","message":"No such repository."}}`))
		}
		if strings.Contains(body, `"vendor"`) {
			return provider.ParseResponse([]byte(`{"ok":false,"error":{"code":"conflict","body":{"errors":[{"message":"m1"},{"message":"m2"}],"data":{"repo":1},"extensions":{}}}}`))
		}
		return provider.ResultJSON([]byte(`{"asked":` + body + `,"id":"R1","name":"anvil","stars":9007199254740993,"ratio":1.10,"owner":{"login":"ann","id":"U1"},` +
			`"labels":[{"name":"bug"},null,{"name":"ui","color":"red"}],"pinned":[{"__typename":"Issue","title":"i"},{"__typename":"PullRequest","merged":true}],"weird":5}`)), nil
	case "hub.issues":
		next := `"c2"`
		if strings.Contains(body, "c2") {
			next = "null"
		}
		return provider.ParseResponse([]byte(`{"ok":true,"items":[{"id":"I1","title":"t"}],"nextCursor":` + next + `}`))
	}
	return provider.ResultJSON([]byte(`{"ok":true,"asked":` + body + `}`)), nil
}

func query(document string, more ...string) string {
	body := canon.AppendString([]byte(`{"query":`), document)
	for _, m := range more {
		body = append(append(body, ','), m...)
	}
	return string(append(body, '}'))
}

func TestGraphQLStrict(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"selection in its own order, exact numbers, missing is null",
			query(`{ repository(owner: "o", name: "n") { ratio stars id nope owner { login nope } } }`),
			`{"data":{"repository":{"ratio":1.10,"stars":9007199254740993,"id":"R1","nope":null,"owner":{"login":"ann","nope":null}}}}`},
		{"aliases and lists",
			query(`{ r: repository(owner: "o", name: "n") { l: labels { n: name c: color } } }`),
			`{"data":{"r":{"l":[{"n":"bug","c":null},null,{"n":"ui","c":"red"}]}}}`},
		{"literals", query(`{ repository(owner: """ o """, name: "n", first: 5) { asked } }`),
			`{"data":{"repository":{"asked":{"owner":" o ","name":"n","first":5}}}}`},
		{"variables with defaults",
			query(`query Q($o: String!, $n: String! = "dflt", $f: Int) { repository(owner: $o, name: $n, first: $f) { asked } }`, `"variables":{"o":"x"}`),
			`{"data":{"repository":{"asked":{"owner":"x","name":"dflt"}}}}`},
		{"a number is an id where the contract says so", query(`{ issues(repo: 7) { nodes { id } } }`),
			`{"data":{"issues":{"nodes":[{"id":"I1"}]}}}`},
		{"every root field, in order",
			query(`{ __typename a: repository(owner: "1", name: "n") { asked } issues(repo: "r") { nodes { title } } b: repository(owner: "2", name: "n") { id } }`),
			`{"data":{"__typename":"Query","a":{"asked":{"owner":"1","name":"n"}},"issues":{"nodes":[{"title":"t"}]},"b":{"id":"R1"}}}`},
		{"fragments, merged fields",
			query(`query { ...Root } fragment Root on Query { repository(owner: "o", name: "n") { id ...F owner { login } } } fragment F on Repository { name owner { id } __typename ... { id } ... on Other { x: id } }`),
			`{"data":{"repository":{"id":"R1","name":"anvil","owner":{"id":"U1","login":"ann"},"__typename":"Repository","x":"R1"}}}`},
		{"types that the values name",
			query(`{ repository(owner: "o", name: "n") { pinned { __typename ... on Issue { title } ... on PullRequest { merged } } owner { __typename } } }`),
			`{"data":{"repository":{"pinned":[{"__typename":"Issue","title":"i"},{"__typename":"PullRequest","merged":true}],"owner":{"__typename":"User"}}}}`},
		{"skip and include",
			query(`query Q($yes: Boolean!, $no: Boolean = false) { repository(owner: "o", name: "n") { id @skip(if: $yes) name @include(if: $yes) ... @include(if: $no) { stars } } issues(repo: "r") @include(if: $no) { nodes { id } } }`, `"variables":{"yes":true}`),
			`{"data":{"repository":{"name":"anvil"}}}`},
		{"relay pages", query(`{ issues(repo: "r", first: 1) { nodes { id } pageInfo { hasNextPage endCursor } } }`),
			`{"data":{"issues":{"nodes":[{"id":"I1"}],"pageInfo":{"hasNextPage":true,"endCursor":"c2"}}}}`},
		{"a page's info has Relay's type", query(`{ issues(repo: "r") { __typename nodes { __typename } pageInfo { __typename } } repository(owner: "o", name: "n") { pageInfo { __typename } } }`),
			`{"data":{"issues":{"__typename":null,"nodes":[{"__typename":"Issue"}],"pageInfo":{"__typename":"PageInfo"}},"repository":{"pageInfo":null}}}`},
		{"introspection", query("query IntrospectionQuery { __schema { queryType { name } types { ...T } } }\nfragment T on __Type { kind fields(includeDeprecated: true) { name } }"),
			`{"errors":[{"message":"Introspection is not served: the contract binds operations and holds no GraphQL schema.","locations":[{"line":1,"column":28}],"extensions":{"code":"unsupported_operation"}}]}`},
		{"the last relay page", query(`{ issues(repo: "r", after: "c2") { pageInfo { hasNextPage endCursor } } }`),
			`{"data":{"issues":{"pageInfo":{"hasNextPage":false,"endCursor":null}}}}`},
		{"the compiled document, an input that no argument carries",
			query(`mutation CloseIssue($id: ID!, $clientMutationId: String) { closeIssue(id: $id) { asked } }`, `"variables":{"id":"i","clientMutationId":"c"}`),
			`{"data":{"closeIssue":{"asked":{"id":"i","clientMutationId":"c"}}}}`},
		{"an input as an argument of its own", query(`mutation { closeIssue(id: "i", clientMutationId: "d") { asked } }`),
			`{"data":{"closeIssue":{"asked":{"id":"i","clientMutationId":"d"}}}}`},
		{"parts of an argument are inputs", query(`mutation M($l: [String!]!) { addLabels(input: {issueId: 4, labels: $l}) { asked } }`, `"variables":{"l":["a"]}`),
			`{"data":{"addLabels":{"asked":{"issueId":4,"labels":["a"]}}}}`},
		{"mutations one after another", query(`mutation { a: closeIssue(id: "1") { ok } b: closeIssue(id: "2") { asked } }`),
			`{"data":{"a":{"ok":true},"b":{"asked":{"id":"2"}}}}`},
		{"one field fails", query("{\n  bad: repository(owner: \"missing\", name: \"n\") { id }\n  issues(repo: \"r\") { nodes { id } }\n}"),
			`{"errors":[{"message":"No such repository.","locations":[{"line":2,"column":3}],"path":["bad"],"extensions":{"code":"NOT_FOUND"}}],"data":{"bad":null,"issues":{"nodes":[{"id":"I1"}]}}}`},
		{"the state's own errors, alone", query(`{ repository(owner: "vendor", name: "n") { id } }`),
			`{"errors":[{"message":"m1"},{"message":"m2"}],"data":{"repo":1},"extensions":{}}`},
		{"the state's own errors, beside others", query(`{ repo: repository(owner: "vendor", name: "n") { id } issues(repo: "r") { nodes { id } } }`),
			`{"errors":[{"message":"m1"},{"message":"m2"}],"data":{"repo":1,"issues":{"nodes":[{"id":"I1"}]}}}`},
		{"a value without fields", query(`{ repository(owner: "o", name: "n") { weird { x } id } }`),
			`{"errors":[{"message":"Field \"weird\" selects subfields, and the state answered 5.","locations":[{"line":1,"column":39}],"path":["repository","weird"],"extensions":{"code":"schema_mismatch"}}],"data":{"repository":{"weird":null,"id":"R1"}}}`},
		{"the named operation", query(`query A { issues(repo: "r") { nodes { id } } } query B { b: issues(repo: "r") { nodes { title } } }`, `"operationName":"B"`),
			`{"data":{"b":{"nodes":[{"title":"t"}]}}}`},
		{"a gate's refusal", query(`mutation { secret(id: "1") { ok } }`),
			`{"errors":[{"message":"Missing scope(s): admin:all.","locations":[{"line":1,"column":12}],"path":["secret"],"extensions":{"code":"permission_denied"}}],"data":{"secret":null}}`},
		{"typename alone", query(`mutation { t: __typename }`), `{"data":{"t":"Mutation"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := serveGraphQL(t, hub(t), answers(hubState), &surface.Options{GraphQLStrict: true})
			resp, got := r.do(t, "POST", "/graphql", tc.body, "X-Anvil-Principal", "limited")
			if diff := cmp.Diff(tc.want, got); diff != "" || resp.StatusCode != 200 {
				t.Errorf("%d (-want +got):\n%s", resp.StatusCode, diff)
			}
			if resp.Header.Get("X-Request-Id") != "r1" || !strings.HasSuffix(r.trace.String(), "}\n") {
				t.Errorf("request %q, trace %s", resp.Header.Get("X-Request-Id"), r.trace)
			}
		})
	}
}

// Each root field is a call: numbered, asked and traced with its own part of the
// response.
func TestGraphQLStrictTrace(t *testing.T) {
	r := serveGraphQL(t, hub(t), answers(hubState), &surface.Options{GraphQLStrict: true})
	body := query(`{ a: repository(owner: "missing", name: "n") { id } __typename b: issues(repo: "r") { nodes { id } } }`)
	r.do(t, "POST", "/", body)
	r.do(t, "POST", "/", query(`{ nothing }`))
	r.do(t, "POST", "/", query(`{ __typename }`))
	var got []string
	for line := range strings.SplitSeq(strings.TrimSuffix(r.trace.String(), "\n"), "\n") {
		v, err := canon.Parse([]byte(line), canon.Strict)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %s", v.Get("requestId"), v.Get("operationId"), v.Get("result").Get("ok"), v.Get("status"), v.Get("response")))
	}
	want := []string{
		`"r1" "hub.repository" false 200 {"errors":[{"message":"No such repository.","locations":[{"line":1,"column":3}],"path":["a"],"extensions":{"code":"NOT_FOUND"}}],"data":{"a":null}}`,
		`"r2" "hub.issues" true 200 {"data":{"b":{"nodes":[{"id":"I1"}]}}}`,
		`"r3" null false 200 {"errors":[{"message":"Cannot query field \"nothing\" on type \"Query\".","locations":[{"line":1,"column":3}],"extensions":{"code":"unsupported_operation"}}]}`,
		`"r4" null true 200 {"data":{"__typename":"Query"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first, _, _ := strings.Cut(r.trace.String(), "\n"); !strings.Contains(first, `"request":{"method":"POST","path":"/","query":{},"headers":{},"body":`+body+`}`) {
		t.Errorf("the first line lacks the request: %s", first)
	}
}

// Arguments below a root field change nothing, and the trace says so.
func TestGraphQLIgnoredArguments(t *testing.T) {
	r := serveGraphQL(t, hub(t), answers(hubState), &surface.Options{GraphQLStrict: true})
	r.do(t, "POST", "/", query(`{ repository(owner: "o", name: "n") { ...L labels(first: 1) { name } } } fragment L on Repository { owner { id(as: "x") } a: labels(first: 2, after: "c") { name } }`))
	want := `"warnings":["GraphQL argument 'labels.first' was ignored: only arguments of root fields are known.",` +
		`"GraphQL argument 'id.as' was ignored: only arguments of root fields are known.",` +
		`"GraphQL argument 'labels.after' was ignored: only arguments of root fields are known."]`
	if !strings.Contains(r.trace.String(), want) {
		t.Errorf("trace %s, want %s", r.trace, want)
	}
}

// The facade path of an operation is the same with and without the executor.
func TestGraphQLFacadeBesideStrict(t *testing.T) {
	r := serveGraphQL(t, hub(t), answers(hubState), &surface.Options{GraphQLStrict: true})
	for _, tc := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/graphql/Query/issues", `{"repo":"r"}`, 200, `{"nodes":[{"id":"I1","title":"t"}],"pageInfo":{"endCursor":"c2"}}`},
		{"/graphql/Mutation/closeIssue", `{"id":"1"}`, 200, `{"ok":true,"asked":{"id":"1"},"kind":"closed"}`},
	} {
		resp, got := r.do(t, "POST", tc.path, tc.body)
		if resp.StatusCode != tc.status || got != tc.want {
			t.Errorf("%s: %d %s, want %d %s", tc.path, resp.StatusCode, got, tc.status, tc.want)
		}
	}
}
