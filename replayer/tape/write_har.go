package tape

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
)

// har writes a HAR 1.2 log.
func (t *writer) har(list []*Interaction) error {
	dst := []byte(`{"log":{"version":"1.2","creator":{"name":"anvil-sim","version":"1"},"entries":[`)
	for _, it := range list {
		if !it.HTTP() {
			t.loses("%s: it was recorded at the provider seam and holds no HTTP; it was left out", it.Place())
			continue
		}
		t.common(it)
		if len(it.Response.Trailer) > 0 {
			t.loses("the trailers")
		}
		if t.pos > 0 {
			dst = append(dst, ',')
		}
		dst = harEntry(append(dst, '\n'), it)
		t.pos++
	}
	_, err := t.w.Write(append(dst, "\n]}}\n"...))
	return err
}

func harEntry(dst []byte, it *Interaction) []byte {
	q, r := &it.Request, &it.Response
	millis := strconv.FormatFloat(float64(r.Duration.Microseconds())/1000, 'f', -1, 64)
	dst = append(dst, `{"startedDateTime":"1970-01-01T00:00:00.000Z","time":`+millis+`,"request":{"method":`...)
	dst = canon.AppendString(dst, q.Method)
	dst = canon.AppendString(append(dst, `,"url":`...), q.URL)
	dst = harHeader(append(dst, `,"httpVersion":"HTTP/1.1","cookies":[],"headers":`...), q.Header)
	dst = harQuery(append(dst, `,"queryString":`...), q.URL)
	if len(q.Body) > 0 {
		dst = canon.AppendString(append(dst, `,"postData":{"mimeType":`...), q.Header.Get("Content-Type"))
		dst = append(harText(dst, q.Body), '}')
	}
	dst = append(dst, `,"headersSize":-1,"bodySize":`...)
	dst = strconv.AppendInt(dst, int64(len(q.Body)), 10)
	code := r.Status
	if it.Failure != nil {
		code = 0
	}
	dst = strconv.AppendInt(append(dst, `},"response":{"status":`...), int64(code), 10)
	dst = canon.AppendString(append(dst, `,"statusText":`...), r.Reason)
	if it.Failure != nil {
		dst = canon.AppendString(append(dst, `,"_error":`...), it.Failure.Message)
	}
	dst = harHeader(append(dst, `,"httpVersion":"HTTP/1.1","cookies":[],"headers":`...), r.Header)
	body, err := r.Content()
	if err != nil {
		body = r.Body
	}
	dst = strconv.AppendInt(append(dst, `,"content":{"size":`...), int64(len(body)), 10)
	dst = canon.AppendString(append(dst, `,"mimeType":`...), r.Header.Get("Content-Type"))
	dst = harText(dst, body)
	return append(dst, `},"redirectURL":"","headersSize":-1,"bodySize":-1},"cache":{},"timings":{"send":0,"wait":`+millis+`,"receive":0}}`...)
}

func harText(dst, body []byte) []byte {
	if utf8.Valid(body) {
		return canon.AppendString(append(dst, `,"text":`...), body)
	}
	dst = append(dst, `,"encoding":"base64","text":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, body), '"')
}

func harHeader(dst []byte, h Header) []byte {
	dst = append(dst, '[')
	for i, f := range h {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = harPair(dst, f.Name, f.Value)
	}
	return append(dst, ']')
}

func harPair(dst []byte, name, value string) []byte {
	dst = canon.AppendString(append(dst, `{"name":`...), strings.ToValidUTF8(name, "\uFFFD"))
	dst = canon.AppendString(append(dst, `,"value":`...), strings.ToValidUTF8(value, "\uFFFD"))
	return append(dst, '}')
}

func harQuery(dst []byte, raw string) []byte {
	_, query, _ := strings.Cut(raw, "?")
	dst = append(dst, '[')
	first := true
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = harPair(dst, unescapeQuery(name), unescapeQuery(value))
	}
	return append(dst, ']')
}

func unescapeQuery(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}
