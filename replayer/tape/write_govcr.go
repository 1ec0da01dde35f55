package tape

import (
	"net/url"
	"strconv"
	"strings"
)

type (
	goVCRTape struct {
		Version      int   `yaml:"version"`
		Interactions []any `yaml:"interactions"`
	}
	goVCREntry struct {
		Request  goVCRRequest  `yaml:"request"`
		Response goVCRResponse `yaml:"response"`
	}
	goVCRRequest struct {
		Body     any                 `yaml:"body"`
		Form     map[string][]string `yaml:"form"`
		Headers  map[string][]string `yaml:"headers"`
		URL      string              `yaml:"url"`
		Method   string              `yaml:"method"`
		Encoding []string            `yaml:"encoding,omitempty"`
		Names    []string            `yaml:"names,omitempty"`
	}
	goVCRResponse struct {
		Body     any                 `yaml:"body"`
		Headers  map[string][]string `yaml:"headers"`
		Status   string              `yaml:"status"`
		Code     int                 `yaml:"code"`
		Duration string              `yaml:"duration"`
		Encoding []string            `yaml:"encoding,omitempty"`
		Names    []string            `yaml:"names,omitempty"`
		Trailer  map[string][]string `yaml:"trailer,omitempty"`
		Cut      string              `yaml:"cut,omitempty"`
		Transfer string              `yaml:"transfer,omitempty"`
		Chunks   []int               `yaml:"chunks,omitempty"`
		Failure  string              `yaml:"failure,omitempty"`
		Early    []goVCREarly        `yaml:"informational,omitempty"`
	}
	goVCREarly struct {
		Code    int                 `yaml:"code"`
		Headers map[string][]string `yaml:"headers,omitempty"`
	}
	goVCREntry2 struct {
		ID      int `yaml:"id"`
		Request struct {
			goVCRProto   `yaml:",inline"`
			Length       int64  `yaml:"content_length"`
			Host         string `yaml:"host"`
			goVCRRequest `yaml:",inline"`
		} `yaml:"request"`
		Response struct {
			goVCRProto    `yaml:",inline"`
			Coding        []string `yaml:"transfer_encoding,omitempty"`
			Length        int64    `yaml:"content_length"`
			Uncompressed  bool     `yaml:"uncompressed"`
			goVCRResponse `yaml:",inline"`
		} `yaml:"response"`
	}
	goVCRProto struct {
		Proto string `yaml:"proto"`
		Major int    `yaml:"proto_major"`
		Minor int    `yaml:"proto_minor"`
	}
)

// goVCR is an interaction of format 1, with this project's keys beside it: nothing
// gets lost but the order of header names.
func (t *writer) goVCR(it *Interaction) any {
	t.call(it)
	return goVCREntry{t.goVCRRequest(&it.Request), t.goVCRResponse(it)}
}

func (t *writer) goVCRRequest(q *Request) goVCRRequest {
	e := goVCRRequest{Body: yamlBody(q.Body), Form: map[string][]string{}, Headers: t.headers(q.Header), URL: q.URL, Method: q.Method, Names: oddNames(q.Header)}
	if q.Plain {
		e.Encoding = codings(q.Header)
		delete(e.Headers, "Content-Encoding")
	}
	return e
}

func (t *writer) goVCRResponse(it *Interaction) goVCRResponse {
	r := &it.Response
	e := goVCRResponse{Body: yamlBody(r.Body), Headers: t.headers(r.Header), Code: r.Status, Duration: r.Duration.String(), Cut: r.Cut, Chunks: r.Chunks, Names: oddNames(r.Header)}
	e.Status = strings.TrimSpace(strconv.Itoa(r.Status) + " " + r.Reason)
	if r.Plain {
		e.Encoding = codings(r.Header)
		delete(e.Headers, "Content-Encoding")
	}
	if len(r.Trailer) > 0 {
		e.Trailer = t.headers(r.Trailer)
	}
	if r.Stream {
		e.Transfer = "sse"
	}
	for _, early := range r.Early {
		e.Early = append(e.Early, goVCREarly{early.Status, t.headers(early.Header)})
	}
	if f := it.Failure; f != nil {
		e.Failure = "connection"
		if !it.BrokeOff() {
			e.Code, e.Status = 0, f.Message
		}
		if f.TimedOut {
			e.Failure = "timeout"
		}
	}
	return e
}

// goVCR2 is an interaction of format 2, as go-vcr v3 and v4 read it. They compare
// what a client says beside the request too, so that is written as net/http has it.
func (t *writer) goVCR2(it *Interaction) any {
	t.call(it)
	e := goVCREntry2{ID: t.pos}
	proto := goVCRProto{"HTTP/1.1", 1, 1}
	e.Request.goVCRProto, e.Response.goVCRProto = proto, proto
	e.Request.goVCRRequest, e.Response.goVCRResponse = t.goVCRRequest(&it.Request), t.goVCRResponse(it)
	e.Request.Length = int64(len(it.Request.Body))
	if u, err := url.Parse(it.Request.URL); err == nil {
		e.Request.Host = u.Host
	}
	e.Response.Length = int64(len(it.Response.Body))
	if e.Response.Uncompressed = len(e.Response.Encoding) > 0; e.Response.Uncompressed {
		e.Response.Length = -1
		delete(e.Response.Headers, "Content-Length")
	}
	return e
}

// oddNames are the names that are spelled unlike their canonical form, once each.
func oddNames(h Header) []string {
	var list []string
	seen := map[string]bool{}
	for _, f := range h {
		if name := canonicalName(f.Name); name != f.Name && !seen[name] {
			seen[name] = true
			list = append(list, f.Name)
		}
	}
	return list
}
