package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/trace"
)

func TestInvokeBuiltInStore(t *testing.T) {
	s := newSim(t, &sim.Options{Seed: 7})
	got, err := s.Invoke(t.Context(), "desk_tickets_list", map[string]any{"status": "open"}, sim.CallContext{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := newSim(t, &sim.Options{Seed: 7}).Invoke(t.Context(), "desk_tickets_list", json.RawMessage(`{"status":"open"}`), sim.CallContext{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := string(got.AppendJSON(nil)), string(again.AppendJSON(nil)); a != b || !strings.HasPrefix(a, `{"ok":true,"output":{"items":[{"id":"ticket_`) {
		t.Errorf("two simulators of one seed answer\n%s\n%s", a, b)
	}
	if got.Page.Count != 2 || got.NextCursor == nil || *got.NextCursor != "2" {
		t.Errorf("page of %d, next %v: want 2 and 2", got.Page.Count, got.NextCursor)
	}
}

func TestNormalizedRequestInProcess(t *testing.T) {
	var trc lines
	s := newSim(t, &sim.Options{Trace: &trc, PageSize: 9, Provider: answers(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		return provider.PageOf([]int{1, 2}, "c2")
	})})
	out, err := s.Call(t.Context(), "desk_tickets_list", json.RawMessage(`{"status":"open","limit":5,"cursor":"c1"}`), sim.CallContext{TenantID: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	const normalized = `{"requestId":"r1","capabilityId":"desk","operationId":"desk.tickets.list","toolName":"desk_tickets_list","kind":"list","action":"list","resource":"ticket","method":"GET","pathTemplate":"/tickets","params":{"path":{},"query":{"status":"open","limit":5,"cursor":"c1"},"header":{},"cookie":{}},"body":null,"page":{"cursor":"c1","size":5},"principal":{"id":"admin","role":"admin","scopes":["tickets:read","tickets:write"]},"tenantId":"t1","idempotencyKey":null}`
	if string(out.Normalized) != normalized {
		t.Errorf("normalized\n%s\nwant\n%s", out.Normalized, normalized)
	}
	const want = `{"schema":"anvil.simulator.trace/v1","seq":1,"requestId":"r1","transport":"in_process","tool":"desk_tickets_list","operationId":"desk.tickets.list","request":{"input":{"status":"open","limit":5,"cursor":"c1"},"context":{"tenantId":"t1"}},"normalized":` + normalized + `,"provider":{"ok":true,"items":[1,2],"nextCursor":"c2"},"result":{"ok":true,"output":{"items":[1,2]},"nextCursor":"c2"}}` + "\n"
	if got := trc.buf.String(); got != want {
		t.Errorf("trace line\n%s\nwant\n%s", got, want)
	}
}

func TestGatesInOrder(t *testing.T) {
	asked := 0
	s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) {
		asked++
		return provider.ResultJSON([]byte(`{"id":"T-1"}`)), nil
	})})
	for _, tc := range []struct {
		name, tool, input string
		cc                sim.CallContext
		code              provider.Code
		message           string
	}{
		{"unknown tool", "nope", `{}`, sim.CallContext{}, provider.UnsupportedOperation, "No operation 'nope'."},
		{"unknown principal", "desk_tickets_create", `{}`, sim.CallContext{Principal: "mallory"}, provider.AuthRequired, "No principal supplied."},
		{"missing scope before the key", "desk_tickets_create", `{}`, sim.CallContext{Principal: "limited", Fault: "outage"}, provider.PermissionDenied, "Missing scope(s): tickets:write."},
		{"unconfirmed", "desk_tickets_purge", `{}`, sim.CallContext{Fault: "outage"}, provider.ConfirmationRequired, ""},
		{"no key before the fault", "desk_tickets_create", `{"subject":"a"}`, sim.CallContext{Fault: "outage"}, provider.IdempotencyRequired, "Idempotency key required."},
		{"fault before missing input", "desk_tickets_create", `{}`, sim.CallContext{IdempotencyKey: "k", Fault: "throttle"}, provider.RateLimited, "Simulated rate limit."},
		{"missing input", "desk_tickets_create", `{"assignee_id":1}`, sim.CallContext{IdempotencyKey: "k"}, provider.ValidationError, "Missing required body field 'subject'."},
		{"null is missing", "desk_tickets_create", `{"subject":null}`, sim.CallContext{IdempotencyKey: "k"}, provider.ValidationError, "Missing required body field 'subject'."},
		{"missing path parameter", "desk_tickets_get", `{}`, sim.CallContext{}, provider.ValidationError, "Missing required parameter 'ticketId'."},
	} {
		got, err := s.Invoke(t.Context(), tc.tool, json.RawMessage(tc.input), tc.cc)
		switch {
		case err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case got.OK || got.Error.Code != tc.code || tc.message != "" && got.Error.Message != tc.message:
			t.Errorf("%s: got %s, want %s %q", tc.name, got.AppendJSON(nil), tc.code, tc.message)
		}
	}
	if asked != 0 {
		t.Errorf("the provider was asked %d times behind closed gates", asked)
	}
	for _, tc := range []struct {
		tool, input string
		cc          sim.CallContext
	}{
		{"desk_tickets_purge", `{}`, sim.CallContext{Confirmed: true}},
		{"desk_tickets_purge", `{"confirm":true}`, sim.CallContext{}},
		{"desk_tickets_create", `{"subject":"a","idempotency_key":"k1"}`, sim.CallContext{}},
		{"desk_tickets_create", `{"subject":"a"}`, sim.CallContext{IdempotencyKey: "k2", Fault: "slow"}},
	} {
		if got, err := s.Invoke(t.Context(), tc.tool, json.RawMessage(tc.input), tc.cc); err != nil || !got.OK {
			t.Errorf("%s %s %+v: got %v, %v; want a success", tc.tool, tc.input, tc.cc, got, err)
		}
	}
	if asked != 4 {
		t.Errorf("the provider was asked %d times, want 4", asked)
	}
}

func TestReplayConcurrent(t *testing.T) {
	var asked atomic.Int64
	entered, release := make(chan struct{}), make(chan struct{})
	s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) {
		if asked.Add(1) == 1 {
			close(entered)
		}
		<-release
		return provider.ResultJSON([]byte(`{"id":"T-1","n":1.0}`)), nil
	})})
	cc := sim.CallContext{IdempotencyKey: "k"}
	results := make([]string, 64)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			// The same input as values: key order and number text differ.
			input := `{"subject":"a","assignee_id":1}`
			if i%2 == 1 {
				input = `{"assignee_id":1.0,"subject":"a"}`
			}
			out, err := s.Invoke(t.Context(), "desk_tickets_create", json.RawMessage(input), cc)
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = string(out.AppendJSON(nil))
		})
	}
	<-entered
	close(release)
	wg.Wait()
	if asked.Load() != 1 {
		t.Fatalf("the provider was asked %d times for one key", asked.Load())
	}
	first := 0
	for _, r := range results {
		switch r {
		case `{"ok":true,"output":{"id":"T-1","n":1.0}}`:
			first++
		case `{"ok":true,"output":{"id":"T-1","n":1.0},"replayed":true}`:
		default:
			t.Errorf("got %s", r)
		}
	}
	if first != 1 {
		t.Errorf("%d answers are no replay, want 1", first)
	}
}

func TestReplayScope(t *testing.T) {
	n := 0
	fail := false
	s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) {
		n++
		if fail {
			return nil, errors.New("gone")
		}
		return provider.Result(map[string]int{"n": n})
	})})
	call := func(input string, cc sim.CallContext) string {
		t.Helper()
		r, err := s.Invoke(t.Context(), "desk_tickets_create", json.RawMessage(input), cc)
		if err != nil {
			t.Fatal(err)
		}
		return string(r.AppendJSON(nil))
	}
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	k := sim.CallContext{IdempotencyKey: "k"}
	want(call(`{}`, k), `{"ok":false,"error":{"code":"validation_error","message":"Missing required body field 'subject'."}}`)
	want(call(`{"subject":"a"}`, k), `{"ok":true,"output":{"n":1}}`)
	want(call(`{"subject":"a"}`, sim.CallContext{IdempotencyKey: "k", TenantID: "t"}), `{"ok":true,"output":{"n":2}}`)
	want(call(`{"subject":"b"}`, k), `{"ok":true,"output":{"n":3}}`)
	want(call(`{"subject":"a"}`, k), `{"ok":true,"output":{"n":1},"replayed":true}`)
	fail = true
	failed := `{"ok":false,"error":{"code":"upstream_unavailable","message":"State provider failed: gone"}}`
	want(call(`{"subject":"c"}`, k), failed)
	fail = false
	want(call(`{"subject":"c"}`, k), failed) // a failure is remembered too
	s.Reset(1)
	want(call(`{"subject":"a"}`, k), `{"ok":true,"output":{"n":5}}`)
}

func TestWaiterLeavesWithItsContext(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) {
		close(entered)
		<-release
		return provider.ResultJSON([]byte("1")), nil
	})})
	cc := sim.CallContext{IdempotencyKey: "k"}
	input := json.RawMessage(`{"subject":"a"}`)
	done := make(chan error, 1)
	go func() { _, err := s.Invoke(t.Context(), "desk_tickets_create", input, cc); done <- err }()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := s.Invoke(ctx, "desk_tickets_create", input, cc)
	if err != nil || r.OK || r.Error.Code != provider.UpstreamUnavailable {
		t.Errorf("got %v, %v; want upstream_unavailable", r, err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestProviderPanic(t *testing.T) {
	var trc lines
	s := newSim(t, &sim.Options{Trace: &trc, Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) {
		panic("provider bug")
	})})
	for range 2 { // the failure is remembered under the key, as any
		r, err := s.Invoke(t.Context(), "desk_tickets_create", json.RawMessage(`{"subject":"a"}`), sim.CallContext{IdempotencyKey: "k"})
		if err != nil || r.OK || r.Error.Code != provider.UpstreamUnavailable || !strings.Contains(r.Error.Message, "panicked: provider bug") {
			t.Errorf("got %v, %v; want upstream_unavailable", r, err)
		}
	}
	if n := strings.Count(trc.buf.String(), "\n"); n != 2 {
		t.Errorf("the trace has %d lines, want 2", n)
	}
}

func TestNoContract(t *testing.T) {
	if _, err := sim.New(nil, nil); err == nil {
		t.Error("want an error")
	}
}

func TestProviderErrors(t *testing.T) {
	text := func(s string) *string { return &s }
	status := 451
	for _, tc := range []struct {
		name string
		err  provider.Error
		want string
	}{
		{"declared by code", provider.Error{Code: provider.NotFound},
			`{"code":"not_found","message":"No such ticket.","wire":{"status":410,"body":{"error":{"code":"GONE","message":"No such ticket."}}}}`},
		{"upstream code wins", provider.Error{Code: provider.NotFound, UpstreamCode: text("BUSY"), Message: text("m")},
			`{"code":"conflict","message":"m","wire":{"status":409,"body":{"error":{"code":"BUSY","message":"m"}}}}`},
		{"undeclared upstream code stands in the body", provider.Error{Code: provider.NotFound, UpstreamCode: text("X"), Message: text("m")},
			`{"code":"not_found","message":"m","wire":{"status":410,"body":{"error":{"code":"X","message":"m"}}}}`},
		{"unknown code", provider.Error{Code: "odd"},
			`{"code":"unknown_upstream_error","message":"unknown_upstream_error","wire":{"status":500,"body":{"error":{"code":"unknown_upstream_error","message":"unknown_upstream_error"}}}}`},
		{"own status and body", provider.Error{Code: provider.Conflict, Status: &status, Body: []byte(`{"z":1.0,"a":[]}`)},
			`{"code":"conflict","message":"conflict","wire":{"status":451,"body":{"z":1.0,"a":[]}}}`},
	} {
		s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) {
			return &provider.Response{Error: &tc.err}, nil
		})})
		r, err := s.Invoke(t.Context(), "desk_tickets_get", json.RawMessage(`{"ticket_id":"1"}`), sim.CallContext{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.AppendJSON(nil)); got != `{"ok":false,"error":`+tc.want+`}` {
			t.Errorf("%s: got %s", tc.name, got)
		}
	}
}

func TestProviderFailures(t *testing.T) {
	for _, tc := range []struct {
		name   string
		resp   *provider.Response
		err    error
		code   provider.Code
		traced string
	}{
		{"timeout", nil, &provider.TransportError{Code: provider.UpstreamTimeout, Message: "late"}, provider.UpstreamTimeout, `{"transportError":"late"}`},
		{"any error", nil, fmt.Errorf("disk: %w", errors.New("full")), provider.UpstreamUnavailable, `{"transportError":"disk: full"}`},
		{"no answer", nil, nil, provider.SchemaMismatch, "null"},
		{"no JSON in the result", &provider.Response{OK: true, Result: []byte("{")}, nil, provider.SchemaMismatch, ""},
		{"error without code", &provider.Response{}, nil, provider.SchemaMismatch, ""},
	} {
		s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) { return tc.resp, tc.err })})
		out, err := s.Call(t.Context(), "desk_tickets_get", json.RawMessage(`{"ticket_id":"1"}`), sim.CallContext{})
		switch {
		case err != nil:
			t.Fatal(err)
		case out.Result.OK || out.Result.Error.Code != tc.code:
			t.Errorf("%s: got %s, want %s", tc.name, out.Result.AppendJSON(nil), tc.code)
		case tc.traced != "" && string(out.Provider) != tc.traced:
			t.Errorf("%s: the trace shows %s, want %s", tc.name, out.Provider, tc.traced)
		}
	}
}

func TestPageTooLarge(t *testing.T) {
	s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) {
		return provider.PageOf([]int{1, 2, 3}, "")
	})})
	r, err := s.Invoke(t.Context(), "desk_tickets_list", json.RawMessage(`{"limit":2}`), sim.CallContext{})
	if err != nil || r.OK || r.Error.Code != provider.SchemaMismatch {
		t.Errorf("3 items for a page of 2: got %v, %v; want schema_mismatch", r, err)
	}
}

func TestCredentialsStayOutOfTheTrace(t *testing.T) {
	var trc lines
	var told string
	s := newSim(t, &sim.Options{Trace: &trc, Provider: answers(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		told = string(req.Params.Query.Get("apiKey"))
		return provider.ResultJSON([]byte("1")), nil
	})})
	if _, err := s.Invoke(t.Context(), "desk_keys_get", json.RawMessage(`{"api_key":"sk_live_secret","q":"x"}`), sim.CallContext{}); err != nil {
		t.Fatal(err)
	}
	if told != `"sk_live_secret"` {
		t.Errorf("the provider was told %s", told)
	}
	if got := trc.buf.String(); strings.Contains(got, "sk_live") || strings.Count(got, "[redacted]") != 2 {
		t.Errorf("trace %s: want the key redacted in request and normalized", got)
	}
}

type brokenTrace struct{}

func (brokenTrace) Write(*trace.Entry) error { return errors.New("disk full") }

func TestTraceFailureKeepsTheAnswer(t *testing.T) {
	s := newSim(t, &sim.Options{Trace: brokenTrace{}})
	r, err := s.Invoke(t.Context(), "desk_tickets_list", nil, sim.CallContext{})
	if r == nil || !r.OK {
		t.Errorf("got %v, want the answer of a call that happened", r)
	}
	if err == nil || err.Error() != "trace write failed for r1: disk full" {
		t.Errorf("got error %v", err)
	}
}

func TestInputMustBeAnObject(t *testing.T) {
	s := newSim(t, nil)
	for _, input := range []any{json.RawMessage(`[1]`), json.RawMessage(`{`), "text", func() {}} {
		if r, err := s.Invoke(t.Context(), "desk_tickets_list", input, sim.CallContext{}); err == nil {
			t.Errorf("input %v: got %s, want an error", input, r.AppendJSON(nil))
		}
	}
}

func TestSignatureAndParity(t *testing.T) {
	s := newSim(t, nil)
	if err := s.CheckParity(s.Signature()); err != nil {
		t.Error(err)
	}
	if err := s.CheckParity("0000"); err == nil {
		t.Error("another digest is no parity, want an error")
	}
	p := s.InitializeParams()
	if p.Seed != 0 || len(p.Operations) != 5 || *p.SurfaceDigest != s.Signature() || !p.Operations[0].Paged {
		t.Errorf("initialize params %+v", p)
	}
}

func TestUnknownCapability(t *testing.T) {
	if _, err := sim.New(deskContract(t), &sim.Options{Capability: "desk.nope"}); err == nil || !strings.Contains(err.Error(), "desk.nope") {
		t.Errorf("got %v, want an error that names desk.nope", err)
	}
}

// TestMiss carries what a replaying provider has no recording of, from a process
// and in process, and replays it under a key like any failure.
func TestMiss(t *testing.T) {
	data := json.RawMessage(`{"miss": {"reason": "nothing recorded", "closest": []}}`)
	for _, failure := range []error{
		&provider.TransportError{Code: provider.UpstreamUnavailable, Message: "no recording", Data: data},
		&provider.RPCError{Code: -32004, Message: "no recording", Data: data},
	} {
		s := newSim(t, &sim.Options{Provider: answers(func(context.Context, *provider.Request) (*provider.Response, error) { return nil, failure })})
		for range 2 {
			out, err := s.Call(t.Context(), "desk_tickets_create", json.RawMessage(`{"subject":"a"}`), sim.CallContext{IdempotencyKey: "k"})
			if err != nil {
				t.Fatal(err)
			}
			const miss = `{"reason":"nothing recorded","closest":[]}`
			if e := out.Result.Error; e == nil || e.Code != provider.UpstreamUnavailable || string(e.Miss) != miss {
				t.Errorf("%T: got %+v", failure, e)
			}
			if out.Provider != nil && !strings.HasSuffix(string(out.Provider), `,"miss":`+miss+`}`) {
				t.Errorf("%T: the trace shows %s", failure, out.Provider)
			}
		}
	}
}

func TestSharedID(t *testing.T) {
	head := "service: {id: desk, version: '1', source: {kind: openapi}}\noperations:\n"
	one := operation("a", "get", "/a", "read", "get")
	two := strings.Replace(operation("b", "post", "/b", "read", "get"), "id: desk.b", "id: desk.a", 1)
	doc, err := air.Parse("desk.yaml", []byte(head+one+two))
	if err != nil {
		t.Fatal(err)
	}
	want := `operations[0] (GET /a) and operations[1] (POST /b) share the id "desk.a": an id must be one operation's`
	if _, err := sim.New(doc, nil); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
