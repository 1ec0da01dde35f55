package provider

import (
	"fmt"
	"math"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// AppendJSON appends the params of `initialize` in the specification's key
// order.
func (p *InitializeParams) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"protocolVersion":`...), int64(p.ProtocolVersion), 10)
	dst = appendText(dst, `,"simulator":{"name":`, p.Simulator.Name)
	dst = appendText(dst, `,"version":`, p.Simulator.Version)
	dst = appendText(dst, `},"serviceId":`, p.ServiceID)
	dst = appendText(dst, `,"capabilityId":`, p.CapabilityID)
	dst = appendOptText(dst, `,"contractDigest":`, p.ContractDigest)
	dst = appendOptText(dst, `,"surfaceDigest":`, p.SurfaceDigest)
	dst = strconv.AppendUint(append(dst, `,"seed":`...), uint64(p.Seed), 10)
	dst = append(dst, `,"operations":[`...)
	for i := range p.Operations {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.Operations[i].appendJSON(dst)
	}
	return append(dst, ']', '}')
}

func (o *Operation) appendJSON(dst []byte) []byte {
	dst = appendText(dst, `{"operationId":`, o.OperationID)
	dst = appendText(dst, `,"toolName":`, o.ToolName)
	dst = appendText(dst, `,"kind":`, string(o.Kind))
	dst = appendText(dst, `,"action":`, o.Action)
	dst = appendOptText(dst, `,"resource":`, o.Resource)
	dst = appendText(dst, `,"method":`, o.Method)
	dst = appendText(dst, `,"pathTemplate":`, o.PathTemplate)
	dst = strconv.AppendBool(append(dst, `,"paged":`...), o.Paged)
	return append(dst, '}')
}

// MarshalJSON implements json.Marshaler with [InitializeParams.AppendJSON].
func (p InitializeParams) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler with [DecodeInitializeParams].
func (p *InitializeParams) UnmarshalJSON(raw []byte) error {
	decoded, err := DecodeInitializeParams(raw)
	if err == nil {
		*p = *decoded
	}
	return err
}

// DecodeInitializeParams reads the params of `initialize` from JSON in any
// spelling and key order; unknown keys are ignored, absent ones leave the zero
// value, a value of a wrong type is an error that names its JSON Pointer.
func DecodeInitializeParams(raw []byte) (*InitializeParams, error) {
	buf, err := canon.AppendCompact(make([]byte, 0, len(raw)), raw, canon.Lenient)
	if err != nil {
		return nil, fmt.Errorf("initialize params: %w", err)
	}
	t := taker{what: "initialize params"}
	p := new(InitializeParams)
	if t.object("the value", buf) {
		canon.Members(buf, func(key, val []byte) bool {
			p.take(&t, key, val)
			return t.err == nil
		})
	}
	if t.err != nil {
		return nil, t.err
	}
	return p, nil
}

func (p *InitializeParams) take(t *taker, key, val []byte) {
	switch string(key) {
	case `"protocolVersion"`:
		p.ProtocolVersion = int(t.integer("/protocolVersion", val, 0, math.MaxInt32))
	case `"simulator"`:
		p.Simulator = t.implementation(val)
	case `"serviceId"`:
		p.ServiceID = t.text("/serviceId", val)
	case `"capabilityId"`:
		p.CapabilityID = t.text("/capabilityId", val)
	case `"contractDigest"`:
		p.ContractDigest = t.optText("/contractDigest", val)
	case `"surfaceDigest"`:
		p.SurfaceDigest = t.optText("/surfaceDigest", val)
	case `"seed"`:
		p.Seed = uint32(t.integer("/seed", val, 0, math.MaxUint32))
	case `"operations"`:
		if !isArray(val) {
			t.fail("/operations", val, "an array")
			return
		}
		canon.Elements(val, func(val []byte) bool {
			p.Operations = append(p.Operations, t.operation("/operations/"+strconv.Itoa(len(p.Operations)), val))
			return t.err == nil
		})
	}
}

func (t *taker) implementation(val []byte) (i Implementation) {
	if t.object("/simulator", val) {
		canon.Members(val, func(key, val []byte) bool {
			switch string(key) {
			case `"name"`:
				i.Name = t.text("/simulator/name", val)
			case `"version"`:
				i.Version = t.text("/simulator/version", val)
			}
			return t.err == nil
		})
	}
	return i
}

func (t *taker) operation(at string, val []byte) (o Operation) {
	if !t.object(at, val) {
		return o
	}
	canon.Members(val, func(key, val []byte) bool {
		switch string(key) {
		case `"operationId"`:
			o.OperationID = t.text(at+"/operationId", val)
		case `"toolName"`:
			o.ToolName = t.text(at+"/toolName", val)
		case `"kind"`:
			o.Kind = Kind(t.text(at+"/kind", val))
		case `"action"`:
			o.Action = t.text(at+"/action", val)
		case `"resource"`:
			o.Resource = t.optText(at+"/resource", val)
		case `"method"`:
			o.Method = t.text(at+"/method", val)
		case `"pathTemplate"`:
			o.PathTemplate = t.text(at+"/pathTemplate", val)
		case `"paged"`:
			switch string(val) {
			case "true", "false":
				o.Paged = string(val) == "true"
			default:
				t.fail(at+"/paged", val, "true or false")
			}
		}
		return t.err == nil
	})
	return o
}

// AppendJSON appends the result of `initialize`: protocolVersion, then contract
// when there is one, made canonical (null when it is no JSON), then methods.
func (r *InitializeResult) AppendJSON(dst []byte) []byte {
	dst, _ = r.append(dst)
	return dst
}

func (r *InitializeResult) append(dst []byte) ([]byte, error) {
	var s splicer
	dst = strconv.AppendInt(append(dst, `{"protocolVersion":`...), int64(r.ProtocolVersion), 10)
	dst = s.value(dst, `,"contract":`, r.Contract)
	if len(r.Methods) > 0 {
		dst = append(dst, `,"methods":[`...)
		for i, m := range r.Methods {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = canon.AppendString(dst, m)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}'), s.err
}

// MarshalJSON implements json.Marshaler with [InitializeResult.AppendJSON]; a
// contract that is no JSON is an error.
func (r InitializeResult) MarshalJSON() ([]byte, error) { return r.append(nil) }

// UnmarshalJSON implements json.Unmarshaler with [DecodeInitializeResult].
func (r *InitializeResult) UnmarshalJSON(raw []byte) error {
	decoded, err := DecodeInitializeResult(raw)
	if err == nil {
		*r = *decoded
	}
	return err
}

// methodNames reads the announced methods. An entry that is no string is of no
// use and no harm.
func methodNames(val []byte) (names []string) {
	canon.Elements(val, func(e []byte) bool {
		if isString(e) {
			names = append(names, canon.Unquote(e))
		}
		return true
	})
	return names
}

// DecodeInitializeResult reads the result of `initialize`: an object with an
// integer protocolVersion, whichever it is, and perhaps a contract (null is
// absent). Unknown keys are ignored.
func DecodeInitializeResult(raw []byte) (*InitializeResult, error) {
	buf, err := canon.AppendCompact(make([]byte, 0, len(raw)), raw, canon.Lenient)
	if err != nil {
		return nil, fmt.Errorf("initialize result: %w", err)
	}
	t := taker{what: "initialize result"}
	r := new(InitializeResult)
	version := []byte("absent")
	if t.object("the value", buf) {
		canon.Members(buf, func(key, val []byte) bool {
			switch string(key) {
			case `"protocolVersion"`:
				version = val
			case `"contract"`:
				if !isNull(val) {
					r.Contract = val
				}
			case `"methods"`:
				r.Methods = methodNames(val)
			}
			return true
		})
		r.ProtocolVersion = int(t.integer("/protocolVersion", version, 0, math.MaxInt32))
	}
	if t.err != nil {
		return nil, t.err
	}
	return r, nil
}
