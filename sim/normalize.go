package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// bodyKey is the agent key of a whole body, and of a body that should have had
// fields and is no object.
const bodyKey = "body"

// missingInput names the first required input that is not there, "" when all
// are. The idempotency carrier's own input does not count.
func (o *Operation) missingInput(in Input) string {
	for _, p := range o.Params {
		if p.Required && p.In != "body" && !o.Carrier.Carries(p.In, p.Name) && !present(in.Get(p.Key)) {
			return "Missing required parameter '" + p.Name + "'."
		}
	}
	b := o.Body
	if b == nil {
		return ""
	}
	if b.Whole {
		if b.Required && !present(in.Get(bodyKey)) {
			return "Missing required request body."
		}
		return ""
	}
	for _, f := range b.Fields {
		if f.Required && !o.Carrier.Carries("body", f.Name) && !present(in.Get(f.Key)) {
			return "Missing required body field '" + f.Name + "'."
		}
	}
	return ""
}

// request is the normalized request of a call.
func (s *Simulator) request(c *Call, who *provider.Principal, id string) *provider.Request {
	o := c.Op
	req := &provider.Request{
		RequestID: id, CapabilityID: s.capability, OperationID: o.ID, ToolName: o.ToolName,
		Kind: o.Info.Kind, Action: o.Action, Resource: o.Info.Resource,
		Method: o.Info.Method, PathTemplate: o.Path,
		Principal: who, Body: o.body(c.Input),
	}
	for _, p := range o.Params {
		val := c.Input.Get(p.Key)
		if val == nil {
			continue
		}
		m := provider.Member{Name: p.Name, Value: val}
		switch p.In {
		case "path":
			req.Params.Path = append(req.Params.Path, m)
		case "query":
			req.Params.Query = append(req.Params.Query, m)
		case "header":
			req.Params.Header = append(req.Params.Header, m)
		case "cookie":
			req.Params.Cookie = append(req.Params.Cookie, m)
		}
	}
	if o.Paged() {
		req.Page = &provider.Page{Cursor: c.Cursor, Size: o.pageSizeFor(c.PageSize)}
	}
	if c.TenantID != "" {
		req.TenantID = &c.TenantID
	}
	if o.Carrier != nil && c.IdempotencyKey != "" {
		req.IdempotencyKey = &c.IdempotencyKey
	}
	return req
}

// body is the request body with the contract's field names: declared fields in
// declared order, nulls left out, nil when nothing is left; a whole body as it
// was sent.
func (o *Operation) body(in Input) Raw {
	b := o.Body
	if b == nil {
		return nil
	}
	if b.Whole {
		if val := in.Get(bodyKey); present(val) {
			return val
		}
		return nil
	}
	var dst []byte
	for _, f := range b.Fields {
		val := in.Get(f.Key)
		if !present(val) {
			continue
		}
		if dst == nil {
			dst = append(make([]byte, 0, 256), '{')
		} else {
			dst = append(dst, ',')
		}
		dst = append(append(canon.AppendString(dst, f.Name), ':'), val...)
	}
	if dst == nil {
		return nil
	}
	return append(dst, '}')
}

// ask puts the call to the provider and shapes its answer.
func (s *Simulator) ask(ctx context.Context, c *Call, who *provider.Principal, out *Outcome) {
	req := s.request(c, who, out.RequestID)
	out.Normalized = s.traceable(c, who, req)
	resp, err := invoke(ctx, s.opts.Provider, req)
	if err == nil {
		resp, err = vet(resp, req)
	}
	if resp != nil {
		out.Provider = resp.Raw
	}
	var malformed *provider.MalformedError
	switch {
	case errors.As(err, &malformed):
		if malformed.Raw != nil {
			out.Provider = malformed.Raw
		}
		out.Result = c.Op.refuse(provider.SchemaMismatch, fmt.Sprintf("State provider answered %s: %s.", c.Op.ID, malformed.Reason))
	case err != nil:
		out.Provider, out.Result = c.Op.unreachable(err)
	case !resp.OK:
		out.Result = c.Op.fromProvider(resp.Error)
	default:
		out.Result = success(req, resp)
		var dropped []string
		out.Result.Headers, dropped = c.Op.providerHeaders(resp.Headers)
		out.Warnings = append(out.Warnings, dropped...)
	}
}

// invoke asks a provider. One that panics could not answer: the call is answered
// and traced like any that reached nobody.
func invoke(ctx context.Context, p provider.Provider, req *provider.Request) (resp *provider.Response, err error) {
	defer func() {
		if r := recover(); r != nil {
			resp, err = nil, &provider.TransportError{Code: provider.UpstreamUnavailable, Message: fmt.Sprintf("State provider panicked: %v", r)}
		}
	}()
	return p.Invoke(ctx, req)
}

// traceable is the request as the trace may show it: its wire form, but for
// credentials.
func (s *Simulator) traceable(c *Call, who *provider.Principal, req *provider.Request) Raw {
	wire := req.Freeze()
	if len(c.Op.secrets) == 0 {
		return wire
	}
	shown := *c
	shown.Input = c.Op.hidden(c.Input)
	return s.request(&shown, who, req.RequestID).AppendJSON(nil)
}

// vet makes sure that an answer is one the protocol allows, by the same rules
// whether it came over a wire or was made in process.
func vet(resp *provider.Response, req *provider.Request) (*provider.Response, error) {
	if resp == nil {
		return nil, &provider.MalformedError{Reason: "no answer", Raw: []byte("null")}
	}
	canonical, err := resp.Canonical()
	if err != nil {
		return canonical, err
	}
	return canonical, canonical.CheckFor(req)
}

func (o *Operation) unreachable(err error) (Raw, Result) {
	code := provider.UpstreamUnavailable
	var te *provider.TransportError
	if errors.As(err, &te) && te.Code == provider.UpstreamTimeout {
		code = te.Code
	}
	miss := missOf(err)
	dst := canon.AppendString([]byte(`{"transportError":`), err.Error())
	if miss != nil {
		dst = append(append(dst, `,"miss":`...), miss...)
	}
	r := o.refuse(code, "State provider failed: "+err.Error())
	r.Error.Miss = miss
	return append(dst, '}'), r
}

// missOf is what a replaying provider says it has no recording of: data.miss of
// its JSON-RPC error, from a process or in process.
func missOf(err error) Raw {
	var data []byte
	var te *provider.TransportError
	var re *provider.RPCError
	switch {
	case errors.As(err, &te) && te.Data != nil:
		data = te.Data
	case errors.As(err, &re):
		data = re.Data
	}
	text, err := canon.AppendCompact(nil, data, canon.Lenient)
	if err != nil {
		return nil
	}
	miss, _ := canon.Lookup(text, "miss")
	return miss
}

func success(req *provider.Request, resp *provider.Response) Result {
	r := Result{OK: true, Output: Raw(resp.Result)}
	if req.Page == nil {
		if r.Output == nil {
			r.Output = Raw("null")
		}
		return r
	}
	r.Page = &Page{Items: JoinArray(resp.Items), Count: len(resp.Items), Size: req.Page.Size}
	r.Output = pageOutput(r.Page.Items)
	if resp.NextCursor != nil && *resp.NextCursor != "" {
		r.NextCursor = resp.NextCursor
	}
	r.Total = resp.Total
	return r
}

func pageOutput(items Raw) Raw {
	dst := append(make([]byte, 0, len(items)+10), `{"items":`...)
	return append(append(dst, items...), '}')
}

// JoinArray makes a JSON array of values in canonical spelling.
func JoinArray[T ~[]byte](items []T) Raw {
	n := 2
	for _, it := range items {
		n += len(it) + 1
	}
	dst := append(make([]byte, 0, n), '[')
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, it...)
	}
	return append(dst, ']')
}
