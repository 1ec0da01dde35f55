package surface

import (
	"net/http"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/secretname"
	"github.com/anvil-sim/anvil/sim"
)

// redacted stands in a trace for a credential.
const redacted = "[redacted]"

// trace writes the call's line, before the response leaves.
func (h *Handler) trace(in *inbound, out *sim.Outcome, resp *response) error {
	if !h.sim.Traced() {
		return nil
	}
	e := out.Entry()
	e.Transport = "http"
	e.Request = h.appendRequest(make([]byte, 0, 256+len(in.body)), in)
	e.Status = resp.status
	if in.method != http.MethodHead {
		e.Response = resp.body
	}
	e.Warnings = resp.warnings
	if len(resp.headers) > 0 {
		e.Headers = sim.AppendHeaders(nil, resp.headers)
	}
	return h.sim.Record(e)
}

// appendRequest appends the request as the client sent it: query values as
// arrays, declared header parameters and X-Anvil-* headers, never a credential.
func (h *Handler) appendRequest(dst []byte, in *inbound) sim.Raw {
	dst = canon.AppendString(append(dst, `{"method":`...), in.method)
	dst = canon.AppendString(append(dst, `,"path":`...), in.target.path)
	dst = append(dst, `,"query":{`...)
	for i, q := range in.target.query {
		if i > 0 {
			dst = append(dst, ',')
		}
		secret := h.secretQuery(in.plan, q.name)
		dst = append(canon.AppendString(dst, q.name), ':', '[')
		for k, v := range q.values {
			if k > 0 {
				dst = append(dst, ',')
			}
			if secret {
				v = redacted
			}
			dst = canon.AppendString(dst, v)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `},"headers":{`...)
	dst = in.appendHeaders(dst)
	dst = append(dst, `},"body":`...)
	dst = in.appendBody(dst)
	return append(dst, '}')
}

// secretQuery reports whether a query parameter's values are no trace's business:
// it carries the credential of an operation, or nobody declares it and it is
// called as secrets are.
func (h *Handler) secretQuery(p *plan, name string) bool {
	if h.secrets[name] {
		return true
	}
	if p != nil {
		if secret, declared := p.query[name]; declared {
			return secret
		}
	}
	return secretname.Query(secretname.Normal(name))
}

func (in *inbound) appendHeaders(dst []byte) []byte {
	start := len(dst)
	add := func(name, value string) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, name), ':')
		dst = canon.AppendString(dst, value)
	}
	var written []string
	if in.plan != nil {
		for _, name := range in.plan.headers {
			low := strings.ToLower(name)
			if len(in.header.Values(name)) == 0 || slices.Contains(written, low) {
				continue
			}
			value := in.one(http.CanonicalHeaderKey(name))
			if in.plan.secrets[low] {
				value = redacted
			}
			written = append(written, low)
			add(low, value)
		}
	}
	var own []string
	for name := range in.header {
		if low := strings.ToLower(name); strings.HasPrefix(low, "x-anvil-") && !slices.Contains(written, low) {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	for _, name := range own {
		add(strings.ToLower(name), in.one(name))
	}
	return dst
}

func (in *inbound) appendBody(dst []byte) []byte {
	switch {
	case in.json != nil:
		return append(dst, in.json...)
	case in.text && len(in.body) > 0:
		return canon.AppendString(dst, in.body)
	}
	return append(dst, "null"...)
}
