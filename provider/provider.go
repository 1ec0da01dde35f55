// Package provider is what the author of a state provider sees: the normalized
// request, the answer, the error codes, [Serve] for a provider process, and the
// wire form of protocol version 1.
//
// A provider owns the state behind a simulated API: which records exist, what a
// filter means, what a create changes. The simulator owns the surface: routes,
// auth, idempotency, page envelopes, error bodies. A call that fails a surface
// gate never reaches the provider.
package provider

import (
	"context"
	"encoding/json"
)

// ProtocolVersion is the version of the protocol that this package speaks.
const ProtocolVersion = 1

// A Provider answers normalized requests. Invoke may be called by several
// goroutines at once.
//
// A domain error (not found, conflict) is an answer: [Fail] makes one. The
// returned error means that the provider could not answer at all: a
// *[TransportError] tells which way, any other error is upstream_unavailable;
// a *[MalformedError] is schema_mismatch.
type Provider interface {
	Invoke(ctx context.Context, req *Request) (*Response, error)
}

// An Initializer is a Provider that wants to see what it serves before the
// first Invoke, and may refuse it.
type Initializer interface {
	Initialize(ctx context.Context, params *InitializeParams) (*InitializeResult, error)
}

// A Closer is a Provider that releases something when the simulator stops.
type Closer interface {
	Close(ctx context.Context) error
}

// A Resetter is a Provider that can go back to its first state, as it was before
// the first Invoke. [Serve] announces it in the result of `initialize`; a
// simulator sends `reset` only to a provider that announced it. No Invoke runs
// meanwhile.
type Resetter interface {
	Reset(ctx context.Context, seed uint32) error
}

// A Snapshotter is a Provider that can write its state to a file. [Serve]
// announces it in the result of `initialize`; a simulator sends `snapshot` only to
// a provider that announced it. Calls may run meanwhile.
type Snapshotter interface {
	Snapshot(ctx context.Context, params *SnapshotParams) error
}

// SnapshotParams are the parameters of `snapshot`.
type SnapshotParams struct {
	// Path is the absolute path of the file to write.
	Path string
	// Call is the number of the call after which the state is wanted, the n of the
	// request id rn; 0 is the first state. Nil is the present state.
	Call *int64
	// TenantID is whose state is wanted, nil for that of requests without a tenant.
	TenantID *string
}

// Kind is the coarse verb of an operation, from its effect and not from its
// HTTP method.
type Kind string

// The kinds of an operation.
const (
	KindRead   Kind = "read"
	KindList   Kind = "list"
	KindSearch Kind = "search"
	KindCreate Kind = "create"
	KindUpdate Kind = "update"
	KindDelete Kind = "delete"
	KindAction Kind = "action"
)

// A Request is one normalized call, as the specification's `invoke` sends it.
type Request struct {
	RequestID      string  // "r<n>", n is the call's position in the run
	CapabilityID   string  // the served capability, or the service id
	OperationID    string  //
	ToolName       string  //
	Kind           Kind    //
	Action         string  // the finer verb: get, list, replace, approve, ...
	Resource       *string // nil (null on the wire) when the contract names none
	Method         string  // upper case
	PathTemplate   string  //
	Params         Params  // typed values by wire name
	Body           json.RawMessage
	Page           *Page      // not nil exactly when the operation is paged
	Principal      *Principal // nil for an operation without auth
	TenantID       *string
	IdempotencyKey *string

	wire []byte // the canonical wire form, when it was made already
}

// Params are the parameters of a request by location.
type Params struct {
	Path, Query, Header, Cookie Object
}

// An Object is a JSON object whose members keep their order.
type Object []Member

// A Member is one name of an [Object] with its JSON value.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Get returns the value of a name, nil when the object has none. Names are
// matched exactly.
func (o Object) Get(name string) json.RawMessage {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// A Page is what a paged operation was asked for.
type Page struct {
	Cursor *string // what the caller passed back, nil on the first page
	Size   int     // the most items to return, at least 1
}

// A Principal is a simulated caller.
type Principal struct {
	ID     string
	Role   string
	Scopes []string
}

// A Response is an answer in one of the three shapes of the specification: a
// result, a page of items, or a domain error. Values are JSON as the provider
// spells it: key order and number text are kept.
type Response struct {
	OK         bool
	Result     json.RawMessage   // any JSON value; nil is absent
	Items      []json.RawMessage // nil is absent, an empty page is not nil
	NextCursor *string           // nil on the last page
	Total      *int64            // the whole query's item count, nil when unknown
	Headers    json.RawMessage   // response headers to serve, by name; nil is absent
	Error      *Error            // set when OK is false
	Meta       json.RawMessage   // kept in the trace, never served

	// Raw is the whole answer in canonical spelling, unknown keys kept, when it
	// came over a wire or a tape. Without it the trace shows [Response.AppendJSON].
	Raw json.RawMessage

	// What a paged request does not take, found while parsing: only
	// [Response.CheckFor] knows whether the operation is paged.
	badTotal, badCursor bool
}

// An Error is a domain error.
type Error struct {
	Code         Code            // an unknown code becomes unknown_upstream_error
	UpstreamCode *string         // the vendor's own code
	Message      *string         //
	Status       *int            // an HTTP status that overrides the mapping
	Body         json.RawMessage // a vendor error body served verbatim; nil is absent
}

// InitializeParams tell a provider what it will serve.
type InitializeParams struct {
	ProtocolVersion int
	Simulator       Implementation
	ServiceID       string
	CapabilityID    string
	ContractDigest  *string // nil when the provider is asked for a contract
	SurfaceDigest   *string
	Seed            uint32
	Operations      []Operation
}

// An Implementation names a program that speaks the protocol.
type Implementation struct {
	Name, Version string
}

// An Operation is one served operation, as `initialize` lists it.
type Operation struct {
	OperationID  string
	ToolName     string
	Kind         Kind
	Action       string
	Resource     *string
	Method       string
	PathTemplate string
	Paged        bool
}

// An InitializeResult is a provider's answer to `initialize`.
type InitializeResult struct {
	ProtocolVersion int
	// Contract is an AIR document, for a simulator that was started without one
	// (it then sends no operations and null digests). Nil is absent.
	Contract json.RawMessage
	// Methods are the methods beyond protocol version 1 that the provider
	// answers: "reset", "snapshot". Nil is absent.
	Methods []string
}
