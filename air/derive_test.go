package air_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

func TestSnakeCase(t *testing.T) {
	for in, want := range map[string]string{
		"userId": "user_id", "user-id": "user_id", "UserID": "user_id", "HTMLBody": "html_body", "a.b": "a_b", "v2": "v2",
		"v2Beta": "v2_beta", "aBCd": "a_b_cd", "ABC": "abc", "A": "a", "": "", "--x--": "x", "__a__b__": "a_b", "Query Text": "query_text",
		"$top": "top", "filter[a]": "filter_a", "é": "", "naïveName": "na_ve_name", "X-Request-ID": "x_request_id", "OAuth2Token": "o_auth2_token",
	} {
		if got := air.SnakeCase(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// operation parses a contract of one operation and returns the operation.
// Replacements are pairs of old and new text.
func operation(t *testing.T, replacements ...string) *air.Operation {
	t.Helper()
	d, err := air.Parse("c.yaml", []byte(strings.NewReplacer(replacements...).Replace(contract(rest))))
	if err != nil {
		t.Fatal(err)
	}
	return d.Operations[0]
}

func TestKind(t *testing.T) {
	for _, tt := range []struct {
		effect, path, method, statuses, pagination string
		want                                       string
		paged                                      bool
	}{
		{"read, action: get", "/a", "get", "", "", "read", false},
		{"read", "/a", "get", "", "", "read", false},
		{"read, action: list", "/a", "get", "", "", "list", true},
		{"read, action: search", "/a", "get", "", "", "search", false},
		{"read, action: search", "/a", "get", "", "x", "search", true},
		{"read, action: export", "/a", "get", "", "x", "list", true},
		{"mutation, action: create", "/a", "post", "201", "", "create", false},
		{"mutation, action: update", "/a", "patch", "", "", "update", false},
		{"mutation, action: replace", "/a", "put", "", "", "update", false},
		{"mutation, action: delete", "/a", "delete", "204", "", "delete", false},
		{"mutation, action: send", "/a", "post", "", "", "action", false},
		{"mutation", "/a", "post", "", "", "action", false},
		{"mutation, action: create", "/a/{id}/moves", "post", "204", "", "action", false},
		{"mutation, action: create", "/a/{id}/moves/", "post", "204", "", "action", false},
		{"mutation, action: create", "/a/{id}/moves", "post", "200, 204", "", "create", false},
		{"mutation, action: create", "/a/{id}/moves", "put", "204", "", "create", false},
		{"mutation, action: create", "/a/moves", "post", "204", "", "create", false},
		{"mutation, action: create", "/a/{id}", "post", "204", "", "create", false},
		{"mutation, action: create", "/moves", "post", "204", "", "create", false},
	} {
		extra := "output: {successStatuses: [" + tt.statuses + "]}"
		if tt.pagination != "" {
			extra += "\n    pagination: {style: cursor}"
		}
		o := operation(t, "{kind: read}", "{kind: "+tt.effect+"}", "/pets/{id}", tt.path, "method: get", "method: "+tt.method, "skill: {}", "skill: {}\n    "+extra)
		if o.Kind() != tt.want || o.Paged() != tt.paged {
			t.Errorf("%+v: %s, paged %v", tt, o.Kind(), o.Paged())
		}
	}
}

func TestProtocol(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   air.Protocol
	}{
		{"kind: openapi", air.HTTPJSON}, {"kind: swagger", air.HTTPJSON}, {"kind: discovery", air.HTTPJSON}, {"kind: postman", air.HTTPJSON},
		{"kind: odata", air.HTTPJSON}, {"kind: har", air.HTTPJSON}, {"kind: mcp", air.MCPTool}, {"kind: wsdl", air.SOAP},
		{"kind: graphql", air.GraphQL}, {"kind: protobuf", air.GRPC},
		{"kind: graphql, binding: {protocol: graphql, document: d, operationName: o, rootField: f}", air.GraphQL},
		{"kind: graphql, binding: {protocol: graphql_sse, document: d, operationName: o, rootField: f}", air.EventStream},
		{"kind: protobuf, binding: {protocol: grpc, service: s, method: m, transport: json_transcoded}", air.GRPC},
		{"kind: protobuf, binding: {protocol: grpc, service: s, method: m, transport: http_rule}", air.HTTPJSON},
	} {
		o := operation(t, `kind: openapi, path: "/pets/{id}", method: get`, tt.source)
		if got := o.Protocol(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.source, got, tt.want)
		}
	}
}

func TestCarrier(t *testing.T) {
	const input = `{params: [{name: rid, in: query}, {name: pid, in: path}], body: {schema: {properties: {meta: {allOf: [{properties: {a/b: {type: string}}}]}}}, projection: fields, fields: [{name: key}, {name: meta}]}}`
	for _, tt := range []struct{ idempotency, want string }{
		{"mode: none, mechanism: header, key: K", "none"},
		{"mode: natural, mechanism: header, key: K", "none"},
		{"mode: client_id, mechanism: header, key: K", "none"},
		{"mode: required, mechanism: header, key: Idempotency-Key", "header Idempotency-Key []"},
		{"mode: key_supported, mechanism: header, key: X-K", "header X-K []"},
		{"mode: required, mechanism: header, key: Content-Type", "none"},
		{"mode: required, mechanism: header, key: HOST", "none"},
		{"mode: required, mechanism: header, key: 'a b'", "none"},
		{"mode: required, mechanism: header", "none"},
		{"mode: required, mechanism: query, key: rid", "query rid []"},
		{"mode: required, mechanism: query, key: pid", "none"},
		{"mode: required, mechanism: path, key: pid", "path pid []"},
		{"mode: required, mechanism: body, key: key", "body key []"},
		{"mode: required, mechanism: body, key: other", "none"},
		{"mode: required, mechanism: body, key: /meta/a~1b", "body /meta/a~1b [meta a/b]"},
		{"mode: required, mechanism: body, key: /meta/x", "none"},
		{"mode: required, mechanism: body, key: /key", "body /key [key]"},
		{"mode: required, mechanism: none, key: key", "none"},
	} {
		o := operation(t, "input: {}", "input: "+input, "{mode: none}", "{"+tt.idempotency+"}")
		got := "none"
		if c := o.Carrier(); c != nil {
			got = fmt.Sprint(c.In, " ", c.Name, " ", c.Pointer)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.idempotency, got, tt.want)
		}
	}
	o := operation(t, "input: {}", "input: "+input, "{mode: none}", "{mode: required, mechanism: body, key: /key}")
	if !o.Carrier().Carries("body", "key") || o.Carrier().Carries("query", "key") || (*air.Carrier)(nil).Carries("body", "key") {
		t.Error("Carries is wrong about /key")
	}
}

func TestDerivedPageSize(t *testing.T) {
	for _, tt := range []struct {
		pagination string
		tokens     int
		size       int
		ok         bool
	}{
		{"", 0, 0, false},
		{"style: page", 100, 0, false},
		{"style: page, maxPageSize: 50, defaultPageSize: 20", 100, 50, true},
		{"style: page, defaultPageSize: 20", 100, 20, true},
		{"style: page, pageSizeParam: n", 0, 0, false},
		{"style: page, pageSizeParam: n, maxPageSize: 50", 0, 0, false},
		{"style: page, pageSizeParam: n, defaultPageSize: 20", 0, 20, true},
		{"style: page, pageSizeParam: n, defaultPageSize: 20, maxPageSize: 10", 0, 10, true},
		{"style: page, pageSizeParam: n, defaultPageSize: 20", 300, 26, true},
		{"style: page, pageSizeParam: n, maxPageSize: 25", 300, 25, true},
		{"style: page, pageSizeParam: n", 9000, 1, true},
	} {
		extra := fmt.Sprintf("skill: {}\n    disclosureCost: {toolTokens: 1, estimator: e, responseItemTokens: %d}", tt.tokens)
		if tt.pagination != "" {
			extra += "\n    pagination: {" + tt.pagination + "}"
		}
		size, ok := operation(t, "skill: {}", extra).DerivedPageSize()
		if size != tt.size || ok != tt.ok {
			t.Errorf("%+v: %d, %v", tt, size, ok)
		}
	}
}

func TestResourceNoun(t *testing.T) {
	for _, tt := range []struct{ effect, name, want string }{
		{"{kind: read, resource: pet}", "pets_get", "pet"},
		{"{kind: read}", "getPetOwner", "owner"},
		{"{kind: read}", "get", "get"},
	} {
		o := operation(t, "effect: {kind: read}", "effect: "+tt.effect, "canonicalName: pets_get", "canonicalName: "+tt.name)
		if got := o.ResourceNoun(); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestAgentKeys(t *testing.T) {
	o := operation(t, "input: {}", "input: {params: [{name: userID, in: query}, {name: q, agentName: Query Text, in: query, explode: false, style: form}], "+
		"body: {projection: fields, fieldNameMatch: case_insensitive, fields: [{name: a.b}, {name: x, agentName: theX}]}}")
	got := []string{o.Params[0].Key, o.Params[1].Key, o.Body.Fields[0].Key, o.Body.Fields[1].Key}
	if want := []string{"user_id", "query_text", "a_b", "the_x"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	if o.Params[0].Explode != nil || o.Params[1].Explode == nil || *o.Params[1].Explode || o.Params[1].Style != "form" {
		t.Errorf("params %+v, %+v", o.Params[0], o.Params[1])
	}
	if o.Body.Whole || !o.Body.AnyCase || o.Params[0].Schema.String() != `{"type":"string"}` {
		t.Errorf("body %+v, schema %s", o.Body, o.Params[0].Schema)
	}
}

// served is a contract of four operations, one of which is not approved.
func served(profile string) string {
	src := strings.Replace(contract(rest), "{kind: openapi}", "{kind: openapi"+profile+"}", 1)
	head, op, _ := strings.Cut(src, "operations:\n")
	out := head + "operations:\n"
	for _, id := range []string{"d", "b", "a", "c"} {
		out += strings.Replace(op, "svc.pets.get", "svc."+id, 1)
	}
	out = strings.Replace(out, "svc.c\n", "svc.c\n    x: 1\n", 1)
	i := strings.LastIndex(out, "approved")
	out = out[:i] + "review_required" + out[i+len("approved"):]
	return out + "capabilities: [{id: svc.one, displayName: One, operationIds: [svc.b, svc.c, svc.d]}, {id: svc.none, displayName: None}]\n"
}

func TestServed(t *testing.T) {
	const profile = `, profile: {id: p, digest: d, unexposed: compile, sourceOperations: 9, exposedOperations: [svc.a, svc.b, svc.c], schemaBounds: {maxRefDepth: 1, maxSchemaNodes: 1, inheritAllOf: true, fitToBudget: true}}`
	for _, tt := range []struct{ profile, capability, want string }{
		{"", "", "svc.d svc.b svc.a"},
		{"", "svc", "svc.d svc.b svc.a"},
		{"", "svc.one", "svc.d svc.b"},
		{"", "svc.none", ""},
		{profile, "", "svc.b svc.a"},
		{profile, "svc.one", "svc.b"},
		{"", "svc.on", `error: unknown capability "svc.on", want svc (the whole service) or a capability: svc.one, svc.none (did you mean svc.one?)`},
		{"", "zzzzzzzzz", `error: unknown capability "zzzzzzzzz", want svc (the whole service) or a capability: svc.one, svc.none`},
	} {
		d, err := air.Parse("c.yaml", []byte(served(tt.profile)))
		if err != nil {
			t.Fatal(err)
		}
		ops, err := d.Served(tt.capability)
		var got []string
		for _, o := range ops {
			got = append(got, o.ID)
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = "error: " + err.Error()
		}
		if text != tt.want {
			t.Errorf("%q: %s, want %s", tt.capability, text, tt.want)
		}
		if err != nil && d.SurfaceDigest(tt.capability) != "" {
			t.Error("a surface digest of an unknown capability")
		}
	}
	narrow, _ := air.Parse("c", []byte(served(profile)))
	wide, _ := air.Parse("c", []byte(served("")))
	if narrow.SurfaceDigest("") != wide.SurfaceDigest("svc") {
		t.Error("a profile narrows the surface digest")
	}
	if wide.SurfaceDigest("") == wide.SurfaceDigest("svc.one") {
		t.Error("a capability has the digest of the service")
	}
}

func TestResponse(t *testing.T) {
	const schemas = `schemas:
  Pet: {type: object, description: A pet., properties: {id: {type: string}, owner: {$ref: '#/components/schemas/Owner'}, twin: {$ref: '#/components/schemas/Pet'}}}
  Owner: {type: object, properties: {name: {type: string}, home: {$ref: '#/components/schemas/Home'}, pet: {$ref: '#/components/schemas/Pet'}}}
  Home: {properties: {street: {type: string}}}
  "a/b": {type: array, items: {$ref: '#/components/schemas/Home'}}
`
	const (
		home      = `{"properties":{"street":{"type":"string"}}}`
		homeStub  = `{"description":"Home, not written out here."}`
		ownerStub = `{"type":"object","description":"Owner, not written out here."}`
		petStub   = `{"type":"object","description":"A pet."}`
		pet       = `{"type":"object","description":"A pet.","properties":{"id":{"type":"string"},"owner":` + ownerStub + `,"twin":` + petStub + `}}`
		owner     = `{"type":"object","properties":{"name":{"type":"string"},"home":` + homeStub + `,"pet":` + petStub + `}}`
	)
	for _, tt := range []struct{ name, output, want string }{
		{"none", "{}", "null"},
		{"empty schema", "{schema: {}}", "null"},
		{"schema first", "{schema: {type: string}, schemaRef: Pet}", `{"type":"string"}`},
		{"one hop, then a stub", "{schema: {items: {$ref: '#/components/schemas/Pet'}}}", `{"items":` + pet + `}`},
		{"a root by name is no hop", "{schemaRef: Pet}", `{"type":"object","description":"A pet.","properties":{"id":{"type":"string"},"owner":` + owner + `,"twin":` + strings.Replace(pet, ownerStub, owner, 1) + `}}`},
		{"a pointer", "{schemaRef: '#/components/schemas/Home'}", home},
		{"a whole name", "{schemaRef: a/b}", `{"type":"array","items":` + home + `}`},
		{"an escaped name", "{schema: {$ref: '#/components/schemas/a~1b'}}", `{"type":"array","items":` + homeStub + `}`},
		{"a name resolved before is written out", "{schema: {anyOf: [{$ref: '#/components/schemas/Home'}, {$ref: '#/components/schemas/Owner'}]}}",
			`{"anyOf":[` + home + `,` + strings.Replace(owner, homeStub, home, 1) + `]}`},
		{"what does not resolve stays", "{schema: {$ref: '#/components/schemas/Nobody'}}", `{"$ref":"#/components/schemas/Nobody"}`},
		{"an unknown name", "{schemaRef: Nobody}", "null"},
		{"data is no schema", "{schema: {default: {$ref: '#/components/schemas/Pet'}, properties: {default: {$ref: '#/components/schemas/Home'}}}}",
			`{"default":{"$ref":"#/components/schemas/Pet"},"properties":{"default":` + home + `}}`},
	} {
		d, err := air.Parse("c.yaml", []byte(contract(rest+"    output: "+tt.output+"\n")+schemas))
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if got := d.Response(d.Operations[0]).String(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestResponseBudget(t *testing.T) {
	var names strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&names, "p%d: {type: object, description: d, properties: {a: {type: string}}}, ", i)
	}
	wide := "{schema: {properties: {" + names.String() + "}}}"
	d, err := air.Parse("c.yaml", []byte(contract(rest+"    output: "+wide+"\n")))
	if err != nil {
		t.Fatal(err)
	}
	properties := d.Response(d.Operations[0]).Get("properties")
	first, last := properties.Get("p0").String(), properties.Get("p2999").String()
	if want := `{"type":"object","description":"d","properties":{"a":{"type":"string"}}}`; first != want {
		t.Errorf("first %s, want %s", first, want)
	}
	if want := `{"type":"object","description":"d"}`; last != want {
		t.Errorf("last %s, want %s", last, want)
	}
	if len(properties.Members()) != 3000 {
		t.Errorf("%d properties", len(properties.Members()))
	}
}

func TestItemSchema(t *testing.T) {
	const array = "{type: array, items: {type: "
	for _, tt := range []struct{ schema, itemsField, path, want string }{
		{array + "string}}", "", "", `{"type":"string"}`},
		{array + "string}}", "rows", "", `{"type":"string"}`},
		{"{properties: {a: {type: string}, b: " + array + "string}}, c: " + array + "integer}}}}", "", "b", `{"type":"string"}`},
		{"{properties: {b: " + array + "string}}, c: " + array + "integer}}}}", "c", "c", `{"type":"integer"}`},
		{"{properties: {m: {properties: {c: " + array + "integer}}}}}}", "m.c", "m c", `{"type":"integer"}`},
		{"{properties: {'@a.b': " + array + "integer}}}}", "'@a.b'", "@a.b", `{"type":"integer"}`},
		{"{allOf: [{properties: {c: " + array + "integer}}}}], properties: {a: {type: string}}}", "", "c", `{"type":"integer"}`},
		{"{properties: {b: " + array + "string}}}}", "missing", "b", `{"type":"string"}`},
		{"{properties: {b: {type: string}}}", "rows.x", "rows x", "null"},
		{"{properties: {b: {type: string}}}", "", "", "null"},
		{"{}", "", "", "null"},
	} {
		pagination := "{style: page}"
		if tt.itemsField != "" {
			pagination = "{style: page, itemsField: " + tt.itemsField + "}"
		}
		d, err := air.Parse("c.yaml", []byte(contract(rest+"    output: {schema: "+tt.schema+"}\n    pagination: "+pagination+"\n")))
		if err != nil {
			t.Fatal(err)
		}
		path, _ := d.ItemsPath(d.Operations[0])
		if got := d.ItemSchema(d.Operations[0]).String(); got != tt.want || strings.Join(path, " ") != tt.path {
			t.Errorf("%s at %q: %s at %v, want %s at %s", tt.schema, tt.itemsField, got, path, tt.want, tt.path)
		}
	}
}

func TestProperties(t *testing.T) {
	s, err := canon.Parse([]byte(`{"allOf":[{"properties":{"c":1,"a":2},"allOf":[{"properties":{"d":3}}]},true],"properties":{"a":0,"b":0}}`), canon.Strict)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(air.Properties(s)), "[{a 2} {b 0} {c 1} {d 3}]"; got != want {
		t.Errorf("properties %s, want %s", got, want)
	}
}

// TestShared: a document answers several goroutines at once, and alike.
func TestShared(t *testing.T) {
	d, err := air.Load("testdata/digests/compiled-library-capability.yaml")
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]string, 8)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			answers[i] = d.ContractDigest() + d.SurfaceDigest("") + d.SurfaceDigest("library.loans")
			for _, o := range d.Operations {
				answers[i] += fmt.Sprintf("%p%p", d.Response(o), d.ItemSchema(o))
			}
		})
	}
	wg.Wait()
	for _, a := range answers[1:] {
		if a != answers[0] {
			t.Error("answers differ")
		}
	}
}
