package compile

import (
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
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
		codes := c.vendorCodes(r, status, uses(o.src.Responses, r) > 1)
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

// uses counts the error responses that have the schema of one.
func uses(list []api.Response, one api.Response) int {
	n := 0
	for _, r := range list {
		if len(r.Contents) == 0 || len(one.Contents) == 0 || r.Status < "4" {
			continue
		}
		a, b := r.Contents[0].Schema, one.Contents[0].Schema
		if a == b || refName(a) != "" && refName(a) == refName(b) {
			n++
		}
	}
	return n
}

// vendorCodes are the codes that the examples of an error name, else those that
// its schema fixes. A schema that several statuses share says nothing of one of
// them, but for a code that is called after the status.
func (c *compiler) vendorCodes(r api.Response, status int, shared bool) []string {
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
	}
	if len(codes) > 0 {
		return codes
	}
	for _, content := range r.Contents {
		s := c.codeSchema(content.Schema, 3)
		enum := s.Get("enum").Elems()
		for _, e := range enum {
			if strings.EqualFold(air.SnakeCase(e.Text()), statusWord(status)) {
				return []string{e.Text()}
			}
		}
		switch {
		case s.Get("const") != nil:
			add(s.Get("const"))
		case shared:
		case len(enum) > 0 && len(enum) <= fewCodes:
			for _, e := range enum {
				add(e)
			}
		case len(enum) == 0:
			add(codeIn(c.schemas.deref(content.Schema).Get("example"), 3))
			add(s.Get("example"))
		}
	}
	return codes
}

// fewCodes is how many codes a schema may list for all of them to be told.
const fewCodes = 8

// statusWord is what a status is commonly called.
func statusWord(status int) string {
	switch status {
	case 400:
		return "bad_request"
	case 401:
		return "unauthorized"
	case 403:
		return "forbidden"
	case 404:
		return "not_found"
	case 405:
		return "method_not_allowed"
	case 409:
		return "conflict"
	case 410:
		return "gone"
	case 412:
		return "precondition_failed"
	case 422:
		return "unprocessable_entity"
	case 429:
		return "too_many_requests"
	case 500:
		return "internal_server_error"
	case 503:
		return "service_unavailable"
	}
	return "-"
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
