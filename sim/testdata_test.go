package sim_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/trace"
)

// operation writes one operation of a contract; fields are lines of YAML, two
// spaces deep.
func operation(id, method, path, kind, action string, fields ...string) string {
	head := []string{
		"- id: desk." + id,
		"  canonicalName: " + strings.ReplaceAll(id, ".", "_"),
		"  displayName: " + id,
		"  sourceRef: {kind: openapi, path: '" + path + "', method: " + method + "}",
		"  effect: {kind: " + kind + ", action: " + action + ", resource: ticket}",
		"  retries: {mode: none}",
		"  cli: {command: x}",
		"  mcp: {toolName: desk_" + strings.ReplaceAll(id, ".", "_") + "}",
		"  skill: {}",
		"  state: approved",
	}
	text := strings.Join(append(head, fields...), "\n") + "\n"
	for _, d := range []struct{ key, line string }{
		{"\n  input:", "  input: {params: []}"}, {"\n  idempotency:", "  idempotency: {mode: none}"},
		{"\n  confirmation:", "  confirmation: {}"}, {"\n  auth:", "  auth: {type: none}"},
	} {
		if !strings.Contains(text, d.key) {
			text += d.line + "\n"
		}
	}
	return text
}

// deskContract has one operation for each gate.
func deskContract(t testing.TB) *air.Document {
	t.Helper()
	text := "service: {id: desk, version: '1', source: {kind: openapi}}\noperations:\n" +
		operation("tickets.list", "get", "/tickets", "read", "list",
			"  input: {params: [{name: status, in: query}, {name: limit, in: query, schema: {type: integer}}, {name: cursor, in: query}]}",
			"  auth: {type: oauth2_client_credentials, scopes: [tickets:read]}",
			"  pagination: {style: cursor, cursorParam: cursor, pageSizeParam: limit, maxPageSize: 50, defaultPageSize: 2}") +
		operation("tickets.get", "get", "/tickets/{ticketId}", "read", "get",
			"  input: {params: [{name: ticketId, in: path, required: true}]}",
			"  errors: [{code: not_found, upstream: {httpStatus: 410, code: GONE}, message: No such ticket.}, {code: conflict, upstream: {code: BUSY}}]") +
		operation("tickets.create", "post", "/tickets", "mutation", "create",
			"  input: {params: [], body: {projection: fields, required: true, fields: [{name: subject, required: true}, {name: assigneeId, schema: {type: integer}}]}}",
			"  auth: {type: oauth2_client_credentials, scopes: [tickets:write]}",
			"  idempotency: {mode: required, mechanism: header, key: Idempotency-Key}") +
		operation("tickets.purge", "post", "/tickets/purge", "mutation", "delete", "  confirmation: {required: true}") +
		operation("keys.get", "get", "/keys", "read", "get",
			"  input: {params: [{name: apiKey, in: query}, {name: q, in: query}]}",
			"  auth: {type: api_key, carrier: {in: query, name: apiKey}}")
	doc, err := air.Parse("desk.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// answers is a provider that is a function.
type answers func(ctx context.Context, req *provider.Request) (*provider.Response, error)

func (f answers) Invoke(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	return f(ctx, req)
}

// lines is a trace in memory.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(e *trace.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(e.AppendLine(nil))
	return nil
}

func newSim(t testing.TB, opts *sim.Options) *sim.Simulator {
	t.Helper()
	s, err := sim.New(deskContract(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
