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
	e := &Error{Code: code, Message: message, Status: code.Status()}
	vendor := string(code)
	if declared != nil {
		if declared.HTTPStatus != 0 {
			e.Status = declared.HTTPStatus
		}
		if declared.UpstreamCode != "" {
			vendor = declared.UpstreamCode
		}
	}
	e.Vendor, e.Body = vendor, errorBody(vendor, message)
	return Result{Error: e}
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
	e := &Error{Code: code, Message: string(code), Status: code.Status(), FromProvider: true}
	vendor := string(code)
	if declared != nil {
		if declared.HTTPStatus != 0 {
			e.Status = declared.HTTPStatus
		}
		if declared.UpstreamCode != "" {
			vendor = declared.UpstreamCode
		}
		if declared.Message != "" {
			e.Message = declared.Message
		}
	}
	if p.UpstreamCode != nil {
		vendor = *p.UpstreamCode
	}
	if p.Message != nil {
		e.Message = *p.Message
	}
	if p.Status != nil {
		e.Status = *p.Status
	}
	e.Vendor, e.Body = vendor, Raw(p.Body)
	if e.Body == nil {
		e.Body = errorBody(vendor, e.Message)
	}
	return Result{Error: e}
}

// ErrorBody is the default error body of the specification.
func errorBody(code, message string) Raw {
	dst := canon.AppendString([]byte(`{"error":{"code":`), code)
	dst = canon.AppendString(append(dst, `,"message":`...), message)
	return append(dst, "}}"...)
}
