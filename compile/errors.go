package compile

import (
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// errorCode is the error code of an HTTP status.
func errorCode(status int) string {
	switch status {
	case 401:
		return "auth_required"
	case 402, 451:
		return "policy_denied"
	case 403:
		return "permission_denied"
	case 404, 410:
		return "not_found"
	case 405, 501:
		return "unsupported_operation"
	case 408, 504:
		return "upstream_timeout"
	case 409, 412, 423:
		return "conflict"
	case 429:
		return "rate_limited"
	case 502, 503:
		return "upstream_unavailable"
	}
	if status < 500 {
		return "validation_error"
	}
	return "unknown_upstream_error"
}

// errors lists the declared error responses in their order, each with the vendor
// codes that its examples and schema name.
func (c *compiler) errors(o *operation) *api.Value {
	var out []*api.Value
	for _, r := range o.src.Responses {
		status, err := strconv.Atoi(r.Status)
		if err != nil || status < 400 || status > 599 {
			continue
		}
		codes := c.vendorCodes(r)
		if len(codes) == 0 {
			codes = []string{""}
		}
		for _, vendor := range codes {
			upstream := object("httpStatus", status)
			if vendor != "" {
				upstream = upstream.With("code", canon.NewString(vendor))
			}
			b := builder{}
			b.set("code", errorCode(status))
			b.set("upstream", upstream)
			if text := firstLine(r.Description); text != "" {
				b.set("message", text)
			}
			out = append(out, b.object())
		}
	}
	return canon.NewArray(out...)
}

// maxCodes is how many vendor codes of one status are kept.
const maxCodes = 20

// vendorCodes are the codes that the examples of an error name, else the ones
// that its schema fixes or lists.
func (c *compiler) vendorCodes(r api.Response) []string {
	var codes []string
	add := func(v *api.Value) {
		if code := codeText(v); code != "" && len(codes) < maxCodes {
			codes = appendNew(codes, code)
		}
	}
	for _, content := range r.Contents {
		for _, e := range content.Examples {
			add(codeIn(e, 3))
		}
		add(codeIn(c.schemas.deref(content.Schema).Get("example"), 3))
	}
	if len(codes) > 0 {
		return codes
	}
	for _, content := range r.Contents {
		s := c.codeSchema(content.Schema, 3)
		add(s.Get("const"))
		for _, e := range s.Get("enum").Elems() {
			add(e)
		}
		add(s.Get("example"))
	}
	return codes
}

var codeKeys = []string{"code", "error_code", "errorCode", "error_key", "type"}

// codeIn looks for a code in an example of an error.
func codeIn(v *api.Value, depth int) *api.Value {
	if depth == 0 || v == nil {
		return nil
	}
	if list := v.Elems(); len(list) > 0 {
		return codeIn(list[0], depth-1)
	}
	for _, key := range codeKeys {
		if m := v.Get(key); codeText(m) != "" {
			return m
		}
	}
	for _, key := range []string{"error", "errors", "error_details", "fault"} {
		m := v.Get(key)
		if key == "error" && codeText(m) != "" && !strings.Contains(m.Text(), " ") {
			return m
		}
		if found := codeIn(m, depth-1); found != nil {
			return found
		}
	}
	return nil
}

// codeText is a code that fits a contract: a word or a number.
func codeText(v *api.Value) string {
	if !v.Is(canon.String) && !v.Is(canon.Number) {
		return ""
	}
	t := v.Text()
	if t == "" || len(t) > 128 || strings.ContainsAny(t, " \n\t") {
		return ""
	}
	return t
}

// codeSchema is the schema of the code in the schema of an error.
func (c *compiler) codeSchema(s *api.Value, depth int) *api.Value {
	if depth == 0 || s == nil {
		return nil
	}
	if c.schemas.typ(s) == "array" {
		return c.codeSchema(c.schemas.deref(s).Get("items"), depth-1)
	}
	for _, key := range codeKeys {
		if p := c.schemas.at(s, key); p != nil {
			if t := c.schemas.typ(p); t == "string" || t == "integer" || t == "number" {
				return c.schemas.deref(p)
			}
		}
	}
	for _, key := range []string{"error", "errors"} {
		if p := c.schemas.at(s, key); p != nil {
			if found := c.codeSchema(p, depth-1); found != nil {
				return found
			}
		}
	}
	return nil
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}
