package replayer

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// answer is a recorded answer as the provider gives it: success, or the
// contract's error with the recorded status and body.
func (o *operation) answer(it *tape.Interaction) (*provider.Response, error) {
	if it.Failure != nil {
		return failed(it.Failure), nil
	}
	if it.Call != nil {
		return provider.ParseResponse(it.Call.Answer)
	}
	if cut := it.Response.Cut; cut != "" {
		return nil, errors.New("the answer's body is not whole: " + cut)
	}
	body, err := recordedJSON(&it.Response)
	if err != nil {
		return nil, err
	}
	if o.Protocol() == air.GraphQL {
		return o.graphqlAnswer(it, body), nil
	}
	if s := it.Response.Status; s < 200 || s > 299 {
		return o.failure(s, body), nil
	}
	resp := &provider.Response{OK: true, Headers: o.headers(it.Response.Header)}
	if body != nil {
		resp.Result = body.AppendJSON(nil)
	}
	return resp, nil
}

// failed is how an exchange that ended without an answer is told.
func failed(f *tape.Failure) *provider.Response {
	code := provider.UpstreamUnavailable
	if f.TimedOut {
		code = provider.UpstreamTimeout
	}
	return provider.Fail(code, "%s", f.Message)
}

// recordedJSON is a recorded body as a JSON value: a text that is no JSON is a
// string, bytes that are no text are base64, nothing is nil.
func recordedJSON(r *tape.Response) (*canon.Value, error) {
	body, err := r.Content()
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if v, err := canon.Parse(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), canon.Lenient); err == nil {
		return v, nil
	}
	if utf8.Valid(body) {
		return canon.NewString(string(body)), nil
	}
	return canon.NewString(base64.StdEncoding.EncodeToString(body)), nil
}

// failure is a recorded error on the contract's terms. A status that neither the
// contract nor the convention knows is unknown_upstream_error; the recorded
// status and body stand in any case.
func (o *operation) failure(status int, body *canon.Value) *provider.Response {
	e := &provider.Error{Code: provider.UnknownUpstreamError, Status: &status}
	if status > 599 {
		e.Status = nil // no such status can be served
	}
	known := false
	for _, c := range provider.Codes() {
		if !known && c.Status() == status {
			e.Code, known = c, true
		}
	}
	vendor := vendorCodes(body)
	declared := false
	for _, d := range o.Errors {
		named := d.UpstreamCode != "" && contains(vendor, d.UpstreamCode)
		if named || !declared && d.HTTPStatus == status {
			e.Code = provider.Code(d.Code)
			declared = true
		}
		if named {
			e.UpstreamCode = &d.UpstreamCode
			break
		}
	}
	if e.UpstreamCode == nil && len(vendor) > 0 {
		e.UpstreamCode = &vendor[0]
	}
	if body != nil {
		e.Body = body.AppendJSON(nil)
	}
	if m := vendorMessage(body); m != "" {
		e.Message = &m
	}
	return &provider.Response{Error: e}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// errorPlaces are where APIs put an error in their bodies, the usual first.
var errorPlaces = []string{"error", "errors", "fault", "detail", "details"}

// vendorCodes are the codes that an error body may mean.
func vendorCodes(body *canon.Value) []string {
	var codes []string
	add := func(v *canon.Value) {
		if t := v.Text(); t != "" && len(t) <= 128 && !strings.ContainsAny(t, " \n") {
			codes = append(codes, t)
		}
	}
	for _, v := range errorObjects(body) {
		for _, name := range []string{"code", "error_code", "errorCode", "type", "reason", "title", "id"} {
			add(v.Get(name))
		}
	}
	add(body.Get("error"))
	return codes
}

func vendorMessage(body *canon.Value) string {
	for _, v := range errorObjects(body) {
		for _, name := range []string{"message", "msg", "detail", "error_message", "error_description", "title"} {
			if t := v.Get(name); t.Is(canon.String) && t.Text() != "" {
				return t.Text()
			}
		}
	}
	return ""
}

// errorObjects are the objects of a body that may describe the error, the inner
// ones first.
func errorObjects(body *canon.Value) []*canon.Value {
	var list []*canon.Value
	for _, name := range errorPlaces {
		v := body.Get(name)
		if elems := v.Elems(); len(elems) > 0 {
			v = elems[0]
		}
		if v.Is(canon.Object) {
			list = append(list, v)
		}
	}
	if elems := body.Elems(); len(elems) > 0 {
		list = append(list, elems[0])
	}
	return append(list, body)
}

// headers are the recorded response headers that the operation declares, for
// the simulator to serve; nil when there are none.
func (o *operation) headers(h tape.Header) []byte {
	var members []canon.Member
	for _, name := range o.OutputHeaders {
		switch strings.ToLower(name) {
		case "x-request-id", "content-type", "content-length", "transfer-encoding", "connection", "date", "content-encoding":
			continue // the simulator writes these itself
		case "link":
			if o.paged {
				continue
			}
		}
		if vals := h.Values(name); len(vals) > 0 {
			members = append(members, canon.Member{Key: name, Value: canon.NewString(strings.Join(vals, ", "))})
		}
	}
	if members == nil {
		return nil
	}
	return canon.NewObject(members...).AppendJSON(nil)
}

// graphqlAnswer takes the root field out of a GraphQL envelope.
func (o *operation) graphqlAnswer(it *tape.Interaction, body *canon.Value) *provider.Response {
	if errs := body.Get("errors").Elems(); len(errs) > 0 {
		code := errs[0].Get("extensions").Get("code").Text()
		e := &provider.Error{Code: provider.UnknownUpstreamError}
		for _, d := range o.Errors {
			if code != "" && d.UpstreamCode == code {
				e.Code = provider.Code(d.Code)
			}
		}
		if code != "" {
			e.UpstreamCode = &code
		}
		if m := errs[0].Get("message").Text(); m != "" {
			e.Message = &m
		}
		return &provider.Response{Error: e}
	}
	data := body.Get("data")
	if it.Response.Status < 200 || it.Response.Status > 299 || !data.Is(canon.Object) {
		return o.failure(it.Response.Status, body)
	}
	members := data.Members()
	if len(members) == 0 {
		return &provider.Response{OK: true}
	}
	v := data.Get(o.Binding.Get("rootField").Text())
	if v == nil {
		v = members[0].Value // under an alias
	}
	return &provider.Response{OK: true, Result: v.AppendJSON(nil)}
}

// notKept is the miss of an interaction that does not hold its answer.
func notKept(a *asked, it *tape.Interaction, err error) *Miss {
	return &Miss{Reason: NotKept, Asked: a.op, Detail: fmt.Sprintf("it is recorded as %s, but %v", it.Place(), err)}
}
