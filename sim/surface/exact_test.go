package surface_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface"
	"github.com/anvil-sim/anvil/trace"
)

// exact is what must reach the other side as it was written: beyond double
// precision, a trailing zero, beyond its range, integer-like keys in their order.
const exact = `{"big":9007199254740993,"zero":1.10,"huge":1e400,"10":1,"2":[0.0,-0,1E5]}`

const exactContract = `
service: {id: n, version: '1', source: {kind: openapi}}
operations:
  - {id: n.json, canonicalName: j, displayName: j, sourceRef: {kind: openapi, path: /json, method: post}, effect: {kind: mutation, action: send},
     input: {body: {}}, idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: j}, skill: {}, state: approved}
  - {id: n.form, canonicalName: f, displayName: f, sourceRef: {kind: openapi, path: /form, method: post}, effect: {kind: mutation, action: send},
     input: {body: {contentType: application/x-www-form-urlencoded, schema: {properties: {big: {type: integer}, zero: {type: number}, huge: {type: number}}}}},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: f}, skill: {}, state: approved}
  - {id: n.query, canonicalName: q, displayName: q, sourceRef: {kind: openapi, path: '/query/{p}', method: get}, effect: {kind: read, action: get},
     input: {params: [{name: p, in: path, schema: {type: integer}}, {name: big, in: query, schema: {type: integer}}, {name: zero, in: query, schema: {type: number}}, {name: huge, in: query, schema: {type: number}}]},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: q}, skill: {}, state: approved}
  - {id: n.list, canonicalName: l, displayName: l, sourceRef: {kind: openapi, path: /list, method: get}, effect: {kind: read, action: list}, input: {},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: l}, skill: {}, state: approved}
  - {id: n.fail, canonicalName: e, displayName: e, sourceRef: {kind: openapi, path: /fail, method: get}, effect: {kind: read, action: get}, input: {},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: e}, skill: {}, state: approved}
  - {id: n.gql, canonicalName: g, displayName: g, effect: {kind: read, action: get},
     sourceRef: {kind: graphql, path: /graphql/Query/thing, method: post, binding: {protocol: graphql, document: 'query G($in: Any) { thing(in: $in) }', operationName: G, rootField: thing}},
     input: {body: {projection: fields, fields: [{name: in, schema: {}}]}},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: g}, skill: {}, state: approved}
`

// TestExactNumbers sends the same text through every way in and out.
func TestExactNumbers(t *testing.T) {
	doc, err := air.Parse("n.yaml", []byte(exactContract))
	if err != nil {
		t.Fatal(err)
	}
	var told string
	var trc strings.Builder
	s, err := sim.New(doc, &sim.Options{Trace: trace.NewWriter(&trc), Provider: answers(func(req *provider.Request) (*provider.Response, error) {
		told = string(req.AppendJSON(nil))
		switch req.OperationID {
		case "n.list":
			return provider.ParseResponse([]byte(`{"ok":true,"items":[` + exact + `]}`))
		case "n.fail":
			return provider.ParseResponse([]byte(`{"ok":false,"error":{"code":"conflict","body":` + exact + `}}`))
		}
		return provider.ResultJSON([]byte(exact)), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	h, err := surface.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ method, path, contentType, body, told, answer string }{
		{"POST", "/json", "application/json", exact, `"body":` + exact, exact},
		{"POST", "/form", "application/x-www-form-urlencoded", "big=9007199254740993&zero=1.10&huge=1e400&10=a&2=b",
			`"body":{"big":9007199254740993,"zero":1.1,"huge":"1e400","10":"a","2":"b"}`, exact},
		{"GET", "/query/9007199254740993?zero=1.10&huge=1e400&big=9007199254740993", "", "",
			`"path":{"p":9007199254740993},"query":{"big":9007199254740993,"zero":1.1,"huge":"1e400"}`, exact},
		{"GET", "/list", "", "", ``, `{"items":[` + exact + `]}`},
		{"GET", "/fail", "", "", ``, exact},
		{"POST", "/", "application/json", `{"query":"query G($in: Any) { thing(in: $in) }","variables":{"in":` + exact + `}}`,
			`"body":{"in":` + exact + `}`, `{"data":{"thing":` + exact + `}}`},
	} {
		trc.Reset()
		w := serveOne(t, h, tc.method, tc.path, tc.contentType, tc.body)
		if w != tc.answer || !strings.Contains(told, tc.told) {
			t.Errorf("%s %s: told %s\nanswered %s\nwant %s and %s", tc.method, tc.path, told, w, tc.told, tc.answer)
		}
		if line := trc.String(); !strings.Contains(line, told) || !strings.Contains(line, tc.answer) {
			t.Errorf("%s %s: the trace has other numbers: %s", tc.method, tc.path, line)
		}
	}
}

func serveOne(t *testing.T, h http.Handler, method, path, contentType, body string) string {
	t.Helper()
	w := &keeping{nowhere: nowhere{header: http.Header{}}}
	req, err := http.NewRequest(method, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	h.ServeHTTP(w, req)
	return w.body.String()
}

// keeping is a response writer that keeps the body.
type keeping struct {
	nowhere
	body strings.Builder
}

func (w *keeping) Write(b []byte) (int, error) { return w.body.Write(b) }
