package surface_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface"
	"github.com/anvil-sim/anvil/trace"
)

// A script answers the n-th call with its n-th answer and keeps what it was
// asked.
type script struct {
	answers []json.RawMessage
	asked   []string
}

func (s *script) Invoke(_ context.Context, req *provider.Request) (*provider.Response, error) {
	s.asked = append(s.asked, string(req.AppendJSON(nil)))
	return provider.ParseResponse(s.answers[len(s.asked)-1])
}

// A recorded session, as testdata/conformance/README.md describes it.
type session struct {
	Provider struct {
		Answers []json.RawMessage `json:"answers"`
	} `json:"provider"`
	Exchanges []struct {
		Request struct {
			Method, Path, Body string
			Headers            map[string]string
		} `json:"request"`
		Response struct {
			Status   int               `json:"status"`
			Headers  map[string]string `json:"headers"`
			BodyText string            `json:"bodyText"`
		} `json:"response"`
	} `json:"exchanges"`
}

// TestGraphQLSessions replays the recorded sessions: responses, what the
// provider is asked and the trace, byte for byte.
func TestGraphQLSessions(t *testing.T) {
	for _, name := range []string{"graphql-envelopes", "graphql-resolve"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("../../testdata/conformance/sessions", name)
			var s session
			if err := json.Unmarshal(readFile(t, dir, "session.json"), &s); err != nil {
				t.Fatal(err)
			}
			doc, err := air.Load(filepath.Join(dir, "air.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			p := &script{answers: s.Provider.Answers}
			r := serveGraphQL(t, doc, p, nil)
			for i, e := range s.Exchanges {
				var headers []string
				for name, value := range e.Request.Headers {
					headers = append(headers, name, value)
				}
				resp, got := r.do(t, e.Request.Method, e.Request.Path, e.Request.Body, headers...)
				if resp.StatusCode != e.Response.Status || got != e.Response.BodyText {
					t.Errorf("exchange %d %s: %d %s, want %d %s", i, e.Request.Body, resp.StatusCode, got, e.Response.Status, e.Response.BodyText)
				}
				for name, want := range e.Response.Headers {
					if got := resp.Header.Get(name); got != want {
						t.Errorf("exchange %d: %s is %q, want %q", i, name, got, want)
					}
				}
				if got := resp.Header.Get("X-Rate"); got != "" {
					t.Errorf("exchange %d: a provider's header was served: X-Rate: %s", i, got)
				}
			}
			diffLines(t, "invoke", string(readFile(t, dir, "invokes.jsonl")), strings.Join(p.asked, "\n")+"\n")
			diffLines(t, "trace line", string(readFile(t, dir, "trace.jsonl")), r.trace.String())
		})
	}
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func diffLines(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%ss (-want +got):\n%s", what, diff)
	}
}

func serveGraphQL(t testing.TB, doc *air.Document, p provider.Provider, opts *surface.Options) *running {
	t.Helper()
	r := &running{trace: &bytes.Buffer{}}
	s, err := sim.New(doc, &sim.Options{Seed: 1, Provider: p, Trace: trace.NewWriter(r.trace)})
	if err != nil {
		t.Fatal(err)
	}
	h, err := surface.New(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// oddGraphQL has GraphQL operations beside an HTTP+JSON one, with inputs and
// keys in unusual places.
const oddGraphQL = `
service: {id: odd, version: '1', source: {kind: graphql}}
operations:
  - {id: odd.home, canonicalName: home, displayName: h, sourceRef: {kind: openapi, path: /home, method: post},
     effect: {kind: read, action: get}, input: {params: []},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: home}, skill: {}, state: approved}
  - {id: odd.find, canonicalName: find, displayName: f,
     sourceRef: {kind: graphql, binding: {protocol: graphql, document: 'query Find($term: String) { find(term: $term) { id } }', operationName: Find, rootField: find}},
     effect: {kind: read, action: list}, input: {params: [{name: term, in: query}, {name: X-Region, in: header}, {name: pageNo, in: query, schema: {type: integer}}]},
     output: {schema: {type: object, properties: {kind: {const: page}, rows: {type: array, items: {type: object}}, paging: {type: object}}}},
     pagination: {style: page, cursorParam: pageNo, pageSizeParam: size, itemsField: rows, pagingField: paging},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: find}, skill: {}, state: approved}
  - {id: odd.send, canonicalName: send, displayName: s,
     sourceRef: {kind: graphql, binding: {protocol: graphql, document: 'mutation Send { send { id } }', operationName: Send, rootField: send}},
     effect: {kind: mutation, action: send}, input: {params: [{name: key, in: query}]},
     idempotency: {mode: required, mechanism: query, key: key},
     retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: send}, skill: {}, state: approved}
  - {id: odd.post, canonicalName: post, displayName: p,
     sourceRef: {kind: graphql, binding: {protocol: graphql, document: 'mutation Post { post { id } }', operationName: Post, rootField: post}},
     effect: {kind: mutation, action: create}, input: {params: [], body: {}},
     idempotency: {mode: required, mechanism: header, key: Idempotency-Key},
     retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: post}, skill: {}, state: approved}
`

func TestGraphQLInputs(t *testing.T) {
	doc, err := air.Parse("odd.yaml", []byte(oddGraphQL))
	if err != nil {
		t.Fatal(err)
	}
	state := answers(func(req *provider.Request) (*provider.Response, error) {
		if req.Page != nil {
			return provider.PageOf([]json.RawMessage{req.AppendJSON(nil)}, "")
		}
		return provider.ResultJSON(req.AppendJSON(nil)), nil
	})
	for _, tc := range []struct {
		name, path, body string
		header           []string
		status           int
		want             string // part of the answer
	}{
		{"an operation's own path", "/home", `{"query":"{ find { id } }"}`, nil, 200, `"operationId":"odd.home"`},
		{"parameters are variables and headers", "/x?term=url&pageNo=9", `{"query":"{ f: find { id } }","variables":{"term":9007199254740993,"pageNo":3,"size":"7"}}`, []string{"X-Region", "eu"}, 200,
			`{"data":{"f":{"kind":"page","rows":[{"requestId":"r1","capabilityId":"odd","operationId":"odd.find","toolName":"find","kind":"list","action":"list","resource":null,"method":"","pathTemplate":"","params":{"path":{},"query":{"term":9007199254740993,"pageNo":3},"header":{"X-Region":"eu"},"cookie":{}},"body":null,"page":{"cursor":"3","size":7},`},
		{"the position block counts from the variables", "/", `{"query":"{ find { id } }","variables":{"pageNo":3,"size":7}}`, nil, 200, `"paging":{"count":7,"page":3,"pages":3,"total":15}}}}`},
		{"a key in the variables", "/", `{"query":"mutation { send { id } }","variables":{"key":5}}`, nil, 200, `"idempotencyKey":"5"}}}`},
		{"no key in the variables", "/?key=5", `{"query":"mutation { send { id } }"}`, nil, 200, `"code":"idempotency_required"`},
		{"a key in a header, a whole body", "/", `{"query":"mutation { post { id } }","variables":{"b":1.10,"a":1e400}}`, []string{"Idempotency-Key", "k"}, 200, `"body":{"b":1.10,"a":1e400},"page":null,"principal":null,"tenantId":null,"idempotencyKey":"k"}}}`},
		{"no variables, no body", "/", `{"query":"mutation { post { id } }","variables":[1]}`, []string{"Idempotency-Key", "k"}, 200, `"body":null`},
		{"a fragment holds the first root field", "/", `{"query":"query { ...F } fragment F on Query { g: find { id } }"}`, nil, 200, `{"data":{"g":{`},
		{"the field that was asked for", "/", `{"query":"query { x: other g: find { id } }","operationName":"Find"}`, nil, 200, `{"data":{"g":{`},
		{"any JSON type", "/", `{"query":"{ find { id } }"}`, []string{"Content-Type", "application/graphql+json"}, 200, `{"data":{"find":{`},
		{"no query", "/", `{"query":7}`, nil, 404, `No operation 'POST /'.`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := serveGraphQL(t, doc, state, nil)
			resp, got := r.do(t, "POST", tc.path, tc.body, tc.header...)
			if resp.StatusCode != tc.status || !strings.Contains(got, tc.want) {
				t.Errorf("%d %s\nwant %d and %s", resp.StatusCode, got, tc.status, tc.want)
			}
		})
	}
}

func TestGraphQLUnbound(t *testing.T) {
	doc, err := air.Parse("odd.yaml", []byte(strings.Replace(oddGraphQL, "protocol: graphql, document: 'query", "protocol: soap, envelopeNamespace: e, bodyNamespace: b, bodyElement: x, contentType: c, soapVersion: '1.1', document: 'query", 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = surface.New(s, nil)
	var unreachable *surface.UnreachableError
	if !errors.As(err, &unreachable) || len(unreachable.Operations) != 1 || unreachable.Operations[0].OperationID != "odd.find" {
		t.Errorf("got %v, want a refusal of odd.find alone", err)
	}
}

// A contract without GraphQL has no endpoint.
func TestNoGraphQL(t *testing.T) {
	r := start(t, echo, nil, nil)
	if resp, got := r.do(t, "POST", "/", `{"query":"{ a }"}`); resp.StatusCode != 404 || !strings.Contains(got, "No operation 'POST /'.") {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
}

func BenchmarkGraphQL(b *testing.B) {
	for _, mode := range []string{"plain", "strict"} {
		b.Run(mode, func(b *testing.B) {
			s, err := sim.New(hub(b), &sim.Options{Provider: answers(hubState)})
			if err != nil {
				b.Fatal(err)
			}
			h, err := surface.New(s, &surface.Options{GraphQLStrict: mode == "strict"})
			if err != nil {
				b.Fatal(err)
			}
			body := query(`query Repository($o: String!, $n: String!) { repository(owner: $o, name: $n) { id name owner { login } labels { name } } }`,
				`"variables":{"o":"o","n":"n","owner":"o","name":"n"}`)
			if mode == "strict" {
				body = strings.Replace(body, `,"owner":"o","name":"n"`, "", 1)
			}
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader(body)))
				if !strings.HasPrefix(w.Body.String(), `{"data":{`) {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
