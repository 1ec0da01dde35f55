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
		if err != nil {
			out = append(out, c.namedErrors(o, r)...)
			continue
		}
		if status < 400 || status > 599 {
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

// namedErrors are the errors of a response that states no exact status: those
// whose vendor codes it names. What each means, its name tells.
func (c *compiler) namedErrors(o *operation, r api.Response) (out []*api.Value) {
	anyStatus := r.Status == "default" && len(o.statuses) > 0
	if !anyStatus && r.Status != "4XX" && r.Status != "5XX" || uses(o.src.Responses, r) > 1 {
		return nil
	}
	for _, vendor := range c.vendorCodes(r, 0, false) {
		if noErrors[air.SnakeCase(vendor)] {
			continue
		}
		out = append(out, object("code", codeOfName(vendor), "upstream", object("code", vendor)))
	}
	return out
}

// noErrors stand among the codes of schemas that list every status.
var noErrors = wordSet("ok success created accepted no_content redirect not_modified found")

// nameCodes tell what a vendor's code means by the words in it, the surest
// first.
var nameCodes = []struct{ word, code string }{
	{"not_found", "not_found"}, {"no_such", "not_found"}, {"unknown_error", "unknown_upstream_error"},
	{"rate", "rate_limited"}, {"too_many_requests", "rate_limited"}, {"timeout", "upstream_timeout"}, {"timed_out", "upstream_timeout"},
	{"unavailable", "upstream_unavailable"}, {"internal", "unknown_upstream_error"}, {"fatal", "unknown_upstream_error"},
	{"method_not_allowed", "unsupported_operation"}, {"not_supported", "unsupported_operation"}, {"not_implemented", "unsupported_operation"},
	{"paid_only", "policy_denied"}, {"payment_required", "policy_denied"}, {"compliance", "policy_denied"},
	{"not_authed", "auth_required"}, {"login_required", "auth_required"}, {"invalid_auth", "auth_required"},
	{"unauthorized", "auth_required"}, {"token", "auth_required"}, {"account_inactive", "auth_required"},
	{"_scope", "permission_denied"}, {"not_allowed", "permission_denied"}, {"forbidden", "permission_denied"}, {"denied", "permission_denied"},
	{"permission", "permission_denied"}, {"restricted", "permission_denied"}, {"not_in_", "permission_denied"}, {"cant_", "permission_denied"},
	{"not_authorized", "permission_denied"}, {"_admin", "permission_denied"}, {"not_own", "permission_denied"},
	{"user_is_bot", "permission_denied"}, {"not_visible", "permission_denied"},
	{"already", "conflict"}, {"conflict", "conflict"}, {"taken", "conflict"}, {"exists", "conflict"}, {"is_archived", "conflict"}, {"precondition", "conflict"},
}

// codeOfName is the error code that a vendor's code means.
func codeOfName(vendor string) string {
	name := air.SnakeCase(vendor)
	for _, n := range nameCodes {
		if strings.Contains("_"+name, "_"+strings.TrimPrefix(n.word, "_")) {
			return n.code
		}
	}
	return "validation_error"
}

// maxCodes is how many vendor codes of one status are kept.
const maxCodes = 40

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
// its schema fixes; a status of 0 is any. A schema that several statuses share says nothing of one of
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
		case len(enum) > 0 && (status == 0 || len(enum) <= fewCodes):
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
		p := c.schemas.at(s, key)
		if p == nil {
			continue
		}
		if full := c.schemas.deref(p); c.schemas.typ(full) == "string" && full.Get("enum") != nil {
			return full // {"ok": false, "error": "not_authed"}
		}
		if found := c.codeSchema(p, depth-1); found != nil {
			return found
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
