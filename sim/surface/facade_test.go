package surface_test

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim/surface"
)

const facadeContract = `
service: {id: bank, version: '1', source: {kind: wsdl}}
operations:
  - {id: bank.transfer, canonicalName: transfer, displayName: t, effect: {kind: mutation, action: execute, resource: transfer},
     sourceRef: {kind: wsdl, path: /soap/Bank/Transfer, method: post, binding: {protocol: soap, envelopeNamespace: 'http://schemas.xmlsoap.org/soap/envelope/', bodyNamespace: 'urn:b', bodyElement: Transfer, contentType: text/xml, soapVersion: '1.1'}},
     input: {body: {contentType: text/xml, required: true, projection: fields, schema: {type: object, properties: {amount: {type: integer}}}, fields: [{name: amount, required: true, schema: {type: integer}}]}},
     errors: [{code: conflict, upstream: {code: 'soap:Client', httpStatus: 500}}],
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: transfer}, skill: {}, state: approved}
  - {id: bank.accounts, canonicalName: accounts, displayName: a, effect: {kind: read, action: list, resource: account},
     sourceRef: {kind: protobuf, path: /bank.v1.Accounts/List, method: post, binding: {protocol: grpc, service: bank.v1.Accounts, method: List, transport: json_transcoded}},
     input: {body: {projection: fields, fields: [{name: pageToken}, {name: pageSize, schema: {type: integer}}, {name: owner}]}},
     output: {schema: {type: object, properties: {accounts: {type: array, items: {type: object}}, nextPageToken: {type: string}}}},
     pagination: {style: cursor, in: body, cursorParam: pageToken, pageSizeParam: pageSize, itemsField: accounts, nextField: nextPageToken},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: accounts}, skill: {}, state: approved}
  - {id: bank.account, canonicalName: account, displayName: a, effect: {kind: read, action: get, resource: account},
     sourceRef: {kind: protobuf, path: '/v1/accounts/{id}', method: get, binding: {protocol: grpc, service: bank.v1.Accounts, method: Get, transport: http_rule}},
     input: {params: [{name: id, in: path, required: true}]},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: account}, skill: {}, state: approved}
  - {id: bank.quote, canonicalName: quote, displayName: q, effect: {kind: mutation, action: create, resource: quote},
     sourceRef: {kind: openapi, path: /queue/quotes, method: post, binding: {protocol: queue_request_reply, legacyBindingContentHash: 'sha256:HASH', requestDestination: quotes, reply: {mode: reply_to, correlationField: id}, requestSchemaRef: a, responseSchemaRef: b, timeoutMs: 10, idempotency: {carrier: message_id}}},
     input: {body: {required: true, schema: {type: object}}},
     idempotency: {mode: key_supported, mechanism: header, key: X-Message-Id}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: quote}, skill: {}, state: approved}
`

// TestFacadeCalls: operations of other protocols are called as HTTP+JSON at their
// synthesized paths, whatever their own messages are.
func TestFacadeCalls(t *testing.T) {
	var told []string
	r := startContract(t, strings.Replace(facadeContract, "HASH", strings.Repeat("0", 64), 1), &surface.Options{Facade: true}, func(req *provider.Request) (*provider.Response, error) {
		told = append(told, req.OperationID+" "+string(req.Params.Path.Get("id"))+string(req.Body))
		switch {
		case strings.Contains(string(req.Body), "99"):
			return provider.ParseResponse([]byte(`{"ok":false,"error":{"code":"conflict","upstreamCode":"soap:Client","message":"Too much."}}`))
		case req.Page != nil && req.Page.Cursor == nil:
			return provider.PageOf([]int{1, 2}, "c2")
		case req.Page != nil:
			return provider.PageOf([]int{3}, "")
		}
		return provider.ResultJSON([]byte(`{"ok":1.10}`)), nil
	})
	for _, tc := range []struct {
		method, path, body string
		header             []string
		status             int
		want, told         string
	}{
		{"POST", "/soap/Bank/Transfer", `{"amount":5}`, []string{"Content-Type", "application/json"}, 200, `{"ok":1.10}`, `bank.transfer {"amount":5}`},
		{"POST", "/soap/Bank/Transfer", `{"amount":99}`, nil, 500, `{"error":{"code":"soap:Client","message":"Too much."}}`, `bank.transfer {"amount":99}`},
		{"POST", "/soap/Bank/Transfer", `<amount>5</amount>`, []string{"Content-Type", "text/xml"}, 400, `not valid JSON`, ``},
		{"POST", "/soap/Bank/Transfer", `{}`, nil, 400, `"validation_error"`, ``},
		{"POST", "/bank.v1.Accounts/List", `{"owner":"o","pageSize":2}`, nil, 200, `{"accounts":[1,2],"nextPageToken":"c2"}`, `bank.accounts {"pageSize":2,"owner":"o"}`},
		{"POST", "/bank.v1.Accounts/List", `{"pageToken":"c2"}`, nil, 200, `{"accounts":[3]}`, `bank.accounts {"pageToken":"c2"}`},
		{"GET", "/v1/accounts/a%2Fb", ``, nil, 200, `{"ok":1.10}`, `bank.account "a/b"`},
		{"POST", "/queue/quotes", `{"n":1}`, []string{"X-Message-Id", "m1"}, 201, `{"ok":1.10}`, `bank.quote {"n":1}`},
		{"POST", "/queue/quotes", `{"n":1}`, []string{"X-Message-Id", "m1"}, 201, `{"ok":1.10}`, ``},
	} {
		told = nil
		resp, body := r.do(t, tc.method, tc.path, tc.body, tc.header...)
		if resp.StatusCode != tc.status || !strings.Contains(body, tc.want) || strings.Join(told, "|") != tc.told {
			t.Errorf("%s %s %s: %d %s, told %q; want %d %s, %q", tc.method, tc.path, tc.body, resp.StatusCode, body, told, tc.status, tc.want, tc.told)
		}
	}
}
