package sim

import (
	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// refuse is a failure that the simulator itself raises: the operation's
// declared error for the code supplies status and vendor code, the message
// stays.
func (o *Operation) refuse(code provider.Code, message string) Result {
	var declared *air.DeclaredError
	if o != nil {
		declared = o.errByCode[string(code)]
	}
	e := newError(code, declared)
	e.Message, e.Body = message, errorBody(e.Vendor, message)
	return Result{Error: e}
}

// newError is an error with the status and the vendor code of its declared entry,
// which may be nil.
func newError(code provider.Code, declared *air.DeclaredError) *Error {
	e := &Error{Code: code, Status: code.Status(), Vendor: string(code)}
	if declared == nil {
		return e
	}
	if declared.HTTPStatus != 0 {
		e.Status = declared.HTTPStatus
	}
	if declared.UpstreamCode != "" {
		e.Vendor = declared.UpstreamCode
	}
	return e
}

// fromProvider maps a provider's domain error onto the operation's declared
// errors: an entry that names its upstream code wins, then one with its code.
func (o *Operation) fromProvider(p *provider.Error) Result {
	declared := o.errByCode[string(p.Code)]
	if p.UpstreamCode != nil {
		if d := o.errByName[*p.UpstreamCode]; d != nil {
			declared = d
		}
	}
	code := p.Code
	if !code.Known() {
		code = provider.UnknownUpstreamError
	}
	if declared != nil {
		code = provider.Code(declared.Code)
	}
	e := newError(code, declared)
	e.FromProvider, e.Message = true, string(code)
	if declared != nil && declared.Message != "" {
		e.Message = declared.Message
	}
	if p.UpstreamCode != nil {
		e.Vendor = *p.UpstreamCode
	}
	if p.Message != nil {
		e.Message = *p.Message
	}
	if p.Status != nil {
		e.Status = *p.Status
	}
	e.Body = Raw(p.Body)
	if e.Body == nil {
		e.Body = errorBody(e.Vendor, e.Message)
	}
	return Result{Error: e}
}

// errorBody is the default error body of the specification.
func errorBody(code, message string) Raw {
	dst := canon.AppendString([]byte(`{"error":{"code":`), code)
	dst = canon.AppendString(append(dst, `,"message":`...), message)
	return append(dst, "}}"...)
}
