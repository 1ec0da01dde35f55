package tape

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// readGoVCR reads an interaction of a go-vcr cassette, format 1 or 2. Keys beside
// the format, which 'anvil-sim record' writes and go-vcr ignores, are read too:
// encoding (content codings that were removed from body and header), names (header
// names as spelled), trailer, cut, transfer, chunks, failure and informational. A code of
// 0 stands for an exchange that ended without an answer, with the status text
// saying how.
func readGoVCR(it *Interaction, n *node) ([]string, error) {
	req, resp := n.get("request"), n.get("response")
	if req.empty() {
		return nil, errors.New("no request")
	}
	it.ID = n.get("id").str()
	it.Request.Method, it.Request.URL = req.get("method").str(), req.get("url").str()
	if it.Request.Method == "" {
		it.Request.Method = "GET" // what net/http means by an empty one
	}
	var err error
	if it.Request.Header, err = headerMap("request.headers", req.get("headers")); err != nil {
		return nil, err
	}
	if it.Request.Body, err = req.get("body").bytes("request.body"); err != nil {
		return nil, err
	}
	if len(it.Request.Body) == 0 {
		it.Request.Body = formBody(it.Request.Header, req.get("form"))
	}
	it.Request.Header, it.Request.Plain = besides(it.Request.Header, req)
	var notes []string
	if cut := req.get("cut").str(); cut != "" {
		notes = append(notes, "the request's body is not whole: "+cut)
	}
	err = it.goVCRResponse(resp)
	if it.Response.Cut != "" {
		notes = append(notes, "the answer's body is not whole: "+it.Response.Cut)
	}
	return notes, err
}

// besides applies what is noted of a message beside the format: names as they
// were spelled, and codings that were removed.
func besides(h Header, n *node) (_ Header, plain bool) {
	for _, name := range n.get("names").list() {
		for i := range h {
			if strings.EqualFold(h[i].Name, name.str()) {
				h[i].Name = name.str()
			}
		}
	}
	var codings []string
	for _, c := range n.get("encoding").list() {
		codings = append(codings, c.str())
	}
	if len(codings) == 0 {
		return h, false
	}
	return append(h, Field{"Content-Encoding", strings.Join(codings, ", ")}), true
}

func (it *Interaction) goVCRResponse(resp *node) (err error) {
	if resp.empty() {
		return errors.New("no response")
	}
	r := &it.Response
	if r.Header, err = headerMap("response.headers", resp.get("headers")); err != nil {
		return err
	}
	if r.Trailer, err = headerMap("response.trailer", resp.get("trailer")); err != nil {
		return err
	}
	if r.Body, err = resp.get("body").bytes("response.body"); err != nil {
		return err
	}
	if r.Status, err = resp.get("code").integer("response.code"); err != nil {
		return err
	}
	status := resp.get("status").str()
	r.Reason = strings.TrimPrefix(strings.TrimPrefix(status, fmt.Sprint(r.Status)), " ")
	r.Duration, _ = time.ParseDuration(resp.get("duration").str())
	r.Header, r.Plain = besides(r.Header, resp)
	r.Cut, r.Stream = resp.get("cut").str(), resp.get("transfer").str() == "sse"
	for _, n := range resp.get("chunks").list() {
		size, err := n.integer("response.chunks")
		if err != nil {
			return err
		}
		r.Chunks = append(r.Chunks, size)
	}
	if r.Early, err = earlyAnswers(resp.get("informational").list()); err != nil {
		return err
	}
	failed := resp.get("failure").str()
	if r.Status == 0 || failed != "" {
		if r.Cut != "" && r.Status != 0 {
			status = r.Cut // the answer began well
		}
		it.Failure = failure(status)
		it.Failure.TimedOut = it.Failure.TimedOut || failed == "timeout"
	}
	return nil
}

func earlyAnswers(list []*node) (all []Early, err error) {
	for _, early := range list {
		e := Early{}
		if e.Status, err = early.get("code").integer("response.informational.code"); err != nil {
			return nil, err
		}
		if e.Header, err = headerMap("response.informational.headers", early.get("headers")); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func failure(message string) *Failure {
	if message == "" {
		message = "the exchange ended without an answer"
	}
	lower := strings.ToLower(message)
	return &Failure{
		TimedOut: strings.Contains(lower, "timeout") || strings.Contains(lower, "timed out") || strings.Contains(lower, "deadline exceeded"),
		Message:  message,
	}
}

// formBody is a form that a recorder kept beside an empty body.
func formBody(h Header, form *node) []byte {
	if form == nil || len(form.keys) == 0 || !strings.Contains(h.Get("Content-Type"), "x-www-form-urlencoded") {
		return nil
	}
	values := url.Values{}
	for i, key := range form.keys {
		for _, v := range form.elems[i].list() {
			values.Add(key, v.str())
		}
	}
	return []byte(values.Encode())
}

// headerMap reads a mapping of names to a value or a list of values.
func headerMap(name string, n *node) (Header, error) {
	if n.empty() {
		return nil, nil
	}
	if n.kind != mapNode {
		return nil, fmt.Errorf("%s is %s, want a mapping of names to lists of values", name, n.what())
	}
	h := make(Header, 0, len(n.keys))
	for i, key := range n.keys {
		v := n.elems[i]
		switch v.kind {
		case listNode:
			for _, e := range v.elems {
				text, err := headerText(name, key, e)
				if err != nil {
					return nil, err
				}
				h = append(h, Field{key, text})
			}
		default:
			text, err := headerText(name, key, v)
			if err != nil {
				return nil, err
			}
			h = append(h, Field{key, text})
		}
	}
	return h, nil
}

func headerText(name, key string, n *node) (string, error) {
	if n.kind == scalarNode && !isBinary(n.tag) {
		return n.str(), nil
	}
	text, err := n.bytes(name + "." + key)
	return string(text), err
}
