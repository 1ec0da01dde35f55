package tape

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Write writes interactions as one recording of a format. What the format cannot
// hold is left out and returned, with the place in the new recording; the entry
// is left out as a whole only when nothing of it would be true. A Trace cannot be
// written: it says what a simulator decided, which no recording holds.
func Write(w io.Writer, f Format, list []*Interaction) (lost []Skip, err error) {
	t := &writer{w: w}
	switch f {
	case Provider:
		err = t.provider(list)
	case GoVCR1:
		err = t.yaml(list, t.goVCR, func(entries []any) any { return goVCRTape{1, entries} })
	case GoVCR2:
		err = t.yaml(list, t.goVCR2, func(entries []any) any { return goVCRTape{2, entries} })
	case VCRpy:
		err = t.yaml(list, t.vcrPy, func(entries []any) any { return vcrPyTape{entries, 1} })
	case RubyVCR:
		err = t.yaml(list, t.ruby, func(entries []any) any { return rubyTape{entries, "anvil-sim"} })
	case HAR:
		err = t.har(list)
	case Trace:
		return nil, fmt.Errorf("cannot write a %s: it says what a simulator decided, which a recording does not hold; 'anvil-sim serve --trace' writes one", f)
	default:
		return nil, fmt.Errorf("cannot write a %s, want %s, %s, %s, %s, %s or %s", f, GoVCR1, GoVCR2, VCRpy, RubyVCR, HAR, Provider)
	}
	return t.lost, err
}

// A writer notes what gets lost.
type writer struct {
	w    io.Writer
	pos  int // of the entry being written
	lost []Skip
}

func (t *writer) loses(format string, args ...any) {
	t.lost = append(t.lost, Skip{Position: t.pos, Reason: fmt.Sprintf(format, args...)})
}

// common notes what no format but go-vcr's with this project's keys can hold.
func (t *writer) common(it *Interaction) {
	if n := len(it.Response.Early); n > 0 {
		t.loses("%d early answer(s)", n)
	}
	if len(it.Response.Chunks) > 0 {
		t.loses("where the pieces of the body ended")
	}
	t.call(it)
}

func (t *writer) call(it *Interaction) {
	if it.Call != nil && it.HTTP() {
		t.loses("what the provider was asked and answered")
	}
}

type (
	vcrPyTape struct {
		Interactions []any `yaml:"interactions"`
		Version      int   `yaml:"version"`
	}
	vcrPyEntry struct {
		Request struct {
			Body    any                 `yaml:"body"`
			Headers map[string][]string `yaml:"headers"`
			Method  string              `yaml:"method"`
			URI     string              `yaml:"uri"`
		} `yaml:"request"`
		Response struct {
			Body struct {
				String any `yaml:"string"`
			} `yaml:"body"`
			Headers map[string][]string `yaml:"headers"`
			Status  status              `yaml:"status"`
		} `yaml:"response"`
	}
	status struct {
		Code    int    `yaml:"code"`
		Message string `yaml:"message"`
	}
	rubyTape struct {
		Interactions []any  `yaml:"http_interactions"`
		RecordedWith string `yaml:"recorded_with"`
	}
	rubyEntry struct {
		Request struct {
			Method  string              `yaml:"method"`
			URI     string              `yaml:"uri"`
			Body    rubyBody            `yaml:"body"`
			Headers map[string][]string `yaml:"headers"`
		} `yaml:"request"`
		Response struct {
			Status  status              `yaml:"status"`
			Headers map[string][]string `yaml:"headers"`
			Body    rubyBody            `yaml:"body"`
		} `yaml:"response"`
		RecordedAt string `yaml:"recorded_at"`
	}
	rubyBody struct {
		Encoding string `yaml:"encoding"`
		String   string `yaml:"string,omitempty"`
		Base64   string `yaml:"base64_string,omitempty"`
	}
)

// yaml writes the entries that make makes; nil leaves one out.
func (t *writer) yaml(list []*Interaction, makeOne func(*Interaction) any, whole func([]any) any) error {
	entries := []any{}
	for _, it := range list {
		if !it.HTTP() {
			t.loses("%s: it was recorded at the provider seam and holds no HTTP; it was left out", it.Place())
			continue
		}
		if e := makeOne(it); e != nil {
			entries = append(entries, e)
			t.pos++
		}
	}
	enc := yaml.NewEncoder(t.w)
	enc.SetIndent(2)
	if _, err := io.WriteString(t.w, "---\n"); err != nil {
		return err
	}
	if err := enc.Encode(whole(entries)); err != nil {
		return err
	}
	return enc.Close()
}

// yamlBody is a body for a YAML text: bytes that are no text become !!binary.
func yamlBody(body []byte) any { return string(body) }

// headers are a header by canonical name: order between names is lost, which no
// client may rely on, repeats keep theirs.
func (t *writer) headers(h Header) map[string][]string {
	m := map[string][]string{}
	for _, f := range h {
		name := canonicalName(f.Name)
		m[name] = append(m[name], f.Value)
	}
	return m
}

func canonicalName(name string) string {
	b := []byte(name)
	up := true
	for i, c := range b {
		switch {
		case up && c >= 'a' && c <= 'z':
			b[i] = c - 'a' + 'A'
		case !up && c >= 'A' && c <= 'Z':
			b[i] = c - 'A' + 'a'
		}
		up = c == '-'
	}
	return string(b)
}

// spoken notes what the formats of other languages cannot hold; false when an
// exchange without an answer would have to be written as one with.
func (t *writer) spoken(it *Interaction) bool {
	t.common(it)
	switch {
	case it.Failure != nil:
		t.loses("%s: it ended without an answer (%s), which the format cannot say; it was left out", it.Place(), it.Failure.Message)
		return false
	case it.Response.Cut != "":
		t.loses("that the body is not whole: %s", it.Response.Cut)
	}
	if len(it.Response.Trailer) > 0 {
		t.loses("the trailers")
	}
	if it.Response.Duration > 0 {
		t.loses("the duration")
	}
	return true
}

// wire is the body as it was on the wire: these formats store it so.
func (t *writer) wire(r *Response) []byte {
	body, err := r.Wire()
	if err != nil {
		return r.Body
	}
	return body
}

func (t *writer) vcrPy(it *Interaction) any {
	if !t.spoken(it) {
		return nil
	}
	var e vcrPyEntry
	e.Request.Method, e.Request.URI, e.Request.Headers = it.Request.Method, it.Request.URL, t.headers(it.Request.Header)
	if len(it.Request.Body) > 0 {
		e.Request.Body = yamlBody(it.Request.Body)
	}
	e.Response.Body.String = yamlBody(t.wire(&it.Response))
	e.Response.Headers = t.headers(it.Response.Header)
	e.Response.Status = status{it.Response.Status, it.Response.Reason}
	return e
}

func (t *writer) ruby(it *Interaction) any {
	if !t.spoken(it) {
		return nil
	}
	var e rubyEntry
	e.Request.Method, e.Request.URI, e.Request.Headers = strings.ToLower(it.Request.Method), it.Request.URL, t.headers(it.Request.Header)
	e.Request.Body = newRubyBody(it.Request.Body)
	e.Response.Status = status{it.Response.Status, it.Response.Reason}
	e.Response.Headers = t.headers(it.Response.Header)
	e.Response.Body = newRubyBody(t.wire(&it.Response))
	e.RecordedAt = "Thu, 01 Jan 1970 00:00:00 GMT" // Ruby VCR wants one; no clock is read
	return e
}

func newRubyBody(body []byte) rubyBody {
	if utf8.Valid(body) {
		return rubyBody{Encoding: "UTF-8", String: string(body)}
	}
	return rubyBody{Encoding: "ASCII-8BIT", Base64: base64.StdEncoding.EncodeToString(body)}
}

// provider writes a line for each call at the provider seam.
func (t *writer) provider(list []*Interaction) error {
	var buf bytes.Buffer
	for _, it := range list {
		if it.Call == nil {
			t.loses("%s: it is HTTP; a contract would have to say what a provider was asked; it was left out", it.Place())
			continue
		}
		line := append([]byte(`{"schema":"`+RecordingSchema+`","request":`), it.Call.Request...)
		if it.Failure != nil {
			code := "upstream_unavailable"
			if it.Failure.TimedOut {
				code = "upstream_timeout"
			}
			line = canon.AppendString(append(line, `,"error":{"code":"`+code+`","message":`...), it.Failure.Message)
			line = append(line, '}')
		} else {
			line = append(append(line, `,"answer":`...), it.Call.Answer...)
		}
		buf.Write(append(line, '}', '\n'))
		t.pos++
	}
	_, err := buf.WriteTo(t.w)
	return err
}
