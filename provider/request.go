package provider

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// AppendJSON appends the canonical wire form of the request: the key order of
// the specification's `invoke`, every key present, no spaces. Values are spliced
// as they are and must be canonical JSON; a nil value is null.
func (r *Request) AppendJSON(dst []byte) []byte {
	if r.wire != nil {
		return append(dst, r.wire...)
	}
	dst = appendText(dst, `{"requestId":`, r.RequestID)
	dst = appendText(dst, `,"capabilityId":`, r.CapabilityID)
	dst = appendText(dst, `,"operationId":`, r.OperationID)
	dst = appendText(dst, `,"toolName":`, r.ToolName)
	dst = appendText(dst, `,"kind":`, string(r.Kind))
	dst = appendText(dst, `,"action":`, r.Action)
	dst = appendOptText(dst, `,"resource":`, r.Resource)
	dst = appendText(dst, `,"method":`, r.Method)
	dst = appendText(dst, `,"pathTemplate":`, r.PathTemplate)
	dst = append(dst, `,"params":{"path":`...)
	dst = r.Params.Path.AppendJSON(dst)
	dst = append(dst, `,"query":`...)
	dst = r.Params.Query.AppendJSON(dst)
	dst = append(dst, `,"header":`...)
	dst = r.Params.Header.AppendJSON(dst)
	dst = append(dst, `,"cookie":`...)
	dst = r.Params.Cookie.AppendJSON(dst)
	dst = append(dst, `},"body":`...)
	dst = appendValue(dst, r.Body)
	dst = append(dst, `,"page":`...)
	dst = r.Page.appendJSON(dst)
	dst = append(dst, `,"principal":`...)
	dst = r.Principal.appendJSON(dst)
	dst = appendOptText(dst, `,"tenantId":`, r.TenantID)
	dst = appendOptText(dst, `,"idempotencyKey":`, r.IdempotencyKey)
	return append(dst, '}')
}

// Freeze makes the canonical wire form, keeps it, and returns it: from then on
// [Request.AppendJSON] splices it. The request and the returned bytes must not
// be changed afterwards. The first Freeze must not run beside another use of
// the request.
func (r *Request) Freeze() []byte {
	if r.wire == nil {
		r.wire = r.AppendJSON(make([]byte, 0, 512+len(r.Body)))
	}
	return r.wire
}

// MarshalJSON implements json.Marshaler with [Request.AppendJSON].
func (r Request) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler with [DecodeRequest].
func (r *Request) UnmarshalJSON(raw []byte) error {
	decoded, err := DecodeRequest(raw)
	if err == nil {
		*r = *decoded
	}
	return err
}

// AppendJSON appends the object with its members in order; a nil value is null.
func (o Object) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(dst, m.Name)
		dst = append(dst, ':')
		dst = appendValue(dst, m.Value)
	}
	return append(dst, '}')
}

func (p *Page) appendJSON(dst []byte) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	dst = appendOptText(dst, `{"cursor":`, p.Cursor)
	dst = append(dst, `,"size":`...)
	dst = strconv.AppendInt(dst, int64(p.Size), 10)
	return append(dst, '}')
}

func (p *Principal) appendJSON(dst []byte) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	dst = appendText(dst, `{"id":`, p.ID)
	dst = appendText(dst, `,"role":`, p.Role)
	dst = append(dst, `,"scopes":[`...)
	for i, s := range p.Scopes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(dst, s)
	}
	return append(dst, ']', '}')
}

func appendText(dst []byte, key, s string) []byte {
	return canon.AppendString(append(dst, key...), s)
}

func appendOptText(dst []byte, key string, s *string) []byte {
	if s == nil {
		return append(append(dst, key...), "null"...)
	}
	return appendText(dst, key, *s)
}

func appendValue(dst []byte, val json.RawMessage) []byte {
	if val == nil {
		return append(dst, "null"...)
	}
	return append(dst, val...)
}

// DecodeRequest reads a request from JSON in any spelling and key order. Keys
// match exactly; unknown keys are ignored; an absent key leaves the zero value,
// so that a request of an older simulator (without params.cookie) is read too. A
// value of a wrong type is an error that names its JSON Pointer.
//
// The values of the request are canonical and share one buffer, a copy of raw.
func DecodeRequest(raw []byte) (*Request, error) {
	buf, err := canon.AppendCompact(make([]byte, 0, len(raw)), raw, canon.Lenient)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return decodeRequest(buf)
}

// decodeRequest reads a request from canonical JSON and keeps parts of it.
func decodeRequest(obj []byte) (*Request, error) {
	t := taker{what: "request"}
	r := new(Request)
	if t.object("the value", obj) {
		canon.Members(obj, func(key, val []byte) bool {
			r.take(&t, key, val)
			return t.err == nil
		})
	}
	if t.err != nil {
		return nil, t.err
	}
	return r, nil
}

func (r *Request) take(t *taker, key, val []byte) {
	switch string(key) {
	case `"requestId"`:
		r.RequestID = t.text("/requestId", val)
	case `"capabilityId"`:
		r.CapabilityID = t.text("/capabilityId", val)
	case `"operationId"`:
		r.OperationID = t.text("/operationId", val)
	case `"toolName"`:
		r.ToolName = t.text("/toolName", val)
	case `"kind"`:
		r.Kind = Kind(t.text("/kind", val))
	case `"action"`:
		r.Action = t.text("/action", val)
	case `"resource"`:
		r.Resource = t.optText("/resource", val)
	case `"method"`:
		r.Method = t.text("/method", val)
	case `"pathTemplate"`:
		r.PathTemplate = t.text("/pathTemplate", val)
	case `"params"`:
		r.Params = t.params(val)
	case `"body"`:
		if !isNull(val) {
			r.Body = val
		}
	case `"page"`:
		r.Page = t.page(val)
	case `"principal"`:
		r.Principal = t.principal(val)
	case `"tenantId"`:
		r.TenantID = t.optText("/tenantId", val)
	case `"idempotencyKey"`:
		r.IdempotencyKey = t.optText("/idempotencyKey", val)
	}
}

func (t *taker) params(val []byte) (p Params) {
	if !t.object("/params", val) {
		return p
	}
	canon.Members(val, func(key, val []byte) bool {
		switch string(key) {
		case `"path"`:
			p.Path = t.members("/params/path", val)
		case `"query"`:
			p.Query = t.members("/params/query", val)
		case `"header"`:
			p.Header = t.members("/params/header", val)
		case `"cookie"`:
			p.Cookie = t.members("/params/cookie", val)
		}
		return t.err == nil
	})
	return p
}

func (t *taker) members(at string, val []byte) (o Object) {
	if t.object(at, val) {
		canon.Members(val, func(key, val []byte) bool {
			o = append(o, Member{canon.Unquote(key), val[:len(val):len(val)]})
			return true
		})
	}
	return o
}

func (t *taker) page(val []byte) *Page {
	if isNull(val) || !t.object("/page", val) {
		return nil
	}
	p := new(Page)
	canon.Members(val, func(key, val []byte) bool {
		switch string(key) {
		case `"cursor"`:
			p.Cursor = t.optText("/page/cursor", val)
		case `"size"`:
			p.Size = int(t.integer("/page/size", val, 1, math.MaxInt32))
		}
		return t.err == nil
	})
	if p.Size == 0 {
		t.fail("/page/size", []byte("absent"), "a positive integer")
	}
	return p
}

func (t *taker) principal(val []byte) *Principal {
	if isNull(val) || !t.object("/principal", val) {
		return nil
	}
	p := new(Principal)
	canon.Members(val, func(key, val []byte) bool {
		switch string(key) {
		case `"id"`:
			p.ID = t.text("/principal/id", val)
		case `"role"`:
			p.Role = t.text("/principal/role", val)
		case `"scopes"`:
			p.Scopes = t.texts("/principal/scopes", val)
		}
		return t.err == nil
	})
	return p
}

func (t *taker) texts(at string, val []byte) (list []string) {
	if !isArray(val) {
		t.fail(at, val, "an array of strings")
		return nil
	}
	canon.Elements(val, func(val []byte) bool {
		list = append(list, t.text(at, val))
		return t.err == nil
	})
	return list
}
