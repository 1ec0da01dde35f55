package provider

import (
	"encoding/json"
	"fmt"
)

// Code is one of the error codes of the specification's taxonomy.
type Code string

// The error codes.
const (
	ValidationError              Code = "validation_error"
	AuthRequired                 Code = "auth_required"
	PermissionDenied             Code = "permission_denied"
	NotFound                     Code = "not_found"
	Conflict                     Code = "conflict"
	RateLimited                  Code = "rate_limited"
	UpstreamTimeout              Code = "upstream_timeout"
	UpstreamUnavailable          Code = "upstream_unavailable"
	UnsafeRetryBlocked           Code = "unsafe_retry_blocked"
	ConfirmationRequired         Code = "confirmation_required"
	IdempotencyRequired          Code = "idempotency_required"
	IdempotencyLedgerUnavailable Code = "idempotency_ledger_unavailable"
	SchemaMismatch               Code = "schema_mismatch"
	UnsupportedOperation         Code = "unsupported_operation"
	PolicyDenied                 Code = "policy_denied"
	UnknownUpstreamError         Code = "unknown_upstream_error"
)

// Codes lists every code of the taxonomy, in the specification's order.
func Codes() []Code {
	return []Code{
		ValidationError, AuthRequired, PermissionDenied, NotFound, Conflict, RateLimited,
		UpstreamTimeout, UpstreamUnavailable, UnsafeRetryBlocked, ConfirmationRequired,
		IdempotencyRequired, IdempotencyLedgerUnavailable, SchemaMismatch,
		UnsupportedOperation, PolicyDenied, UnknownUpstreamError,
	}
}

// Status is the conventional HTTP status of a code; an unknown code is 500.
func (c Code) Status() int {
	switch c {
	case ValidationError, ConfirmationRequired, IdempotencyRequired:
		return 400
	case AuthRequired:
		return 401
	case PermissionDenied, PolicyDenied:
		return 403
	case NotFound, UnsupportedOperation:
		return 404
	case Conflict, UnsafeRetryBlocked:
		return 409
	case RateLimited:
		return 429
	case SchemaMismatch:
		return 502
	case UpstreamUnavailable, IdempotencyLedgerUnavailable:
		return 503
	case UpstreamTimeout:
		return 504
	}
	return 500
}

// Known reports whether the code is one of the taxonomy.
func (c Code) Known() bool { return c == UnknownUpstreamError || c.Status() != 500 }

// Fail makes the answer of a domain error.
func Fail(code Code, format string, args ...any) *Response {
	msg := fmt.Sprintf(format, args...)
	return &Response{Error: &Error{Code: code, Message: &msg}}
}

// A TransportError says that a provider could not answer a request.
type TransportError struct {
	Code    Code // UpstreamUnavailable or UpstreamTimeout
	Message string
	Data    json.RawMessage // what the provider's JSON-RPC error said beside its message; nil is absent
}

// Error implements error.
func (e *TransportError) Error() string { return e.Message }

// A MalformedError says that a provider answered something that the protocol
// does not allow.
type MalformedError struct {
	Reason string // what is wrong: "expected an object with a boolean 'ok'"
	Raw    []byte // the answer in canonical spelling, nil when there was none
}

// Error implements error.
func (e *MalformedError) Error() string { return e.Reason }
