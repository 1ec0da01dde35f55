package provider

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Result is the answer whose result is v as encoding/json spells it. It has the
// results of [Provider.Invoke], so that a provider can return it as it is.
func Result(v any) (*Response, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	return ResultJSON(raw), nil
}

// ResultJSON is the answer whose result is raw JSON; nil is an answer without a
// result (204 where the contract declares it).
func ResultJSON(raw []byte) *Response { return &Response{OK: true, Result: raw} }

// PageOf is the answer of a paged operation: at most page.size items, each as
// encoding/json spells it, and the cursor of the next page, "" on the last.
func PageOf[T any](items []T, next string) (*Response, error) {
	r := &Response{OK: true, Items: make([]json.RawMessage, len(items))}
	for i, item := range items {
		raw, err := json.Marshal(item)
		if err != nil {
			return nil, fmt.Errorf("encode item %d: %w", i, err)
		}
		r.Items[i] = raw
	}
	if next != "" {
		r.NextCursor = &next
	}
	return r, nil
}

// ParseResponse reads an answer from JSON in any spelling. The values of the
// response are parts of [Response.Raw], its canonical copy.
//
// The error is a *[MalformedError]: no object with a boolean ok, an error
// without a string code, an upstreamCode or message that is no string, a status
// that is no integer from 100 to 599. The response is not nil beside it when raw
// is JSON: it then carries Raw, for the trace. What only a paged operation asks
// for is checked by [Response.CheckFor].
func ParseResponse(raw []byte) (*Response, error) {
	buf, err := canon.AppendCompact(make([]byte, 0, len(raw)), raw, canon.Lenient)
	if err != nil {
		return nil, &MalformedError{Reason: "the answer is not JSON: " + err.Error()}
	}
	return ParseCanonical(buf)
}

// ParseCanonical is [ParseResponse] for an answer that is in canonical spelling
// already, as [ParseMessage] leaves it. It keeps raw, which must not be changed
// afterwards; text in another spelling may make it panic.
func ParseCanonical(raw []byte) (*Response, error) {
	r := &Response{Raw: raw}
	var ok, result, items, next, total, failure []byte
	if isObject(raw) {
		canon.Members(raw, func(key, val []byte) bool {
			switch string(key) {
			case `"ok"`:
				ok = val
			case `"result"`:
				result = val
			case `"items"`:
				items = val
			case `"nextCursor"`:
				next = val
			case `"total"`:
				total = val
			case `"error"`:
				failure = val
			case `"headers"`:
				r.Headers = val
			case `"meta"`:
				r.Meta = val
			}
			return true
		})
	}
	switch string(ok) {
	case "true":
		r.OK, r.Result = true, result
		r.takePage(items, next, total)
		return r, nil
	case "false":
		return r, r.takeError(failure)
	}
	return r, r.malformed("expected an object with a boolean 'ok'")
}

func (r *Response) malformed(format string, args ...any) error {
	return &MalformedError{Reason: fmt.Sprintf(format, args...), Raw: r.Raw}
}

// takePage keeps what is well formed and notes what is not: an operation that
// is not paged never looks at it.
func (r *Response) takePage(items, next, total []byte) {
	if isArray(items) {
		r.Items = []json.RawMessage{}
		canon.Elements(items, func(val []byte) bool {
			r.Items = append(r.Items, val)
			return true
		})
	}
	switch {
	case isString(next):
		if s := canon.Unquote(next); s != "" { // an empty cursor is the last page too
			r.NextCursor = &s
		}
	case next != nil && !isNull(next):
		r.badCursor = true
	}
	if total == nil {
		return
	}
	n, ok := integer(total)
	if ok && n >= 0 {
		r.Total = &n
	} else {
		r.badTotal = true
	}
}

func (r *Response) takeError(failure []byte) error {
	var code, upstream, message, status []byte
	e := new(Error)
	canon.Members(failure, func(key, val []byte) bool {
		switch string(key) {
		case `"code"`:
			code = val
		case `"upstreamCode"`:
			upstream = val
		case `"message"`:
			message = val
		case `"status"`:
			status = val
		case `"body"`:
			e.Body = val
		}
		return true
	})
	if !isString(code) {
		return r.malformed("an error needs 'error.code', a string")
	}
	e.Code = Code(canon.Unquote(code))
	var ok bool
	if e.UpstreamCode, ok = optional(upstream); !ok {
		return r.malformed("'error.upstreamCode' is %s, want a string", clip(upstream))
	}
	if e.Message, ok = optional(message); !ok {
		return r.malformed("'error.message' is %s, want a string", clip(message))
	}
	if status != nil && !isNull(status) {
		n, ok := integer(status)
		if !ok || n < minStatus || n > maxStatus {
			return r.malformed("'error.status' is %s, want an integer from %d to %d", clip(status), minStatus, maxStatus)
		}
		s := int(n)
		e.Status = &s
	}
	r.Error = e
	return nil
}

// The HTTP statuses that an error may ask for.
const minStatus, maxStatus = 100, 599

// optional is a string that may be absent or null; ok is false for anything else.
func optional(val []byte) (s *string, ok bool) {
	if val == nil || isNull(val) {
		return nil, true
	}
	if !isString(val) {
		return nil, false
	}
	text := canon.Unquote(val)
	return &text, true
}

// CheckFor reports what the answer lacks for a request, as a *[MalformedError]:
// a paged request needs items, at most page.size of them, a total that is a
// non-negative integer, and a nextCursor that is a string or null; the first of
// these faults wins. An error needs a code and an HTTP status that exists. An
// operation that is not paged takes any success.
func (r *Response) CheckFor(req *Request) error {
	switch {
	case !r.OK && r.Error == nil:
		return r.malformed("an error needs 'error.code', a string")
	case !r.OK:
		if s := r.Error.Status; s != nil && (*s < minStatus || *s > maxStatus) {
			return r.malformed("'error.status' is %d, want an integer from %d to %d", *s, minStatus, maxStatus)
		}
		return nil
	case req.Page == nil:
		return nil
	case r.Items == nil:
		return r.malformed("a paged operation needs an 'items' array")
	case len(r.Items) > req.Page.Size:
		return r.malformed("returned %d items for a page of %d; honour page.size and return a nextCursor",
			len(r.Items), req.Page.Size)
	case r.badTotal || r.Total != nil && *r.Total < 0:
		return r.malformed("'total' must be a non-negative integer, at most %d", int64(math.MaxInt64))
	case r.badCursor:
		return r.malformed("'nextCursor' must be a string or null")
	}
	return nil
}

// Canonical is the answer as a host wants it: values canonical, parts of one
// [Response.Raw]. It is r itself when that came over a wire, else a copy; the
// *[MalformedError] names a value that is no JSON.
func (r *Response) Canonical() (*Response, error) {
	if r.Raw != nil {
		return r, nil
	}
	raw, err := r.append(make([]byte, 0, r.sizeHint()))
	if err != nil {
		return nil, err
	}
	return ParseCanonical(raw)
}

func (r *Response) sizeHint() int {
	n := 128 + len(r.Result) + len(r.Headers) + len(r.Meta)
	for _, item := range r.Items {
		n += len(item) + 1
	}
	return n
}

// AppendJSON appends the canonical wire form: [Response.Raw] when it is set (clear
// it after changing a field), else ok, result, items, nextCursor and total, or
// error{code, upstreamCode, message, status, body}, then headers and meta, as far
// as they are set. Values are made canonical; one that is no JSON is written as
// null ([Response.Canonical] reports it).
func (r *Response) AppendJSON(dst []byte) []byte {
	dst, _ = r.append(dst)
	return dst
}

// MarshalJSON implements json.Marshaler with [Response.AppendJSON]; a value that
// is no JSON is an error.
func (r Response) MarshalJSON() ([]byte, error) { return r.append(nil) }

// UnmarshalJSON implements json.Unmarshaler with [ParseResponse].
func (r *Response) UnmarshalJSON(raw []byte) error {
	parsed, err := ParseResponse(raw)
	if err == nil {
		*r = *parsed
	}
	return err
}

func (r *Response) append(dst []byte) ([]byte, error) {
	if r.Raw != nil {
		return append(dst, r.Raw...), nil
	}
	var s splicer
	if r.OK {
		dst = r.appendSuccess(append(dst, `{"ok":true`...), &s)
	} else {
		dst = r.Error.append(append(dst, `{"ok":false`...), &s)
	}
	dst = s.value(dst, `,"headers":`, r.Headers)
	dst = s.value(dst, `,"meta":`, r.Meta)
	return append(dst, '}'), s.err
}

func (r *Response) appendSuccess(dst []byte, s *splicer) []byte {
	dst = s.value(dst, `,"result":`, r.Result)
	if r.Items != nil {
		dst = append(dst, `,"items":[`...)
		for i, item := range r.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if item == nil {
				item = json.RawMessage("null")
			}
			dst = s.value(dst, "", item)
		}
		dst = appendOptText(append(dst, ']'), `,"nextCursor":`, r.NextCursor)
	}
	if r.Total != nil {
		dst = strconv.AppendInt(append(dst, `,"total":`...), *r.Total, 10)
	}
	return dst
}

func (e *Error) append(dst []byte, s *splicer) []byte {
	if e == nil {
		return dst
	}
	dst = appendText(dst, `,"error":{"code":`, string(e.Code))
	if e.UpstreamCode != nil {
		dst = appendText(dst, `,"upstreamCode":`, *e.UpstreamCode)
	}
	if e.Message != nil {
		dst = appendText(dst, `,"message":`, *e.Message)
	}
	if e.Status != nil {
		dst = strconv.AppendInt(append(dst, `,"status":`...), int64(*e.Status), 10)
	}
	dst = s.value(dst, `,"body":`, e.Body)
	return append(dst, '}')
}

// A splicer makes the values of an author canonical and keeps the first fault.
type splicer struct{ err error }

// value appends key and val, nothing when val is nil.
func (s *splicer) value(dst []byte, key string, val json.RawMessage) []byte {
	if val == nil {
		return dst
	}
	dst = append(dst, key...)
	out, err := canon.AppendCompact(dst, val, canon.Lenient)
	if err == nil {
		return out
	}
	if s.err == nil {
		s.err = &MalformedError{Reason: fmt.Sprintf("a value of the answer is not JSON (after %q): %v", clip(tail(dst)), err)}
	}
	return append(dst, "null"...)
}

// tail is the end of what was written before a fault, which shows its place.
func tail(b []byte) []byte { return b[max(0, len(b)-shown):] }
