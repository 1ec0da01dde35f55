package tape

import (
	"errors"
	"fmt"
	"strings"
)

// readVCRpy reads an interaction of VCR.py: version 1, the list form before it,
// and what its httpx stub wrote for a while.
func readVCRpy(it *Interaction, n *node) (notes []string, err error) {
	req, resp := n.get("request"), n.get("response")
	if req.empty() || resp.empty() {
		return nil, errors.New("want a request and a response")
	}
	r := &it.Request
	r.Method, r.URL = req.get("method").str(), req.get("uri").str()
	if r.URL == "" {
		r.URL = oldURL(req)
	}
	if r.Header, err = pyHeaders("request.headers", req.get("headers")); err != nil {
		return nil, err
	}
	body, lost := vcrBody("request.body", req.get("body"))
	if lost != nil {
		notes = append(notes, lost.Error()+"; it is compared as it stands")
		body = []byte(rawBody(req.get("body")))
	}
	r.Body = body
	return notes, it.vcrResponse(resp)
}

// oldURL puts together the URL of a request before version 1.
func oldURL(req *node) string {
	host, scheme, port := req.get("host").str(), req.get("protocol").str(), req.get("port").str()
	if host == "" {
		return ""
	}
	if scheme == "" {
		scheme = "http"
	}
	if port != "" && !(scheme == "http" && port == "80" || scheme == "https" && port == "443") {
		host += ":" + port
	}
	return scheme + "://" + host + req.get("path").str()
}

func (it *Interaction) vcrResponse(resp *node) (err error) {
	r := &it.Response
	if r.Header, err = pyHeaders("response.headers", resp.get("headers")); err != nil {
		return err
	}
	code, body := resp.get("status").get("code"), resp.get("body")
	r.Reason = resp.get("status").get("message").str()
	if resp.has("status_code") { // the httpx stub
		code, body = resp.get("status_code"), resp.get("content")
	}
	if r.Status, err = code.integer("response.status.code"); err != nil {
		return err
	}
	r.Body, err = vcrBody("response.body", body)
	return err
}

// vcrBody reads a body: text, or a mapping with string or base64_string.
func vcrBody(name string, n *node) ([]byte, error) {
	if n == nil || n.kind != mapNode {
		return n.bytes(name)
	}
	if b := n.get("base64_string"); !b.empty() {
		return base64Text(name+".base64_string", b.str())
	}
	return n.get("string").bytes(name + ".string")
}

// rawBody is the text of a body that cannot be decoded.
func rawBody(n *node) string {
	for _, key := range []string{"base64_string", "string"} {
		if v := n.get(key); v != nil {
			return v.str()
		}
	}
	return n.str()
}

// pyHeaders reads headers as a mapping, as "name: value" lines, or as the pairs
// of a pickled frozenset.
func pyHeaders(name string, n *node) (Header, error) {
	if n == nil || n.kind != listNode {
		return headerMap(name, n)
	}
	var h Header
	for _, e := range n.elems {
		switch {
		case e.kind == scalarNode:
			key, value, ok := strings.Cut(strings.TrimRight(e.str(), "\r\n"), ":")
			if !ok {
				return nil, fmt.Errorf("%s holds %s, want \"name: value\"", name, e.what())
			}
			h = append(h, Field{key, strings.TrimLeft(value, " ")})
		case len(e.list()) == 2 && e.elems[0].kind == scalarNode && e.elems[1].kind == scalarNode:
			h = append(h, Field{e.elems[0].str(), e.elems[1].str()})
		case e.kind == listNode:
			inner, err := pyHeaders(name, e)
			if err != nil {
				return nil, err
			}
			h = append(h, inner...)
		default:
			return nil, fmt.Errorf("%s holds %s, want pairs of a name and a value", name, e.what())
		}
	}
	return h, nil
}

// readRuby reads an interaction of Ruby VCR.
func readRuby(it *Interaction, n *node) (notes []string, err error) {
	req, resp := n.get("request"), n.get("response")
	if req.empty() || resp.empty() {
		return nil, errors.New("want a request and a response")
	}
	r := &it.Request
	r.Method, r.URL = req.get("method").str(), req.get("uri").str()
	if r.Header, err = headerMap("request.headers", req.get("headers")); err != nil {
		return nil, err
	}
	body, lost := vcrBody("request.body", req.get("body"))
	if lost != nil {
		notes = append(notes, lost.Error()+"; it is compared as it stands")
		body = []byte(rawBody(req.get("body")))
	}
	r.Body = body
	return notes, it.vcrResponse(resp)
}
