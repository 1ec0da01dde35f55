package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/trace"
)

// DefaultPrincipal is the caller of a request that names none: it holds every
// scope that the served operations name.
const DefaultPrincipal = "admin"

// A TraceSink takes one entry a call. It may be called by several goroutines at
// once; *trace.Writer is one.
type TraceSink interface {
	Write(*trace.Entry) error
}

// A ValueChecker compares a value, JSON in canonical spelling, with a schema.
// The fault says what does not fit, "" when it fits; the error says that the
// schema cannot be used. The package sim/values has one.
type ValueChecker interface {
	Check(schema *air.Value, value []byte) (fault string, err error)
}

// Options configure a [Simulator]. The zero value serves the whole service from
// the built-in store with seed 0.
type Options struct {
	Provider   provider.Provider       // nil: the built-in store
	Trace      TraceSink               // nil: no trace
	Seed       uint32                  // the built-in store derives from it
	Capability string                  // serve one capability; "" or the service id: all
	Principal  string                  // caller of requests that name none; "": DefaultPrincipal
	PageSize   int                     // page size where the contract gives none; 0: 2
	Values     ValueChecker            // checks values against their schemas; nil: they are not checked
	Name       provider.Implementation // how InitializeParams names the simulator; zero: anvil-sim
}

// A Simulator serves one contract. Its methods may be called by several
// goroutines at once.
type Simulator struct {
	doc        *air.Document
	opts       Options
	capability string
	operations []*Operation
	byTool     map[string]*Operation
	principals map[string]*provider.Principal

	calls  atomic.Int64
	mu     sync.RWMutex // guards the two below, which Reset replaces
	ledger *ledger
	store  *store
}

// An Operation is a served operation with what every call of it needs, worked
// out once.
type Operation struct {
	*air.Operation
	Info    provider.Operation // as initialize lists it
	Carrier *air.Carrier       // of the idempotency key, nil when there is none

	doc       *air.Document
	index     int // among the served operations
	mutation  bool
	keyed     bool              // a key is required
	open      bool              // no auth
	names     string            // the input that names a record of the built-in store, "" for none
	pageSize  int               // the size when the caller names none
	headers   map[string]string // declared response headers: lower case to declared spelling
	errByCode map[string]*air.DeclaredError
	errByName map[string]*air.DeclaredError
	secrets   []*air.Param // the parameters that carry a credential
}

// Paged reports whether the operation answers with a page of items.
func (o *Operation) Paged() bool { return o.Info.Paged }

// Response is the declared success body, nil when the contract declares none.
func (o *Operation) Response() *air.Value { return o.doc.Response(o.Operation) }

// item is the schema of one item of a page, or of the body of other answers.
func (o *Operation) item() *air.Value {
	if o.Info.Paged {
		return o.doc.ItemSchema(o.Operation)
	}
	return o.Response()
}

// New makes a simulator of doc. It fails when the capability is unknown or two
// served operations share an id or a tool name.
func New(doc *air.Document, opts *Options) (*Simulator, error) {
	if doc == nil {
		return nil, errors.New("no contract to simulate: air.Load or air.Parse gives one")
	}
	s := &Simulator{doc: doc, byTool: map[string]*Operation{}}
	if opts != nil {
		s.opts = *opts
	}
	s.capability = s.opts.Capability
	if s.capability == "" {
		s.capability = doc.Service.ID
	}
	served, err := doc.Served(s.opts.Capability)
	if err != nil {
		return nil, err
	}
	byID := map[string]*air.Operation{}
	for i, o := range served {
		if other := byID[o.ID]; other != nil {
			return nil, fmt.Errorf("%s and %s share the id %q: an id must be one operation's", s.place(other), s.place(o), o.ID)
		}
		byID[o.ID] = o
		op := s.prepare(i, o)
		if other := s.byTool[o.ToolName]; other != nil {
			return nil, fmt.Errorf("operations %s and %s share the tool name %q: a tool name must be one operation's", other.ID, o.ID, o.ToolName)
		}
		s.byTool[o.ToolName] = op
		s.operations = append(s.operations, op)
	}
	s.principals = principalsOf(s.operations)
	s.Reset(s.opts.Seed)
	return s, nil
}

// place says where in the contract an operation stands: "operations[3] (GET /x)".
func (s *Simulator) place(o *air.Operation) string {
	at := fmt.Sprintf("operations[%d]", slices.Index(s.doc.Operations, o))
	if o.Method == "" || o.Path == "" {
		return at
	}
	return fmt.Sprintf("%s (%s %s)", at, upper(o.Method), o.Path)
}

func (s *Simulator) prepare(index int, o *air.Operation) *Operation {
	op := &Operation{
		Operation: o,
		doc:       s.doc,
		Carrier:   o.Carrier(),
		index:     index,
		names:     nameInput(o),
		mutation:  o.EffectKind == "mutation",
		open:      o.Auth.Type == "none" && len(o.Auth.Scopes) == 0,
		headers:   map[string]string{},
		errByCode: map[string]*air.DeclaredError{},
		errByName: map[string]*air.DeclaredError{},
		Info: provider.Operation{
			OperationID: o.ID, ToolName: o.ToolName, Kind: provider.Kind(o.Kind()), Action: o.Action,
			Method: upper(o.Method), PathTemplate: o.Path, Paged: o.Paged(),
		},
	}
	if o.Resource != "" {
		op.Info.Resource = &o.Resource
	}
	op.keyed = op.mutation && o.Idempotency.Mode == "required"
	op.pageSize = s.defaultPageSize(o)
	for _, h := range o.OutputHeaders {
		op.headers[lower(h)] = h
	}
	op.secrets = secretParams(o)
	for i := range o.Errors {
		e := &o.Errors[i]
		if op.errByCode[e.Code] == nil {
			op.errByCode[e.Code] = e
		}
		if e.UpstreamCode != "" && op.errByName[e.UpstreamCode] == nil {
			op.errByName[e.UpstreamCode] = e
		}
	}
	return op
}

// principalsOf makes the two simulated callers: admin with every scope that the
// operations name, in order, and limited with none.
func principalsOf(ops []*Operation) map[string]*provider.Principal {
	scopes := []string{}
	for _, o := range ops {
		scopes = append(scopes, o.Auth.Scopes...)
	}
	slices.Sort(scopes)
	return map[string]*provider.Principal{
		"admin":   {ID: "admin", Role: "admin", Scopes: slices.Compact(scopes)},
		"limited": {ID: "limited", Role: "user", Scopes: []string{}},
	}
}

// Operations are the served operations in the contract's order.
func (s *Simulator) Operations() []*Operation { return s.operations }

// Document is the contract that is served.
func (s *Simulator) Document() *air.Document { return s.doc }

// IsPrincipal reports whether id names a simulated caller.
func (s *Simulator) IsPrincipal(id string) bool { return s.principals[id] != nil }

// Reset puts the simulator back to its first state under seed: the call count,
// the replay ledger and the built-in store. A provider's state is its own.
func (s *Simulator) Reset(seed uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Seed = seed
	s.calls.Store(0)
	s.ledger = newLedger()
	s.store = newStore(s.operations, seed, s.doc.Service.Records == air.RecordsDeclared)
}

func (s *Simulator) state() (*ledger, *store) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ledger, s.store
}

// InitializeParams are what a provider is told before the first call.
func (s *Simulator) InitializeParams() *provider.InitializeParams {
	signed := make(chan string, 1)
	go func() { signed <- s.Signature() }() // of a large contract both take their time
	contract := s.doc.ContractDigest()
	surface := <-signed
	p := &provider.InitializeParams{
		ProtocolVersion: provider.ProtocolVersion,
		Simulator:       s.opts.Name,
		ServiceID:       s.doc.Service.ID,
		CapabilityID:    s.capability,
		ContractDigest:  &contract,
		SurfaceDigest:   &surface,
		Seed:            s.opts.Seed,
		Operations:      []provider.Operation{},
	}
	if p.Simulator.Name == "" {
		p.Simulator = provider.Implementation{Name: "anvil-sim", Version: "0.0.0"}
	}
	for _, o := range s.operations {
		p.Operations = append(p.Operations, o.Info)
	}
	return p
}

// Signature is the digest of the served surface: tool names, input, output and
// error schemas, effects, auth. Two bindings with one signature can stand in
// for each other.
func (s *Simulator) Signature() string { return s.doc.SurfaceDigest(s.opts.Capability) }

// CheckParity tells whether another surface digest, a production server's for
// one, is this simulator's: nil when it is.
func (s *Simulator) CheckParity(surfaceDigest string) error {
	if own := s.Signature(); own != surfaceDigest {
		return fmt.Errorf("surface digest %s differs from the simulator's %s: the two were made from different contracts or capabilities", surfaceDigest, own)
	}
	return nil
}

// CallContext is who calls in process, and how.
type CallContext struct {
	Principal      string // "": the simulator's default principal
	TenantID       string // "": none
	IdempotencyKey string // "": none, or the input's idempotency_key
	Fault          string // a fault scenario; "": none
	Confirmed      bool   // the confirmation gate is passed; input's confirm: true does the same
}

// Invoke calls a tool in process. The input is agent-keyed: a json.RawMessage
// or anything that encodes to a JSON object; nil is no input. A domain error is
// a Result; the returned error says that the input is not a JSON object, or
// that the call happened and its trace line could not be written.
func (s *Simulator) Invoke(ctx context.Context, tool string, input any, cc CallContext) (*Result, error) {
	out, err := s.Call(ctx, tool, input, cc)
	if out == nil {
		return nil, err
	}
	return &out.Result, err
}

// Call is [Simulator.Invoke] that also gives the normalized request and the
// provider's raw answer. When only the trace failed, both the outcome and the
// error are not nil.
func (s *Simulator) Call(ctx context.Context, tool string, input any, cc CallContext) (*Outcome, error) {
	in, err := encodeInput(input)
	if err != nil {
		return nil, fmt.Errorf("input of %s: %w", tool, err)
	}
	c := s.inProcess(tool, in, cc)
	out := s.Do(ctx, c)
	defer out.Release()
	if s.opts.Trace == nil {
		return out, nil
	}
	e := out.Entry()
	e.Transport = "in_process"
	e.Request = appendInProcessRequest(nil, out.Op, in, cc)
	return out, s.Record(e)
}

// Record writes an entry to the trace, when there is one.
func (s *Simulator) Record(e *trace.Entry) error {
	if s.opts.Trace == nil {
		return nil
	}
	if err := s.opts.Trace.Write(e); err != nil {
		return fmt.Errorf("trace write failed for %s: %w", e.RequestID, err)
	}
	return nil
}

// Traced reports whether there is a trace to write to.
func (s *Simulator) Traced() bool { return s.opts.Trace != nil }

// Next numbers a call by its arrival: 1, 2, 3 and so on.
func (s *Simulator) Next() int { return int(s.calls.Add(1)) }

// Calls is how many calls were numbered since the start or the last Reset.
func (s *Simulator) Calls() int { return int(s.calls.Load()) }

// Raw is JSON in canonical spelling.
type Raw = json.RawMessage
