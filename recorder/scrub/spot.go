package scrub

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/coding"
	"github.com/anvil-sim/anvil/internal/secretname"
)

// A spot is where a text stands in a file.
type spot struct {
	path   []string // keys and numbers of elements
	name   string   // the nearest name: a key, or the name beside a value
	msg    *message // that it belongs to; nil outside of one
	base64 bool     // the text stands for bytes
}

// child is the spot one step further.
func (at *spot) child(step, name string) *spot {
	return &spot{append(at.path[:len(at.path):len(at.path)], step), name, at.msg, false}
}

// place is a path without the steps that lead to the interaction.
func (at *spot) place() string {
	for i, step := range at.path {
		if step == "request" || step == "response" {
			return strings.Join(at.path[i:], ".")
		}
	}
	return strings.Join(at.path, ".")
}

// maxPlain is the longest body that is looked at without its codings, in bytes.
const maxPlain = 256 << 20

// scrub is the text as a recorder would have written it.
func (at *spot) scrub(s *Scrubber, text string) string {
	n := secretname.Normal(at.name)
	switch {
	case at.isLength():
		return at.msg.length(s, text)
	case len(text) < 4:
		return text
	case at.base64:
		return at.bytes(s, text)
	case slices.Contains(at.path, "headers") || slices.Contains(at.path, "trailer"):
		return s.field(n, text)
	case n == "url" || n == "uri":
		return s.URL(text)
	case n == "querystring" || slices.Contains(at.path, "queryString") || slices.Contains(at.path, "form"):
		return s.param(n, text, false)
	case at.hidden(s.rules, n):
		return s.hide(text)
	case n == "body" || n == "text" || n == "string":
		return string(at.body(s, []byte(text)))
	}
	return string(s.nested([]byte(text)))
}

// hidden tells of members that a name or a rule hides. The cookies of a HAR are
// named by their site; what they hold is known from the headers.
func (at *spot) hidden(r *Rules, n string) bool {
	if slices.Contains(at.path, "cookies") {
		return false
	}
	if r.secretField(n) {
		return true
	}
	for i, step := range at.path {
		switch step {
		case "request", "response", "answer", "normalized", "provider", "body", "data":
			if r.secretPath(at.path[i+1:]) {
				return true
			}
		}
	}
	return false
}

// body scrubs a body by the type that its message declares.
func (at *spot) body(s *Scrubber, text []byte) []byte {
	kind := ""
	if at.msg != nil {
		kind = at.msg.kind
	}
	if kind == "" && formLike(text) && !strings.ContainsAny(string(text), " \n<") {
		kind = "application/x-www-form-urlencoded"
	}
	return s.Body(kind, text)
}

// bytes scrubs what stands behind base64, and of a body behind content codings too;
// it keeps both.
func (at *spot) bytes(s *Scrubber, text string) string {
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return text
	}
	var clean []byte
	switch secretname.Normal(at.name) {
	case "body", "text", "string", "base64string", "content":
		clean = at.coded(s, raw)
	default:
		plain := *at
		plain.base64 = false
		clean = []byte(plain.scrub(s, string(raw)))
	}
	if string(clean) == string(raw) {
		return text
	}
	return base64.StdEncoding.EncodeToString(clean)
}

func (at *spot) coded(s *Scrubber, raw []byte) []byte {
	names := at.codings(raw)
	plain, err := coding.Decode(raw, names, maxPlain)
	if err != nil {
		return at.body(s, raw) // it is not what its header says
	}
	clean := at.body(s, plain)
	if string(clean) == string(plain) {
		return raw
	}
	if coded, err := coding.Encode(clean, names); err == nil {
		return coded
	}
	return raw
}

// codings are those that a message declares, else what the bytes begin with.
func (at *spot) codings(raw []byte) []string {
	if at.msg != nil && len(at.msg.codings) > 0 {
		return at.msg.codings
	}
	if m := coding.Marked(raw); m != "" {
		return []string{m}
	}
	return nil
}

// plain is what a text stands for.
func (at *spot) plain(text string) []byte {
	if !at.base64 {
		return []byte(text)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return []byte(text)
	}
	if plain, err := coding.Decode(raw, at.codings(raw), maxPlain); err == nil {
		return plain
	}
	return raw
}

// A message is what a recorded request or response says of its body.
type message struct {
	kind    string
	codings []string
	body    *spot
	text    string // of the body, as it stands in the file
}

// isLength tells of the header field whose value has to follow the body.
func (at *spot) isLength() bool {
	return at.msg != nil && secretname.Normal(at.name) == "contentlength" && slices.Contains(at.path, "headers")
}

// length is the value of Content-Length once the body is scrubbed: as it was, unless
// it was the length of the body that stands there.
func (m *message) length(s *Scrubber, was string) string {
	if m.body == nil || was != strconv.Itoa(m.size(m.text)) {
		return was
	}
	clean := ""
	s.vault.uncounted(func() { clean = m.body.scrub(s, m.text) })
	return strconv.Itoa(m.size(clean))
}

func (m *message) size(text string) int {
	if !m.body.base64 {
		return len(text)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return len(text)
	}
	return len(raw)
}

// readMessage finds the parts of a recorded request or response, nil for another
// object. In bytes of YAML stand as {"base64_string": text}.
func readMessage(v *canon.Value) *message {
	h := readHeader(v.Get("headers"))
	if h == nil {
		return nil
	}
	m := &message{kind: h.Get("Content-Type")}
	m.codings, _ = coding.Names(h.Values("Content-Encoding"))
	for _, c := range []*canon.Value{v.Get("content"), v.Get("postData")} {
		if t := c.Get("text"); t.Is(canon.String) {
			if kind := c.Get("mimeType").Text(); kind != "" {
				m.kind = kind
			}
			m.codings = nil // what a HAR holds is without them
			m.take(t.Text(), "text", c.Get("encoding").Text() == "base64")
		}
	}
	for _, b := range []*canon.Value{v.Get("body"), v.Get("content")} {
		switch {
		case b.Is(canon.String):
			m.take(b.Text(), "body", false)
		case b.Get("string").Is(canon.String):
			m.take(b.Get("string").Text(), "string", false)
		case b.Get("string").Get("base64_string").Is(canon.String):
			m.take(b.Get("string").Get("base64_string").Text(), "string", true)
		case b.Get("base64_string").Is(canon.String):
			m.take(b.Get("base64_string").Text(), "body", true)
		}
	}
	return m
}

func (m *message) take(text, name string, bytes bool) {
	if m.body == nil {
		m.text, m.body = text, &spot{name: name, msg: m, base64: bytes}
	}
}

// readHeader reads a mapping of names to one or more values, or a list of names and
// values; nil for anything else.
func readHeader(v *canon.Value) http.Header {
	h := http.Header{}
	switch v.Kind() {
	case canon.Object:
		for _, m := range v.Members() {
			for _, e := range append([]*canon.Value{m.Value}, m.Value.Elems()...) {
				if e.Is(canon.String) || e.Is(canon.Number) {
					h.Add(m.Key, e.Text())
				}
			}
		}
	case canon.Array:
		for _, e := range v.Elems() {
			h.Add(e.Get("name").Text(), e.Get("value").Text())
		}
	default:
		return nil
	}
	return h
}
