package compile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
)

const shop = `openapi: 3.0.3
info: {title: Shop API, version: '1'}
tags: [{name: orders, description: What people buy.}]
paths:
  /orders:
    get:
      operationId: listOrders
      tags: [orders]
      parameters: [{name: page, in: query, schema: {type: integer}}, {name: limit, in: query, schema: {type: integer, maximum: 100}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Order'}}}}}}
    post:
      operationId: createOrder
      tags: [orders]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: {'201': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}
  /orders/{id}:
    get:
      operationId: getOrder
      tags: [orders]
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}
  /health: {get: {operationId: health, responses: {'200': {description: ok}}}}
  /broken/{id: {get: {operationId: broken, responses: {'200': {description: ok}}}}
components:
  schemas:
    Order: {type: object, required: [total], properties: {total: {type: integer}, buyer: {$ref: '#/components/schemas/Buyer'}}}
    Buyer: {type: object, properties: {name: {type: string}}}
`

func shopBundle(t *testing.T, text string) *compile.Bundle {
	t.Helper()
	r, err := compile.CompileText("shop.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Bundle()
}

func states(b *compile.Bundle) map[string]string {
	out := map[string]string{}
	for _, o := range b.Tree.Get("operations").Elems() {
		out[o.Get("id").Text()] = o.Get("state").Text()
	}
	return out
}

// An approval holds for the bytes that were approved: a change of the operation,
// or of a schema that it reaches, undoes it.
func TestApproval(t *testing.T) {
	b := shopBundle(t, shop)
	done, err := b.Approve(compile.Selection{Reads: true}, "Ada")
	if err != nil || !slices.Equal(done, []string{"shop.list_orders", "shop.get_order", "shop.health"}) {
		t.Fatalf("approved %v (%v)", done, err)
	}
	if s := states(b); s["shop.create_order"] != "review_required" || s["shop.broken"] != "blocked" || s["shop.health"] != "approved" {
		t.Errorf("states %v", s)
	}
	if stale := b.Stale(); len(stale) != 0 {
		t.Errorf("stale %v", stale)
	}
	same := shopBundle(t, shop)
	same.Carry(b.Approvals)
	if s := states(same); s["shop.list_orders"] != "approved" || s["shop.get_order"] != "approved" || len(same.Approvals) != 3 {
		t.Errorf("the same bytes: %v, %v", s, same.Approvals)
	}
	deep := shopBundle(t, strings.Replace(shop, "{name: {type: string}}}", "{name: {type: string, maxLength: 9}}}", 1))
	deep.Carry(b.Approvals)
	if s := states(deep); s["shop.list_orders"] != "review_required" || s["shop.get_order"] != "review_required" || s["shop.health"] != "approved" {
		t.Errorf("a schema that is reached changed: %v", s)
	}
	if !hasCode(deep.Diagnostics, "approval/stale") {
		t.Errorf("no diagnostic: %v", deep.Diagnostics)
	}
	gone := shopBundle(t, strings.Replace(shop, "operationId: health", "operationId: wealth", 1))
	gone.Carry(b.Approvals)
	if !hasCode(gone.Diagnostics, "approval/gone") {
		t.Errorf("no diagnostic: %v", gone.Diagnostics)
	}
}

func TestApprovalRefused(t *testing.T) {
	b := shopBundle(t, shop)
	var unknown *compile.UnknownError
	if _, err := b.Approve(compile.Selection{IDs: []string{"shop.list_order"}}, "Ada"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "did you mean shop.list_orders?") {
		t.Errorf("got %v", err)
	}
	if _, err := b.Approve(compile.Selection{IDs: []string{"shop.broken"}}, "Ada"); err == nil || !strings.Contains(err.Error(), "blocked") {
		t.Errorf("got %v", err)
	}
	if _, err := b.Approve(compile.Selection{All: true}, " "); err == nil {
		t.Error("approved by nobody")
	}
	done, err := b.Approve(compile.Selection{All: true}, "Ada")
	if err != nil || slices.Contains(done, "shop.broken") || len(done) != 4 {
		t.Errorf("approved %v (%v)", done, err)
	}
}

// A bundle is written whole or not at all, and never over something else.
func TestBundleWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "bundle")
	b := shopBundle(t, shop)
	if _, err := b.Approve(compile.Selection{Reads: true}, "Ada"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := air.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if served, err := doc.Served("shop.orders"); err != nil || len(served) != 2 {
		t.Errorf("served %v (%v)", served, err)
	}
	findings, err := compile.Lint(dir)
	if err != nil || len(findings) != 0 {
		t.Errorf("findings %v (%v)", findings, err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "precious.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := b.Write(other); err == nil || !strings.Contains(err.Error(), "no bundle") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("%v is left beside the bundle (%v)", left, err)
	}
}

// Lint finds what was changed behind the commands' back.
func TestLint(t *testing.T) {
	tests := []struct {
		name, file, old, now, code string
	}{
		{"state by hand", "air.yaml", "state: review_required", "state: approved", "approval/stale"},
		{"approved bytes changed", "air.yaml", "maximum: 100", "maximum: 900", "approval/stale"},
		{"twins differ", "air.json", `"maximum":100`, `"maximum":900`, "bundle/twins_differ"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "bundle")
			b := shopBundle(t, shop)
			if _, err := b.Approve(compile.Selection{Reads: true}, "Ada"); err != nil {
				t.Fatal(err)
			}
			if err := b.Write(dir); err != nil {
				t.Fatal(err)
			}
			edit(t, filepath.Join(dir, tt.file), tt.old, tt.now)
			findings, err := compile.Lint(dir)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(findings, func(f compile.Finding) bool { return f.Code == tt.code && f.Level == "error" }) {
				t.Errorf("no %s in %v", tt.code, findings)
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	if err := shopBundle(t, shop).Write(dir); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(dir, "source", "shop.yaml"), "Shop", "Stop")
	if _, err := compile.Lint(dir); err == nil || !strings.Contains(err.Error(), "compile the bundle again") {
		t.Errorf("a changed source: %v", err)
	}
}

func edit(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s has no %q (%v)", path, old, err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(now), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestManifest(t *testing.T) {
	m, err := compile.ParseManifest("anvil.yaml", []byte(`
service: {id: store, version: "7", display_name: Store, servers: [{url: 'https://store.example'}]}
operations:
  createOrder:
    id: store.orders.create
    idempotency: {mode: required, mechanism: header, key: Idempotency-Key}
    effect: {risk: financial, reversible: false}
    errors: [{code: conflict, http_status: 409, vendor_code: twice, message: Ordered already}]
    success_statuses: [202]
    body: {projection: whole}
  GET /orders:
    pagination: {style: cursor, cursor_param: after, next_field: meta.next}
    auth: {type: api_key, scopes: [orders], carrier: {in: header, name: X-Key}}
  store.health: {state: blocked, capability: ops}
  getOrder: {effect: {kind: mutation, action: execute}, confirmation: {required: true, human_approval: true, reason: Because}}
`))
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := compiled(t, shop, &compile.Options{Manifest: m, Approve: "all"})
	if doc.Service.ID != "store" || doc.Service.Version != "7" || doc.Service.Servers[0] != "https://store.example" {
		t.Errorf("service %+v", doc.Service)
	}
	byID := map[string]*air.Operation{}
	for _, o := range doc.Operations {
		byID[o.ID] = o
	}
	create := byID["store.orders.create"]
	if create == nil || create.ToolName != "store_orders_create" || !create.Body.Whole || create.SuccessStatuses[0] != 202 {
		t.Fatalf("create %+v", create)
	}
	// What follows from a stated value is worked out again.
	if got := create.Tree().Get("retries").Get("basis").Text(); got != "idempotency_key" || create.Carrier() == nil {
		t.Errorf("retries %s, carrier %v", got, create.Carrier())
	}
	if got := create.Tree().Get("confirmation").String(); got != `{"required":true,"risk":"financial","reason":"This moves money."}` {
		t.Errorf("confirmation %s", got)
	}
	if e := create.Errors; len(e) != 1 || e[0].UpstreamCode != "twice" || e[0].HTTPStatus != 409 {
		t.Errorf("errors %+v", e)
	}
	list := byID["store.list_orders"]
	if got := handPaging(list.Pagination); got != "cursor at=after size=limit next=meta.next max=100" || list.Auth.Type != "api_key" || list.Auth.Carrier.Name != "X-Key" {
		t.Errorf("paging %s, auth %+v", got, list.Auth)
	}
	if h := byID["store.health"]; h.State != "blocked" || h.Tree().Get("capabilityId").Text() != "store.ops" {
		t.Errorf("health %s %s", h.State, h.Tree().Get("capabilityId"))
	}
	get := byID["store.get_order"]
	if got := get.Tree().Get("effect").String(); get.Idempotency.Mode != "none" || !strings.HasPrefix(got, `{"kind":"mutation","action":"execute"`) {
		t.Errorf("effect %s, repeats %s", got, get.Idempotency.Mode)
	}
	if got := get.Tree().Get("confirmation").String(); got != `{"required":true,"humanApproval":true,"reason":"Because"}` {
		t.Errorf("confirmation %s", got)
	}
}

func TestManifestFaults(t *testing.T) {
	tests := []struct{ text, want string }{
		{"operatoins: {}", "operatoins: an unknown key, want one of operations, service (did you mean operations?)"},
		{"operations: {listOrder: {}}", `unknown operation "listOrder" (did you mean listOrders?)`},
		{"operations: {listOrders: {}, shop.list_orders: {}}", "are the same"},
		{"operations: {listOrders: {pagination: {style: curser}}}", `operations.listOrders.pagination.style: found "curser", want one of cursor, page, offset, link (did you mean cursor?)`},
		{"operations: {listOrders: {pagination: {max_page_size: 0}}}", "found 0, want a whole number from 1"},
		{"operations: {listOrders: {effect: 7}}", "operations.listOrders.effect: found a number, want an object"},
		{"operations: {listOrders: {id: shop.health}}", "the id shop.health is that of GET /orders and of GET /health"},
		{"operations: {listOrders: {state: approved}}", "want one of blocked, deprecated, review_required"},
		{"[]", "the file: found an array, want an object"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			m, err := compile.ParseManifest("anvil.yaml", []byte(tt.text))
			if err == nil {
				_, err = compile.CompileText("shop.yaml", []byte(shop), &compile.Options{Manifest: m})
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestProfile(t *testing.T) {
	tests := []struct{ text, served, fault string }{
		{"{id: p, all: true}", "shop.list_orders shop.create_order shop.get_order shop.health", ""},
		{"{id: p, operations: [shop.health]}", "shop.health", ""},
		{"{id: p, operations: [health]}", "shop.health", ""},
		{"{id: p, tags: [orders]}", "shop.list_orders shop.create_order shop.get_order", ""},
		{"{id: p, paths: [/orders]}", "shop.list_orders shop.create_order", ""},
		{"{id: p, paths: [/orders/*]}", "shop.list_orders shop.create_order shop.get_order", ""},
		{"{id: p}", "", "profile.yaml: it selects nothing, and nothing would be served; want all: true, or a list under operations, tags or paths"},
		{"{id: p, all: false, tags: []}", "", "it selects nothing"},
		{"{id: p, tags: [order]}", "", `unknown tag "order" (did you mean orders?)`},
		{"{id: p, paths: [/nope]}", "", "unknown path"},
		{"{all: true}", "", "id: missing"},
		{"{id: p, tag: [x]}", "", "did you mean tags?"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			p, err := compile.ParseProfile("profile.yaml", []byte(tt.text))
			var r *compile.Result
			if err == nil {
				r, err = compile.CompileText("shop.yaml", []byte(shop), &compile.Options{Profile: p, Approve: "all"})
			}
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("got %v, want %s", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			doc, err := r.Document()
			if err != nil {
				t.Fatal(err)
			}
			served, err := doc.Served("")
			var ids []string
			for _, o := range served {
				ids = append(ids, o.ID)
			}
			if got := strings.Join(ids, " "); err != nil || got != tt.served {
				t.Errorf("served %q, want %q (%v)", got, tt.served, err)
			}
		})
	}
}

func TestInspect(t *testing.T) {
	p, err := compile.ParseProfile("p.yaml", []byte("{id: p, tags: [orders]}"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := compile.CompileText("shop.yaml", []byte(shop), &compile.Options{Profile: p, Approve: "reads"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := r.Document()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"", "a reviewer must approve it", "", "the exposure profile leaves it out", "blocked: the path /broken/{id has braces that do not match; the operation cannot be served"}
	for i, row := range compile.Inspect(doc) {
		if row.Why != want[i] || row.Served != (want[i] == "") {
			t.Errorf("%s: %q, want %q", row.ID, row.Why, want[i])
		}
	}
}

func TestDrift(t *testing.T) {
	tests := []struct{ name, old, now, want string }{
		{"nothing", "", "", ""},
		{"text", "description: What people buy.", "description: Things.", ""},
		{"new parameter", "{name: page, in: query, schema: {type: integer}}", "{name: page, in: query, schema: {type: integer}}, {name: sort, in: query, schema: {type: string}}", "additive shop.list_orders: input.sort is new"},
		{"required parameter", "{name: page, in: query,", "{name: page, in: query, required: true,", "breaking shop.list_orders: input.page is required now"},
		{"smaller bound", "maximum: 100", "maximum: 10", "breaking shop.list_orders: input.limit: maximum changed|breaking shop.list_orders: paging: page at=page size=limit became page at=page size=limit"},
		{"property gone", "total: {type: integer}, buyer", "buyer", "breaking shop.list_orders: output[].total is gone|breaking shop.create_order: input.total is gone|breaking shop.create_order: output.total is gone|breaking shop.get_order: output.total is gone"},
		{"type", "total: {type: integer}", "total: {type: string}", "breaking shop.list_orders: output[].total: the type \"integer\" became \"string\"|breaking shop.create_order: input.total: the type \"integer\" became \"string\"|breaking shop.create_order: output.total: the type \"integer\" became \"string\"|breaking shop.get_order: output.total: the type \"integer\" became \"string\""},
		{"gone", "  /health: {get: {operationId: health, responses: {'200': {description: ok}}}}\n", "", "breaking shop.health: the operation is gone"},
		{"new", "  /health:", "  /wealth: {get: {operationId: wealth, responses: {'200': {description: ok}}}}\n  /health:", "additive shop.wealth: a new operation"},
		{"moved", "  /health:", "  /healthz:", "safety-sensitive shop.health: effect.resource: \"health\" became \"healthz\"|breaking shop.health: GET /health became GET /healthz"},
		{"status", "'201'", "'202'", "breaking shop.create_order: success statuses: [201] became [202]"},
		{"scope", "operationId: health", "security: [{k: [x]}], operationId: health", "safety-sensitive shop.health: auth.type"},
	}
	before, _ := compiled(t, shop, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := shop + "  securitySchemes: {k: {type: oauth2, flows: {}}}\n"
			if tt.old != "" {
				if !strings.Contains(text, tt.old) {
					t.Fatalf("no %q in the description", tt.old)
				}
				text = strings.Replace(text, tt.old, tt.now, 1)
			}
			after, _ := compiled(t, text, nil)
			got := map[string]bool{}
			for _, c := range compile.Drift(before, after) {
				if c.Severity > compile.Compatible {
					got[c.Severity.String()+" "+c.Operation+": "+c.What] = true
				}
			}
			if tt.want == "" && len(got) > 0 {
				t.Errorf("got %v", got)
			}
			for _, want := range strings.Split(tt.want, "|") {
				found := want == ""
				for g := range got {
					found = found || strings.HasPrefix(g, want)
				}
				if !found {
					t.Errorf("no %q in %v", want, got)
				}
			}
		})
	}
	// A contract does not differ from itself.
	for _, name := range []string{"openapi3/box-2025.json.gz", "swagger2/uber.v1.json.gz"} {
		a, err := compile.Document(filepath.Join(specDir, name), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := compile.Drift(a, a); len(c) != 0 {
			t.Errorf("%s: %v", name, c)
		}
	}
}
