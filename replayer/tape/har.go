package tape

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// readHAREntry reads one entry of a HAR 1.2 log.
func readHAREntry(it *Interaction, n *node) (notes []string, err error) {
	req, resp := n.get("request"), n.get("response")
	if req.empty() || resp.empty() {
		return nil, errors.New("want a request and a response")
	}
	r := &it.Request
	r.Method, r.URL = req.get("method").str(), req.get("url").str()
	if r.URL == "" {
		return nil, errors.New("request.url is missing" + misplaced(req, "url"))
	}
	if r.Method == "" {
		return nil, errors.New("request.method is missing" + misplaced(req, "method"))
	}
	if r.Header, err = harHeaders("request.headers", req.get("headers")); err != nil {
		return nil, err
	}
	var note string
	if r.Body, note, err = postData(req.get("postData")); err != nil {
		return nil, err
	}
	if note != "" {
		notes = append(notes, note)
	}
	note, err = it.harResponse(n, resp)
	if note != "" {
		notes = append(notes, note)
	}
	return notes, err
}

// misplaced tells where a key stands instead.
func misplaced(n *node, key string) string {
	for i, k := range n.keys {
		if n.elems[i].has(key) {
			return ": it stands inside request." + k
		}
	}
	return ""
}

func (it *Interaction) harResponse(n, resp *node) (note string, err error) {
	r := &it.Response
	if r.Status, err = resp.get("status").integer("response.status"); err != nil {
		return "", err
	}
	r.Reason = resp.get("statusText").str()
	if r.Header, err = harHeaders("response.headers", resp.get("headers")); err != nil {
		return "", err
	}
	if ms, err := time.ParseDuration(n.get("time").str() + "ms"); err == nil {
		r.Duration = ms
	}
	content := resp.get("content")
	text := content.get("text")
	switch {
	case strings.EqualFold(content.get("encoding").str(), "base64"):
		r.Body, err = base64Text("response.content.text", text.str())
	default:
		r.Body, err = text.bytes("response.content.text")
	}
	if err != nil {
		return "", err
	}
	size, _ := content.get("size").integer("size")
	if size > 0 && text.empty() && it.Request.Method != "HEAD" {
		note = fmt.Sprintf("the answer's body of %d bytes was not kept", size)
	}
	if r.Status == 0 {
		it.Failure = failure(resp.get("_error").str())
	}
	return note, nil
}

// harHeaders reads a list of names and values; HTTP/2 pseudo-headers are left out.
func harHeaders(name string, n *node) (Header, error) {
	if !n.empty() && n.kind != listNode {
		return nil, fmt.Errorf("%s is %s, want a list of names and values", name, n.what())
	}
	var h Header
	for _, e := range n.list() {
		key := e.get("name").str()
		if key == "" {
			return nil, fmt.Errorf("%s holds a header without a name", name)
		}
		if !strings.HasPrefix(key, ":") {
			h = append(h, Field{key, e.get("value").str()})
		}
	}
	return h, nil
}

// postData is a request's body: its text, or the params of a form without one.
func postData(n *node) (body []byte, note string, err error) {
	if n.empty() {
		return nil, "", nil
	}
	text := n.get("text")
	if !text.empty() && text.str() != "" {
		if strings.EqualFold(n.get("encoding").str(), "base64") {
			body, err = base64Text("request.postData.text", text.str())
			return body, "", err
		}
		body, err = text.bytes("request.postData.text")
		return body, "", err
	}
	params := n.get("params").list()
	if len(params) == 0 {
		return nil, "", nil
	}
	if !strings.Contains(n.get("mimeType").str(), "x-www-form-urlencoded") {
		return nil, "the request's body was kept as parameters only; it is taken for empty", nil
	}
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.get("name").str()) + "=" + url.QueryEscape(p.get("value").str()))
	}
	return []byte(b.String()), "", nil
}
