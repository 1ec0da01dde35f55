package sim

import (
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/trace"
)

// An Outcome is what one call came to.
type Outcome struct {
	Seq        int
	RequestID  string     // "r<n>"
	Op         *Operation // nil when no operation was found
	Normalized Raw        // what the provider was asked, nil when a gate answered first
	Provider   Raw        // what the provider answered, nil when it was not asked
	Result     Result
	Warnings   []string // what was dropped from the provider's answer and why
	Slow       bool     // the slow fault is on: the surface delays the answer

	validated bool   // values are checked in this simulator
	release   func() // lets the repeats go on that wait for this call; nil when nobody can wait
}

// Release ends the call: repeats of it under the same key, which wait for it, go
// on. Whoever got the outcome from [Simulator.Do] calls it once the call is
// traced; a second time does nothing.
func (o *Outcome) Release() {
	if o.release != nil {
		o.release()
		o.release = nil
	}
}

// A Result is the simulator's answer before it is put into wire form. It is
// immutable: replays share it.
type Result struct {
	OK         bool
	Output     Raw      // the result, or {"items":[...]} of a page; nil when absent
	Page       *Page    // of a paged operation's success, else nil
	NextCursor *string  // nil on the last page
	Total      *int64   // as the provider reported it
	Headers    []Header // declared response headers that the provider set
	Replayed   bool     // an earlier call's answer under the same key
	Error      *Error   // set when OK is false
}

// A Page is the items of a page and what was asked for.
type Page struct {
	Items Raw // a JSON array
	Count int // items in it
	Size  int // the page size
}

// A Header is a response header, spelled as the contract declares it.
type Header struct{ Name, Value string }

// An Error is a failed call: what code, and how it looks on the wire.
type Error struct {
	Code    provider.Code
	Message string
	Status  int    // HTTP status
	Vendor  string // the code that clients of the API see: the vendor's, else Code
	Body    Raw    // error body
	// Miss says what a replaying provider was asked and has no recording of, a
	// JSON object; nil for every other failure.
	Miss Raw
	// FromProvider is set when a provider raised the error; gates, malformed
	// answers and transport failures are the simulator's own.
	FromProvider bool
}

// Entry begins the trace entry of the call: everything but the transport, the
// request, the status and the response.
func (o *Outcome) Entry() *trace.Entry {
	e := &trace.Entry{
		Seq: o.Seq, RequestID: o.RequestID, Normalized: o.Normalized, Provider: o.Provider,
		Result: o.Result.AppendJSON(make([]byte, 0, len(o.Result.Output)+128)), Warnings: o.Warnings, Validated: o.validated,
	}
	if o.Op != nil {
		e.Tool, e.Operation = &o.Op.ToolName, &o.Op.ID
	}
	return e
}

// AppendJSON appends the result as the trace shows it.
func (r *Result) AppendJSON(dst []byte) Raw {
	if !r.OK {
		return r.Error.appendJSON(append(dst, `{"ok":false,"error":`...))
	}
	dst = append(dst, `{"ok":true`...)
	if r.Output != nil {
		dst = append(append(dst, `,"output":`...), r.Output...)
	}
	if r.NextCursor != nil {
		dst = canon.AppendString(append(dst, `,"nextCursor":`...), *r.NextCursor)
	}
	if r.Total != nil {
		dst = strconv.AppendInt(append(dst, `,"total":`...), *r.Total, 10)
	}
	if len(r.Headers) > 0 {
		dst = AppendHeaders(append(dst, `,"headers":`...), r.Headers)
	}
	if r.Replayed {
		dst = append(dst, `,"replayed":true`...)
	}
	return append(dst, '}')
}

// AppendHeaders appends headers as a JSON object.
func AppendHeaders(dst []byte, headers []Header) []byte {
	dst = append(dst, '{')
	for i, h := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, h.Name), ':')
		dst = canon.AppendString(dst, h.Value)
	}
	return append(dst, '}')
}

func (e *Error) appendJSON(dst []byte) []byte {
	dst = canon.AppendString(append(dst, `{"code":`...), string(e.Code))
	dst = canon.AppendString(append(dst, `,"message":`...), e.Message)
	if e.FromProvider {
		dst = strconv.AppendInt(append(dst, `,"wire":{"status":`...), int64(e.Status), 10)
		dst = append(append(append(dst, `,"body":`...), e.Body...), '}')
	}
	return append(dst, "}}"...)
}
