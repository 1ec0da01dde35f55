package surface

import (
	"net/http"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// An inbound is one request on its way in.
type inbound struct {
	method  string
	target  target
	header  http.Header
	origin  string // scheme and host that the client called
	body    []byte
	refused *sim.Refusal // the body could not be read
	plan    *plan        // nil when no route matched

	json sim.Raw // the body in canonical spelling, nil when it is not JSON
	text bool    // the trace shows the body as text

	warnings []string // for the trace: what of the request did not reach the call
}

// decode reads the request as its operation declares.
func (in *inbound) decode(seq int, pathValues []string, s *sim.Simulator) *sim.Call {
	c := in.call(seq, s)
	p := in.plan
	if p == nil {
		c.Unknown = in.method + " " + in.target.path
		in.looseBody()
		return c
	}
	c.Op = p.op
	in.readParams(c, pathValues)
	in.readBody(c)
	c.IdempotencyKey = in.key(c, pathValues)
	in.readPage(c)
	return c
}

// call begins a call with what every request may say about its caller.
func (in *inbound) call(seq int, s *sim.Simulator) *sim.Call {
	return &sim.Call{
		Seq: seq, TenantID: in.one("X-Anvil-Tenant"), Fault: in.one("X-Anvil-Fault"), Principal: in.principal(s),
	}
}

// one is a header as Node and fetch join it: repeated ones with ", ".
func (in *inbound) one(name string) string {
	switch v := in.header[name]; len(v) {
	case 0:
		return ""
	case 1:
		return fromLatin1(v[0])
	default:
		return fromLatin1(strings.Join(v, ", "))
	}
}

// principal is the X-Anvil-Principal header, else a bearer token that names a
// simulated principal, else none.
func (in *inbound) principal(s *sim.Simulator) string {
	if id := in.one("X-Anvil-Principal"); id != "" {
		return id
	}
	auth := in.one("Authorization")
	if len(auth) > 7 && strings.EqualFold(auth[:6], "bearer") && (auth[6] == ' ' || auth[6] == '\t') {
		if id := strings.TrimSpace(auth[7:]); s.IsPrincipal(id) {
			return id
		}
	}
	return ""
}

func (in *inbound) readParams(c *sim.Call, pathValues []string) {
	for i := range in.plan.params {
		p := &in.plan.params[i]
		var val sim.Raw
		switch p.In {
		case "path":
			raw, ok := in.plan.pathValue(p.Name, pathValues)
			if !ok {
				continue
			}
			if val, ok = p.path(raw); !ok {
				c.Undecodable = &sim.Refusal{Status: http.StatusBadRequest, Message: "Path parameter '" + p.Name + "' is not valid percent-encoding."}
			}
		case "query":
			val = p.query(&in.target)
		case "header":
			if name := http.CanonicalHeaderKey(p.Name); len(in.header[name]) > 0 {
				val = p.headerValue(in.one(name))
			}
		case "cookie":
			val = p.cookie(in.header["Cookie"])
		}
		if val != nil {
			c.Input.Set(p.Key, val)
		}
	}
}

func (p *plan) pathValue(name string, values []string) (string, bool) {
	if i := slices.Index(p.template, name); i >= 0 && i < len(values) {
		return values[i], true
	}
	return "", false
}

// cookieValues finds the cookies of a name: split at ;, outer quotes dropped, not
// decoded.
func cookieValues(headers []string, name string) (values []string) {
	for _, h := range headers {
		for part := range strings.SplitSeq(h, ";") {
			n, v, ok := strings.Cut(part, "=")
			if !ok || fromLatin1(strings.TrimSpace(n)) != name {
				continue
			}
			v = strings.TrimSpace(v)
			if len(v) >= 2 && v[0] == '"' && v[len(v)-1] == '"' {
				v = v[1 : len(v)-1]
			}
			values = append(values, fromLatin1(v))
		}
	}
	return values
}

// readFields takes the declared top-level fields, in declared order.
func (in *inbound) readFields(c *sim.Call) {
	b := c.Op.Body
	var buf [32]sim.Raw
	found := append(buf[:0], make([]sim.Raw, len(b.Fields))...)
	canon.Members(in.json, func(key, val []byte) bool {
		if i, ok := in.plan.field(key); ok {
			found[i] = val
		}
		return true
	})
	for i, f := range b.Fields {
		if found[i] != nil {
			c.Input.Set(f.Key, found[i])
		}
	}
}

// field finds a declared field by its key as it stands in canonical JSON.
func (p *plan) field(key []byte) (int, bool) {
	if p.op.Body.AnyCase {
		i, ok := p.fields[strings.ToLower(canon.Unquote(key))]
		return i, ok
	}
	inner := key[1 : len(key)-1]
	for _, c := range inner {
		if c == '\\' {
			i, ok := p.fields[canon.Unquote(key)]
			return i, ok
		}
	}
	i, ok := p.fields[string(inner)]
	return i, ok
}

// key reads the idempotency key from where the contract carries it.
func (in *inbound) key(c *sim.Call, pathValues []string) string {
	k := c.Op.Carrier
	if k == nil {
		return ""
	}
	switch k.In {
	case "header":
		return in.one(http.CanonicalHeaderKey(k.Name))
	case "query":
		v, _ := in.target.last(k.Name)
		return v
	case "path":
		v, _ := in.plan.pathValue(k.Name, pathValues)
		return v
	}
	if len(k.Pointer) > 0 {
		return sim.KeyText(sim.PointerLookup(in.json, k.Pointer))
	}
	val, _ := canon.Lookup(in.json, k.Name)
	return sim.KeyText(val)
}

// readPage reads cursor and page size from the query or, when the contract
// pages in the body, from its fields.
func (in *inbound) readPage(c *sim.Call) {
	p := c.Op.Pagination
	if p == nil {
		return
	}
	if p.InBody {
		cursor, _ := canon.Lookup(in.json, p.CursorParam)
		c.Cursor = sim.CursorText(cursor)
		size, _ := canon.Lookup(in.json, p.PageSizeParam)
		c.PageSize = sim.PageSizeOf(size)
		return
	}
	for _, name := range in.plan.cursors {
		if v, ok := in.target.last(name); ok {
			c.Cursor = &v
			break
		}
	}
	if v, ok := in.target.last(p.PageSizeParam); ok && p.PageSizeParam != "" {
		c.PageSize = sim.PageSizeText(v)
	}
}
