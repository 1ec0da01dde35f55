package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/compile/api"
)

// compiled compiles a description and loads the contract.
func compiled(t *testing.T, text string, opts *compile.Options) (*air.Document, []api.Diagnostic) {
	t.Helper()
	r, err := compile.CompileText("spec.yaml", []byte(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := r.Document()
	if err != nil {
		t.Fatal(err)
	}
	return doc, r.Diagnostics
}

func hasCode(diags []api.Diagnostic, code string) bool {
	for _, d := range diags {
		if d.Code == code {
			return true
		}
	}
	return false
}

// one compiles a description of one operation; body is indented under it.
func one(t *testing.T, method, path, body string) (*air.Operation, *air.Document, []api.Diagnostic) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "openapi: 3.0.3\ninfo: {title: Shop API, version: '1'}\npaths:\n  %s:\n    %s:\n", path, method)
	for _, line := range strings.Split(strings.Trim(body, "\n"), "\n") {
		b.WriteString("      " + line + "\n")
	}
	doc, diags := compiled(t, b.String(), nil)
	if len(doc.Operations) != 1 {
		t.Fatalf("%d operations", len(doc.Operations))
	}
	return doc.Operations[0], doc, diags
}

func TestIdempotency(t *testing.T) {
	const head = "operationId: createRefund\nresponses: {'201': {description: made}}\nparameters:\n"
	tests := []struct{ name, method, body, want, code string }{
		{"required header", "post", head + "- {name: Idempotency-Key, in: header, required: true, schema: {type: string}}", "required header Idempotency-Key client_supplied", ""},
		{"optional header", "post", head + "- {name: X-Idempotency-Key, in: header, schema: {type: string}}", "key_supported header X-Idempotency-Key client_supplied", ""},
		{"by its text", "post", head + "- {name: PayPal-Request-Id, in: header, description: 'Makes the call idempotent.', schema: {type: string}}", "key_supported header PayPal-Request-Id client_supplied", ""},
		{"no text", "post", head + "- {name: X-Request-Id, in: header, schema: {type: string}}", "none none  none", "idempotency/unproven"},
		{"query", "post", head + "- {name: idempotency_key, in: query, schema: {type: string}}", "key_supported query idempotency_key client_supplied", ""},
		{"put", "put", head + "- {name: a, in: query, schema: {type: string}}", "natural none  none", ""},
		{"put with a key", "put", head + "- {name: Idempotency-Key, in: header, schema: {type: string}}", "key_supported header Idempotency-Key client_supplied", ""},
		{"read with a key", "get", "operationId: getRefund\nresponses: {'200': {description: it}}\nparameters:\n- {name: Idempotency-Key, in: header, schema: {type: string}}", "natural none  none", ""},
		{"body", "post", "operationId: createRefund\nresponses: {'201': {description: made}}\nrequestBody: {required: true, content: {application/json: {schema: {type: object, required: [idempotency_key], properties: {idempotency_key: {type: string}, amount: {type: integer}}}}}}", "required body idempotency_key client_supplied", ""},
		{"a number is none", "post", head + "- {name: Idempotency-Key, in: header, schema: {type: integer}}", "none none  none", "idempotency/unproven"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _, diags := one(t, tt.method, "/refunds", tt.body)
			i := o.Idempotency
			if got := fmt.Sprintf("%s %s %s %s", i.Mode, i.Mechanism, i.Key, i.KeyDerivation); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if i.Key != "" && o.Carrier() == nil {
				t.Error("the contract has no carrier for the key")
			}
			if tt.code != "" && !hasCode(diags, tt.code) {
				t.Errorf("no diagnostic %s", tt.code)
			}
		})
	}
}

func TestEffects(t *testing.T) {
	const ok = "\nresponses: {'200': {description: ok}}"
	tests := []struct{ method, path, body, want string }{
		{"get", "/users/{id}", "operationId: getUser", "read get user none true generated"},
		{"get", "/logout", "operationId: logoutUser\nsummary: Logs the user out", "mutation cancel logout"},
		{"get", "/users/{id}/archive", "operationId: userArchive", "read get user none true generated"},
		{"post", "/users", "operationId: createUser", "mutation create user medium true review_required"},
		{"post", "/users/search", "operationId: searchUsers\nsummary: Search for users", "read search user none true review_required"},
		{"post", "/users/search", "operationId: searchUsers\nsummary: Delete what is found", "mutation"},
		{"post", "/users/search", "operationId: searchUsers", "mutation search user"},
		{"post", "/things", "operationId: doThing", "mutation create thing medium true review_required"},
		{"put", "/users/{id}", "operationId: putUser", "mutation replace user medium true generated"},
		{"patch", "/users/{id}", "operationId: patchUser", "mutation update user medium true review_required"},
		{"delete", "/users/{id}", "operationId: removeUser", "mutation delete user destructive false review_required"},
		{"post", "/orders/{id}/cancel", "operationId: cancelOrder", "mutation cancel order medium true review_required"},
		{"post", "/orders/{id}/approve", "operationId: approveOrder", "mutation approve order high true review_required"},
		{"post", "/charges/{id}/refunds", "operationId: createRefund", "mutation create refund financial false review_required"},
		{"post", "/messages/send", "operationId: sendMessage", "mutation send message high false review_required"},
		{"post", "/jobs/{id}/run", "operationId: runJob", "mutation execute job high true review_required"},
		{"post", "/items/{id}", "operationId: itemThing", "mutation other item medium true review_required"},
		{"head", "/users", "operationId: headUsers", "read get user none true generated"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			body := tt.body + ok
			if strings.Contains(tt.path, "{id}") {
				body += "\nparameters: [{name: id, in: path, required: true, schema: {type: string}}]"
			}
			o, _, _ := one(t, tt.method, tt.path, body)
			e := o.Tree().Get("effect")
			got := fmt.Sprintf("%s %s %s %s %v %s", o.EffectKind, o.Action, o.Resource, e.Get("risk").Text(), e.Get("reversible").True(), o.State)
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPaging(t *testing.T) {
	param := func(name, typ string, more ...string) string {
		return fmt.Sprintf("{name: '%s', in: query, schema: {type: %s%s}}", name, typ, strings.Join(more, ""))
	}
	object := func(props string) string { return "{type: object, properties: {" + props + "}}" }
	list := "items: {type: array, items: {type: object}}"
	tests := []struct{ name, params, response, want string }{
		{"cursor", param("cursor", "string") + "," + param("limit", "integer", ", maximum: 50, default: 10"), object(list + ", next_cursor: {type: string}"), "cursor at=cursor size=limit items=items next=next_cursor max=50 def=10"},
		{"page of an array", param("page", "integer") + "," + param("per_page", "integer"), "{type: array, items: {type: object}}", "page at=page size=per_page"},
		{"offset", param("offset", "integer") + "," + param("limit", "integer"), object(list + ", total: {type: integer}"), "offset at=offset size=limit items=items"},
		{"link", param("after", "string") + "," + param("limit", "integer"), object(list + ", _links: {type: object, properties: {next: {type: string}}}, links: {type: object, properties: {next: {type: string, format: uri}}}"), "link at=after size=limit items=items next=_links.next"},
		{"hal", param("page", "integer"), object(list + ", _links: {type: object, properties: {next: {type: object, properties: {href: {type: string}}}}}"), "link at=page items=items next=_links.next.href"},
		{"deep brackets", param("page[number]", "integer") + "," + param("page[size]", "integer"), object("data: {type: array, items: {type: object}}"), "page at=page[number] size=page[size] items=data"},
		{"odata", param("$skip", "integer") + "," + param("$top", "integer") + "," + param("$count", "boolean"), object("value: {type: array, items: {type: object}}, '@odata.nextLink': {type: string}"), "link at=$skiptoken size=$top items=value next=@odata.nextLink"},
		{"block", param("page", "integer") + "," + param("count", "integer"), object(list + ", paging: {type: object, properties: {page: {type: integer}, total: {type: integer}}}"), "page at=page size=count items=items block=paging"},
		{"nested items", param("cursor", "string") + "," + param("limit", "integer"), object("data: {type: object, properties: {users: {type: array, items: {type: object}}, tags: {type: array, items: {type: string}}}}"), "cursor at=cursor size=limit items=data.users"},
		{"nested next", param("pageToken", "string") + "," + param("maxResults", "integer"), object("users: {type: array, items: {type: object}}, meta: {type: object, properties: {cursors: {type: object, properties: {after: {type: string}}}}}"), "cursor at=pageToken size=maxResults items=users next=meta.cursors.after"},
		{"limit alone", param("limit", "integer"), "{type: array, items: {type: object}}", "-"},
		{"start is a date", param("start", "string", ", format: date") + "," + param("limit", "integer"), "{type: array, items: {type: object}}", "-"},
		{"no list", param("page", "integer") + "," + param("per_page", "integer"), object("name: {type: string}"), "-"},
		{"enum of pages", param("page", "string", ", enum: [cover, back]"), "{type: array, items: {type: object}}", "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _, _ := one(t, "get", "/users", "operationId: listUsers\nparameters: ["+tt.params+"]\nresponses: {'200': {description: ok, content: {application/json: {schema: "+tt.response+"}}}}")
			if got := handPaging(o.Pagination); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if o.Pagination != nil && !o.Paged() {
				t.Error("the contract does not page")
			}
		})
	}
}

func TestPagingTexts(t *testing.T) {
	for text, want := range map[string]string{
		"Results per page (max 100)": "max=100", "The value must be between 1 and 100.": "max=100",
		"page size, maximum page size is 50": "max=50", "Up to 25 items, the default is 10": "max=25 def=10",
		"Defaults to 20. No more than 200": "max=200 def=20", "How many": "", "maximum": "", "1 to 40": "max=40",
	} {
		o, _, _ := one(t, "get", "/users", "operationId: listUsers\nparameters: [{name: page, in: query, schema: {type: integer}}, {name: per_page, in: query, description: '"+text+"', schema: {type: integer}}]\n"+
			"responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {type: object}}}}}}")
		if got := strings.TrimSpace(strings.TrimPrefix(handPaging(o.Pagination), "page at=page size=per_page")); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestAuth(t *testing.T) {
	const spec = `openapi: 3.1.0
info: {title: Shop, version: '1'}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    cookie: {type: apiKey, in: cookie, name: sid}
    basic: {type: http, scheme: basic}
    jwt: {type: http, scheme: bearer, bearerFormat: JWT}
    token: {type: http, scheme: bearer}
    oidc: {type: openIdConnect, openIdConnectUrl: 'https://id.example/.well-known/openid-configuration'}
    mtls: {type: mutualTLS}
    service: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://id.example/token', scopes: {read: r}}}}
    user: {type: oauth2, flows: {authorizationCode: {authorizationUrl: 'https://id.example/auth', tokenUrl: 'https://id.example/token', scopes: {read: r}}}}
security: [{key: []}]
paths:
  /a:
    get: {operationId: inherits, responses: {'200': {description: ok}}}
`
	tests := []struct{ security, want, code string }{
		{"", `{"type":"api_key","scopes":[],"credentialProfile":"key","principal":"service","carrier":{"in":"header","name":"X-Key"},"secretSource":"env"}`, ""},
		{"[]", `{"type":"none","scopes":[],"principal":"anonymous","secretSource":"none"}`, ""},
		{"[{basic: []}]", `{"type":"basic","scopes":[],"credentialProfile":"basic","principal":"service","carrier":{"in":"header","name":"Authorization","scheme":"Basic"},"secretSource":"env"}`, ""},
		{"[{jwt: []}]", `{"type":"jwt_bearer"`, ""},
		{"[{token: []}]", `{"type":"custom_header"`, ""},
		{"[{mtls: []}]", `{"type":"mtls"`, ""},
		{"[{cookie: []}]", `{"type":"api_key","scopes":[],"credentialProfile":"cookie","principal":"service","secretSource":"env"}`, "auth/carrier"},
		{"[{oidc: [read, write]}]", `{"type":"oauth2_authorization_code","scopes":["read","write"],"credentialProfile":"oidc","principal":"end_user","issuer":"https://id.example"`, ""},
		{"[{service: [read]}]", `{"type":"oauth2_client_credentials","scopes":["read"],"credentialProfile":"service","principal":"service","secretSource":"env","provider":{"tokenEndpoint":"https://id.example/token","grant":"client_credentials"}}`, ""},
		{"[{user: [read]}, {basic: []}]", `{"type":"oauth2_authorization_code","scopes":["read"]`, "auth/alternatives"},
		{"[{}, {basic: []}]", `{"type":"basic"`, "auth/optional"},
		{"[{key: [], user: [read]}]", `{"type":"api_key","scopes":["read"]`, "auth/combined"},
		{"[{nothing: []}]", `{"type":"none"`, "auth/unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.security, func(t *testing.T) {
			text := spec
			if tt.security != "" {
				text = strings.Replace(text, "operationId: inherits,", "operationId: own, security: "+tt.security+",", 1)
			}
			doc, diags := compiled(t, text, nil)
			if got := doc.Operations[0].Tree().Get("auth").String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if tt.code != "" && !hasCode(diags, tt.code) {
				t.Errorf("no diagnostic %s in %v", tt.code, diags)
			}
		})
	}
}

func TestErrorsAndVendorCodes(t *testing.T) {
	o, _, _ := one(t, "post", "/orders", `operationId: createOrder
responses:
  '201': {description: made, headers: {Location: {schema: {type: string}}, Content-Type: {schema: {type: string}}}}
  '202': {description: later, headers: {location: {schema: {type: string}}, X-Job: {schema: {type: string}}}}
  '409':
    description: "Twice.\nMore text."
    content:
      application/json:
        examples:
          a: {value: {error: {code: duplicate, message: x}}}
          b: {value: {error: {code: locked}}}
  '422': {description: no, content: {application/json: {example: {errors: [{code: 1204}]}}}}
  '429': {description: slow, content: {application/json: {schema: {type: object, properties: {code: {type: string, enum: [too_fast]}}}}}}
  '4XX': {description: other}
  default: {description: broken}`)
	var got []string
	for _, e := range o.Errors {
		got = append(got, fmt.Sprintf("%d %s %s %q", e.HTTPStatus, e.Code, e.UpstreamCode, e.Message))
	}
	want := `409 conflict duplicate "Twice."; 409 conflict locked "Twice."; 422 validation_error 1204 "no"; 429 rate_limited too_fast "slow"`
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got %s\nwant %s", s, want)
	}
	if fmt.Sprint(o.SuccessStatuses, o.OutputHeaders) != "[201 202] [Location X-Job]" {
		t.Errorf("got %v %v", o.SuccessStatuses, o.OutputHeaders)
	}
}

func TestBodies(t *testing.T) {
	body := func(content string) string {
		return "operationId: createUser\nresponses: {'201': {description: made}}\nparameters: [{name: name, in: query, schema: {type: string}}]\nrequestBody: {required: true, content: {" + content + "}}"
	}
	tests := []struct{ name, content, want string }{
		{"fields", "application/json: {schema: {type: object, required: [age], properties: {age: {type: integer}, nick: {type: string}}}}", "application/json fields age!,nick"},
		{"clash", "application/json: {schema: {type: object, properties: {name: {type: string}}}}", "application/json fields name=body_name"},
		{"open", "application/json: {schema: {type: object, additionalProperties: true, properties: {age: {type: integer}}}}", "application/json whole "},
		{"choice", "application/json: {schema: {oneOf: [{type: object, properties: {a: {type: string}}}]}}", "application/json whole "},
		{"array", "application/json: {schema: {type: array, items: {type: string}}}", "application/json whole "},
		{"parts", "application/json: {schema: {allOf: [{type: object, required: [a], properties: {a: {type: string}}}, {type: object, properties: {b: {type: string}}}]}}", "application/json fields a!,b"},
		{"two fields, one key", "application/json: {schema: {type: object, properties: {userId: {type: string}, user_id: {type: string}}}}", "application/json whole "},
		{"json first", "text/plain: {schema: {type: string}}, application/vnd.api+json; charset=utf-8: {schema: {type: object, properties: {a: {type: string}}}}", "application/vnd.api+json fields a"},
		{"form", "application/x-www-form-urlencoded: {schema: {type: object, additionalProperties: true, properties: {a: {type: string}}}}", "application/x-www-form-urlencoded fields a"},
		{"text", "text/plain: {schema: {type: string}}", "text/plain whole "},
		{"read only", "application/json: {schema: {type: object, required: [id], properties: {id: {type: string, readOnly: true}}}}", "application/json fields id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _, _ := one(t, "post", "/users", body(tt.content))
			projection := "fields"
			if o.Body.Whole {
				projection = "whole"
			}
			var fields []string
			for _, f := range o.Body.Fields {
				s := f.Name
				if f.Key != air.SnakeCase(f.Name) {
					s += "=" + f.Key
				}
				if f.Required {
					s += "!"
				}
				fields = append(fields, s)
			}
			if got := o.Body.ContentType + " " + projection + " " + strings.Join(fields, ","); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// OpenAPI's default style is written out where the contract's own default would
// not read the value: for objects.
func TestObjectParamStyle(t *testing.T) {
	const params = `
operationId: getThing
responses: {'200': {description: ok}}
parameters:
- {name: id, in: path, required: true, schema: {type: object, properties: {a: {type: integer}}}}
- {name: filter, in: query, schema: {type: object, nullable: true, properties: {a: {type: integer}}}}
- {name: listed, in: query, schema: {type: [object, 'null'], properties: {b: {type: integer}}}}
- {name: X-Map, in: header, schema: {type: object, properties: {a: {type: integer}}}}
- {name: ck, in: cookie, schema: {allOf: [{type: object, properties: {a: {type: integer}}}]}}
- {name: flat, in: query, explode: false, schema: {type: object, properties: {a: {type: integer}}}}
- {name: deep, in: query, style: deepObject, schema: {type: object, properties: {a: {type: integer}}}}
- {name: ids, in: query, schema: {type: array, items: {type: integer}}}
- {name: q, in: query, schema: {type: string}}
`
	want := map[string]string{"id": "simple", "filter": "form", "listed": "form", "X-Map": "simple", "ck": "form", "flat": "", "deep": "deepObject", "ids": "", "q": ""}
	op, _, _ := one(t, "get", "/things/{id}", params)
	if len(op.Params) != len(want) {
		t.Fatalf("%d parameters, want %d", len(op.Params), len(want))
	}
	for _, p := range op.Params {
		if p.Style != want[p.Name] {
			t.Errorf("%s: style %q, want %q", p.Name, p.Style, want[p.Name])
		}
		if explodes := p.Explode != nil; explodes != (p.Name == "flat") {
			t.Errorf("%s: explode is written: %v", p.Name, explodes)
		}
	}
}

// How a form's arrays are spelled in the contract: as the description says, and by
// Swagger's default.
func TestFormStyles(t *testing.T) {
	const array = "{type: array, items: {type: string}}"
	o, _, _ := one(t, "post", "/x", `
operationId: x
responses: {'200': {description: ok}}
requestBody:
  content:
    application/x-www-form-urlencoded:
      encoding: {a: {style: form, explode: false}, b: {explode: false}, c: {style: spaceDelimited}, d: {style: pipeDelimited, explode: true}, e: {style: form}, f: {style: deepObject}, g: {contentType: text/plain}}
      schema: {type: object, properties: {a: `+array+", b: "+array+", c: "+array+", d: "+array+", e: "+array+", f: "+array+", g: "+array+`}}
`)
	doc, _ := compiled(t, `
swagger: '2.0'
info: {title: Shop API, version: '1'}
paths:
  /x:
    post:
      operationId: x
      responses: {'200': {description: ok}}
      parameters:
      - {name: csv, in: formData, type: array, items: {type: string}, collectionFormat: csv}
      - {name: usual, in: formData, type: array, items: {type: string}}
      - {name: ssv, in: formData, type: array, items: {type: string}, collectionFormat: ssv}
      - {name: multi, in: formData, type: array, items: {type: string}, collectionFormat: multi}
      - {name: text, in: formData, type: string}
`, nil)
	var got []string
	for _, f := range append(o.Body.Fields, doc.Operations[0].Body.Fields...) {
		got = append(got, fmt.Sprint(f.Name, " ", f.Style, " ", f.Explode != nil && !*f.Explode))
	}
	want := []string{
		"a form true", "b form true", "c spaceDelimited true", "d  false", "e  false", "f deepObject false", "g  false",
		"csv form true", "usual form true", "ssv spaceDelimited true", "multi  false", "text  false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
