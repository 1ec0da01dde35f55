package surface_test

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

const secretContract = `
service: {id: s, version: '1', source: {kind: openapi}}
operations:
  - {id: s.get, canonicalName: g, displayName: g, sourceRef: {kind: openapi, path: /r, method: METHOD}, effect: {kind: EFFECT, action: other, resource: r},
     input: {params: [PARAMS]}, PAGES
     idempotency: {mode: none}, retries: {mode: none}, confirmation: {}, auth: {AUTH}, cli: {command: x}, mcp: {toolName: g}, skill: {}, state: approved}
`

// TestSecretsStayOutOfTheTrace: what carries a credential, by the contract or by
// its name, reaches the provider and no trace; what is data reaches both.
func TestSecretsStayOutOfTheTrace(t *testing.T) {
	const cursor = "pagination: {style: cursor, cursorParam: token},"
	tests := []struct {
		name, auth, param, pages, path, header, value string
		told, shown                                   bool
	}{
		{"key in a cookie", "type: api_key", "{name: chocolate, in: cookie}", "", "/r", "Cookie", "chocolate=s3cr3t", true, false},
		{"session beside a bearer", "type: custom_header, carrier: {in: header, name: Authorization}", "{name: sid, in: cookie}", "", "/r", "Cookie", "sid=s3cr3t", true, false},
		{"cookie beside a bearer", "type: custom_header, carrier: {in: header, name: Authorization}", "{name: theme, in: cookie}", "", "/r", "Cookie", "theme=s3cr3t", true, true},
		{"cookie without auth", "type: none", "{name: sid, in: cookie}", "", "/r", "Cookie", "sid=s3cr3t", true, true},
		{"token cookie without auth", "type: none", "{name: access_token, in: cookie}", "", "/r", "Cookie", "access_token=s3cr3t", true, false},
		{"carrier in the query", "type: api_key, carrier: {in: query, name: k}", "{name: k, in: query}", "", "/r?k=s3cr3t", "", "", true, false},
		{"carrier in a header", "type: api_key, carrier: {in: header, name: X-K}", "{name: x-k, in: header}", "", "/r", "X-K", "s3cr3t", true, false},
		{"secret by name in the query", "type: none", "{name: client_secret, in: query}", "", "/r?client_secret=s3cr3t", "", "", true, false},
		{"secret by name in a header", "type: none", "{name: X-Auth-Token, in: header}", "", "/r", "X-Auth-Token", "s3cr3t", true, false},
		{"cursor that is called token", "type: none", "{name: token, in: query}", cursor, "/r?token=s3cr3t", "", "", true, true},
		{"undeclared cursor", "type: none", "", "pagination: {style: cursor, cursorParam: key},", "/r?key=s3cr3t", "", "", true, true},
		{"declared key", "type: none", "{name: key, in: query}", "", "/r?key=s3cr3t", "", "", true, true},
		{"property of an object", "type: none", "{name: o, in: query, style: form, schema: {type: object, properties: {key: {type: string}}}}", "", "/r?key=s3cr3t", "", "", true, true},
		{"undeclared key", "type: none", "", "", "/r?key=s3cr3t", "", "", false, false},
		{"undeclared signature", "type: none", "", "", "/r?X-Amz-Signature=s3cr3t", "", "", false, false},
		{"undeclared word", "type: none", "", "", "/r?word=s3cr3t", "", "", false, true},
		{"no such path", "type: none", "", "", "/nowhere?access_token=s3cr3t", "", "", false, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			contract := strings.NewReplacer("METHOD", "get", "EFFECT", "read", "PARAMS", tc.param, "PAGES", tc.pages, "AUTH", tc.auth).Replace(secretContract)
			told := ""
			r := startContract(t, contract, nil, func(req *provider.Request) (*provider.Response, error) {
				told = string(req.AppendJSON(nil))
				if req.Page != nil {
					return provider.PageOf([]int{1}, "")
				}
				return provider.ResultJSON([]byte("1")), nil
			})
			var header []string
			if tc.header != "" {
				header = []string{tc.header, tc.value}
			}
			r.do(t, "GET", tc.path, "", header...)
			if got := strings.Contains(told, "s3cr3t"); got != tc.told {
				t.Errorf("the provider was told %s; with the value: %v, want %v", told, got, tc.told)
			}
			trc := r.trace.String()
			if got := strings.Contains(trc, "s3cr3t"); got != tc.shown {
				t.Errorf("trace %s; with the value: %v, want %v", trc, got, tc.shown)
			}
		})
	}
}

// TestStoreKeepsNoSecret: what the built-in store echoes is traced.
func TestStoreKeepsNoSecret(t *testing.T) {
	contract := strings.NewReplacer("METHOD", "post", "EFFECT", "mutation", "PARAMS", "{name: k, in: query}, {name: x, in: query}", "PAGES", "",
		"AUTH", "type: api_key, carrier: {in: query, name: k}").Replace(secretContract)
	r := startContract(t, contract, nil, nil)
	_, body := r.do(t, "POST", "/r?k=s3cr3t&x=1", "")
	if !strings.Contains(body, `"x":"1"`) || strings.Contains(body+r.trace.String(), "s3cr3t") {
		t.Errorf("answer %s, trace %s: want x and no secret", body, r.trace)
	}
}
