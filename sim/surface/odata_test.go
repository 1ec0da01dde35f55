package surface_test

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

// TestODataLinks follows the links of OData collections, whatever their contracts
// call the cursor: the link carries a token, drops the count, and is read.
func TestODataLinks(t *testing.T) {
	const odata = `
service: {id: o, version: '1', source: {kind: odata}}
operations:
  - {id: o.list, canonicalName: l, displayName: l, sourceRef: {kind: odata, path: /l, method: get}, effect: {kind: read, action: list, resource: r},
     input: {params: [{name: $top, in: query, schema: {type: integer}}, {name: $skip, in: query, schema: {type: integer}}]}, output: {schema: {type: object, properties: {value: {type: array, items: {}}}}},
     pagination: {style: link, pageSizeParam: $top, itemsField: value, nextField: '@odata.nextLink'CURSOR},
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {type: none}, cli: {command: x}, mcp: {toolName: l}, skill: {}, state: approved}
`
	for _, cursor := range []string{"", ", cursorParam: $skip", ", cursorParam: $skiptoken"} {
		r := startContract(t, strings.Replace(odata, "CURSOR", cursor, 1), nil, func(req *provider.Request) (*provider.Response, error) {
			switch {
			case req.Page.Cursor == nil:
				return provider.PageOf([]string{"first"}, "2")
			case *req.Page.Cursor == "2":
				return provider.PageOf([]string{"two"}, "a b")
			}
			return provider.PageOf([]string{*req.Page.Cursor}, "")
		})
		for _, tc := range []struct{ path, want string }{
			{"/l?$top=1", `{"value":["first"],"@odata.nextLink":"` + r.url + `/l?%24top=1&%24skiptoken=2"}`},
			{"/l?%24top=1&%24skiptoken=2", `{"value":["two"],"@odata.nextLink":"` + r.url + `/l?%24top=1&%24skiptoken=a+b"}`},
			{"/l?$skip=2&$top=1", `{"value":["two"],"@odata.nextLink":"` + r.url + `/l?%24top=1&%24skiptoken=a+b"}`},
			{"/l?$skip=2&$skiptoken=a+b", `{"value":["a b"]}`},
		} {
			if _, body := r.do(t, "GET", tc.path, ""); body != tc.want {
				t.Errorf("%s with pagination%q: got %s, want %s", tc.path, cursor, body, tc.want)
			}
		}
	}
}
