package tape

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// readGoVCR reads an interaction of a go-vcr cassette, format 1 or 2. A code of
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
	return nil, it.goVCRResponse(resp)
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
	if r.Status == 0 {
		it.Failure = failure(status)
	}
	return nil
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
	var h Header
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
	text, err := n.bytes(name + "." + key)
	return string(text), err
}
