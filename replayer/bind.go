package replayer

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/route"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// A bound is a recorded request tied to an operation.
type bound struct {
	op     *operation
	asked  *asked
	cursor *string // what a paged request continued from
	size   string  // text of the page size that it asked for, "" for none
}

// bindHTTP reads a recorded HTTP request on the contract's terms, nil when no
// operation claims it.
func (c *contract) bindHTTP(r *tape.Request) *bound {
	_, path, query := splitURL(r.URL)
	if b := c.bindGraphQL(r); b != nil {
		return b
	}
	op, values := c.find(r.Method, path)
	if op == nil {
		return nil
	}
	b := &bound{op: op, asked: &asked{op: op.ID, group: op.ID}}
	pairs := parseQuery(query)
	for i := range op.params {
		p := &op.params[i]
		if v := recordedParam(p, values, pairs, r.Header); v != nil {
			b.param(p.In, p.Name, v)
		}
	}
	b.setBody(op.recordedBody(r))
	b.readCarrier(values, pairs, r)
	b.readQueryPage(pairs)
	b.asked.sort()
	return b
}

func recordedParam(p *param, values []route.Param, pairs []pair, h tape.Header) *canon.Value {
	switch p.In {
	case "path":
		for _, v := range values {
			if v.Name == p.Name {
				return p.texts([]string{unescape(v.Text, false)})
			}
		}
	case "query":
		return p.query(pairs)
	case "header":
		if vals := h.Values(p.Name); len(vals) > 0 {
			return p.texts([]string{strings.Join(vals, ", ")})
		}
	case "cookie":
		for _, line := range h.Values("Cookie") {
			for part := range strings.SplitSeq(line, ";") {
				if name, v, ok := strings.Cut(strings.TrimSpace(part), "="); ok && name == p.Name {
					return p.texts([]string{v})
				}
			}
		}
	}
	return nil
}

// bindCall reads a normalized request. Without an operation of the contract it
// is compared as it stands.
func (c *contract) bindCall(req *provider.Request) *bound {
	b := &bound{asked: &asked{op: req.OperationID, group: req.OperationID}}
	if c != nil {
		b.op = c.ops[req.OperationID]
	}
	for _, in := range []struct {
		name string
		list provider.Object
	}{{"path", req.Params.Path}, {"query", req.Params.Query}, {"header", req.Params.Header}, {"cookie", req.Params.Cookie}} {
		for _, m := range in.list {
			if v, err := canon.Parse(m.Value, canon.Lenient); err == nil {
				b.param(in.name, m.Name, v)
			}
		}
	}
	if body, err := canon.Parse(req.Body, canon.Lenient); err == nil {
		b.setBody(body)
	}
	if req.IdempotencyKey != nil {
		b.asked.key = *req.IdempotencyKey
		b.asked.text("key", "", b.asked.key)
	}
	if req.Page != nil {
		b.setCursor(req.Page.Cursor)
	}
	if req.Principal != nil {
		b.asked.text("principal", "", req.Principal.ID)
	}
	if req.TenantID != nil {
		b.asked.text("tenant", "", *req.TenantID)
	}
	b.asked.sort()
	return b
}

// param adds a parameter, unless it is the page's, the key's or a credential's.
func (b *bound) param(in, name string, v *canon.Value) {
	value := string(canon.AppendIdentity(nil, v))
	if in == "header" {
		name = strings.ToLower(name)
	}
	if b.op != nil {
		p := b.op.Pagination
		switch {
		case b.op.carries(in, name) || b.op.credential(in, name):
			return
		case p != nil && in == "query" && !p.InBody && name == p.PageSizeParam:
			b.size = plainText(v)
			b.asked.add("size", "", value)
			return
		case p != nil && in == "query" && !p.InBody && name == p.CursorParam:
			return // the page says it
		case p != nil && in == "query" && name == "$skip" && strings.HasPrefix(p.CursorParam, "$"):
			return
		}
	}
	b.asked.add(in, name, value)
}

func plainText(v *canon.Value) string {
	if v.Is(canon.String) {
		return v.Text()
	}
	return v.String()
}

// carries reports whether an input is the idempotency key's.
func (o *operation) carries(in, name string) bool {
	c := o.carrier
	return c != nil && c.In == in && (c.Name == name || in == "header" && strings.EqualFold(c.Name, name))
}

// credential reports whether an input is the credential that the contract
// declares: recordings do not hold it.
func (o *operation) credential(in, name string) bool {
	c := o.Auth.Carrier
	return c != nil && c.In == in && (c.Name == name || in == "header" && strings.EqualFold(c.Name, name)) ||
		in == "header" && name == "authorization"
}

// setBody adds the leaves of a body, without the key and the page's fields.
func (b *bound) setBody(v *canon.Value) {
	if v == nil {
		return
	}
	if b.op != nil && v.Is(canon.Object) {
		if p := b.op.Pagination; p != nil && p.InBody {
			if c := v.Get(p.CursorParam); c != nil && !c.Is(canon.Null) {
				text := plainText(c)
				b.setCursor(&text)
			}
			if s := v.Get(p.PageSizeParam); s != nil {
				b.size = plainText(s)
				b.asked.add("size", "", string(canon.AppendIdentity(nil, s)))
			}
			v = v.With(p.CursorParam, nil).With(p.PageSizeParam, nil)
		}
		if c := b.op.carrier; c != nil && c.In == "body" {
			v = v.WithoutPath(carrierPath(c))
		}
		if len(v.Members()) == 0 {
			return // nothing but the page or the key was in it
		}
	}
	b.asked.leaves("", v)
}

func carrierPath(c *air.Carrier) []string {
	if len(c.Pointer) > 0 {
		return c.Pointer
	}
	return []string{c.Name}
}

// setCursor notes where a request continues; an empty cursor is none.
func (b *bound) setCursor(cursor *string) {
	if cursor != nil && *cursor == "" {
		return
	}
	if cursor != nil && b.cursor == nil { // a body may say it a second time
		b.asked.text("cursor", "", *cursor)
	}
	if cursor != nil {
		b.cursor = cursor
	}
}

// readQueryPage reads where a recorded request continued from.
func (b *bound) readQueryPage(pairs []pair) {
	p := b.op.Pagination
	if p == nil || p.InBody {
		return
	}
	names := []string{p.CursorParam}
	if strings.HasPrefix(p.CursorParam, "$") { // OData continues with either
		names = []string{p.CursorParam, "$skiptoken", "$skip"}
	}
	for _, name := range names {
		for i := range pairs {
			if pairs[i].name == name && name != "" {
				text := pairs[i].values[len(pairs[i].values)-1]
				b.setCursor(&text)
				return
			}
		}
	}
}

// readCarrier reads the idempotency key of a recorded request.
func (b *bound) readCarrier(values []route.Param, pairs []pair, r *tape.Request) {
	c := b.op.carrier
	if c == nil {
		return
	}
	key := ""
	switch c.In {
	case "header":
		key = strings.Join(r.Header.Values(c.Name), ", ")
	case "query":
		for _, p := range pairs {
			if p.name == c.Name {
				key = p.values[len(p.values)-1]
			}
		}
	case "path":
		for _, v := range values {
			if v.Name == c.Name {
				key = v.Text
			}
		}
	case "body":
		v := jsonBody(r)
		for _, name := range carrierPath(c) {
			v = v.Get(name)
		}
		key = v.Text()
	}
	if b.asked.key = key; key != "" {
		b.asked.text("key", "", key)
	}
}

func jsonBody(r *tape.Request) *canon.Value {
	body, err := r.Content()
	if err != nil {
		return nil
	}
	v, _ := canon.Parse(body, canon.Lenient)
	return v
}
