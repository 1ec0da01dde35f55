package surface

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/sim"
)

// DefaultMaxBody is the largest request body that is read, in bytes (16 MiB).
const DefaultMaxBody = 16 << 20

// Options configure a [Handler]. The zero value is usable.
type Options struct {
	MaxBody int64         // largest request body in bytes; 0: DefaultMaxBody
	Slow    time.Duration // how long the fault "slow" delays an answer; 0: 1 s, negative: not at all
	Facade  bool          // serve operations of other protocols at their synthesized paths

	// GraphQLStrict makes the GraphQL endpoint an executor: the whole document is
	// validated, every root field is answered by a call of its own, arguments may
	// be literals, and selection sets are applied. Off, one root field is answered
	// from the variables, with the state's object as it is.
	GraphQLStrict bool

	// TraceFailed is told of a trace line that could not be written. The
	// response carries the same text in X-Anvil-Trace-Error. Nil: nobody is told.
	TraceFailed func(error)
}

// A Handler answers HTTP requests from a simulator.
type Handler struct {
	sim     *sim.Simulator
	opts    Options
	routes  *router
	graphql *graphqlEndpoint // nil when no operation is GraphQL
	secrets map[string]bool  // query parameters that carry a credential
	turn    sync.RWMutex     // held for reading by each call, see answer
}

var _ http.Handler = (*Handler)(nil)

// New makes the handler of a simulator. The error is an *UnreachableError that
// names every served operation without an HTTP form.
func New(s *sim.Simulator, opts *Options) (*Handler, error) {
	h := &Handler{sim: s, secrets: map[string]bool{}}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.MaxBody == 0 {
		h.opts.MaxBody = DefaultMaxBody
	}
	if h.opts.Slow == 0 {
		h.opts.Slow = time.Second
	}
	var operations []*planned
	var unreachable []Unreachable
	for _, op := range s.Operations() {
		if why := whyUnreachable(op, h.opts.Facade); why != "" {
			unreachable = append(unreachable, Unreachable{op.ID, why})
			continue
		}
		operations = append(operations, newPlanned(op, s.Document().Schemas))
		if c := op.Auth.Carrier; c != nil && c.In == "query" {
			h.secrets[c.Name] = true
		}
	}
	if len(unreachable) > 0 {
		return nil, &UnreachableError{unreachable}
	}
	h.routes = newRouter(operations)
	h.graphql = newGraphQLEndpoint(h, operations)
	return h, nil
}

// Hidden are the operations that no request can reach, since one that stands
// before them in the contract has their method and path template. Templates that
// differ in the names of parameters alone are the same.
func (h *Handler) Hidden() []Hidden { return h.routes.hidden }

// An Unreachable is a served operation that HTTP clients cannot call, and why.
type Unreachable struct{ OperationID, Why string }

// An UnreachableError lists the operations that keep a contract from being
// served over HTTP.
type UnreachableError struct{ Operations []Unreachable }

// Error implements error.
func (e *UnreachableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d operation(s) cannot be served over HTTP:", len(e.Operations))
	for _, o := range e.Operations {
		fmt.Fprintf(&b, "\n  %s: %s", o.OperationID, o.Why)
	}
	return b.String()
}

// whyUnreachable says why an operation cannot be served, "" when it can.
func whyUnreachable(op *sim.Operation, facade bool) string {
	at := op.Info.Method + " " + op.Path
	missing := op.Path == "" || op.Method == ""
	if op.Path != "" && op.Path[0] != '/' {
		return fmt.Sprintf("its path %q does not begin with a slash", op.Path)
	}
	bound := op.Binding != nil
	switch p := op.Protocol(); p {
	case air.HTTPJSON:
		if missing {
			return "the contract gives it no path and method"
		}
		return ""
	case air.GraphQL:
		if op.Binding.Get("protocol").Text() != "graphql" {
			return "GraphQL without a binding cannot be served in any form"
		}
		return ""
	case air.EventStream:
		return "a subscription has no HTTP request and response form"
	case air.MCPTool:
		return "an adopted MCP tool has no HTTP request and response form"
	case air.SOAP, air.GRPC, air.QueueBridge:
		switch {
		case !bound:
			return fmt.Sprintf("%s without a binding cannot be served in any form", protocolName(p))
		case missing:
			return fmt.Sprintf("%s, and the contract gives it no synthesized path and method", protocolName(p))
		case !facade:
			return fmt.Sprintf("%s; pass --protocol-facade to serve it over HTTP+JSON at %s", protocolName(p), at)
		}
		return ""
	default:
		return "its protocol is not known"
	}
}

func protocolName(p air.Protocol) string {
	switch p {
	case air.SOAP:
		return "SOAP"
	case air.GRPC:
		return "gRPC"
	case air.QueueBridge:
		return "a queue request and reply"
	}
	return fmt.Sprint(p)
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := &inbound{
		method: r.Method,
		target: parseTarget(rawTarget(r)),
		header: r.Header,
		origin: originOf(r),
	}
	in.body, in.refused = readBody(r, h.opts.MaxBody)
	resp, requestID := h.answer(r.Context(), in)
	resp.write(w, requestID)
}

// answer answers a request that was read, up to its trace line. What the client
// does, and how slowly, is before and after it: a reset waits for calls, and must
// not wait for a client that never ends its body or never takes its answer.
func (h *Handler) answer(ctx context.Context, in *inbound) (resp *response, requestID string) {
	h.turn.RLock()
	defer h.turn.RUnlock()
	seq := h.sim.Next()
	var params []string
	in.plan, params = h.routes.match(in.method, in.target.path)
	if in.plan == nil && in.method == http.MethodHead {
		in.plan, params = h.routes.match(http.MethodGet, in.target.path)
	}
	if q := h.graphql.claim(in); q != nil {
		return h.graphql.serve(ctx, in, q, seq)
	}
	out, resp := h.call(ctx, in, in.decode(seq, params, h.sim), func(out *sim.Outcome) *response {
		return respond(in, out)
	})
	return resp, out.RequestID
}

// alone runs f while no call is between its number and its trace line.
func (h *Handler) alone(f func() error) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	return f()
}

// call answers a call: it is put to the simulator, shaped, and traced as shown.
// It outlives its client: a provider may have committed it, and its trace line
// is owed either way.
func (h *Handler) call(ctx context.Context, shown *inbound, c *sim.Call, shape func(*sim.Outcome) *response) (*sim.Outcome, *response) {
	out := h.sim.Do(callContext(ctx), c)
	// A repeat that waits for this call goes on once its line is written, so
	// that the trace has the call before its replay.
	defer out.Release()
	if out.Slow && h.opts.Slow > 0 {
		linger(ctx, h.opts.Slow)
	}
	resp := shape(out)
	h.record(shown, out, resp)
	return out, resp
}

// record writes the trace line of a call, before its response leaves.
func (h *Handler) record(in *inbound, out *sim.Outcome, resp *response) {
	resp.warnings = append(out.Warnings, resp.warnings...)
	if out.Result.OK || out.Normalized != nil { // else the refusal itself says what is missing
		resp.warnings = append(in.warnings, resp.warnings...)
	}
	if err := h.trace(in, out, resp); err != nil {
		if h.opts.TraceFailed != nil {
			h.opts.TraceFailed(err)
		}
		resp.traceError = singleLine(err.Error())
	}
}

// originOf is the origin that links in an answer point to: the one that the
// client called.
func originOf(r *http.Request) string {
	if r.TLS != nil || overTLS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// linger waits, for no longer than the client of a call stays.
func linger(ctx context.Context, d time.Duration) {
	var gone chan struct{} // of HTTP/2, whose clients net/http watches
	if c, ok := ctx.Value(connKey{}).(*targetConn); ok {
		var stop func()
		gone, stop = c.watch()
		defer stop()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-gone:
	case <-ctx.Done():
	}
}

func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F {
			return ' '
		}
		return r
	}, s)
}
