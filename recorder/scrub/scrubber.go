package scrub

import (
	"bytes"
	"unicode/utf8"
)

// volatileText stands for a volatile text.
const volatileText = "ANVIL-VOLATILE"

// A Scrubber scrubs the messages of one recording. It may be used by several
// goroutines at once.
type Scrubber struct {
	rules *Rules
	vault *Vault
	*detector
}

// New returns a scrubber. Nil rules are the built-in ones alone; a nil vault is a
// new one.
func New(rules *Rules, vault *Vault) *Scrubber {
	if rules == nil {
		rules = &Rules{}
	}
	if vault == nil {
		vault = NewVault(0)
	}
	return &Scrubber{rules, vault, newDetector()}
}

// Count is how many values were replaced, and how many different secrets.
func (s *Scrubber) Count() (replaced, secrets int) { return s.vault.Count() }

// hide is the placeholder of a secret, or the value itself when it is none.
func (s *Scrubber) hide(value string) string {
	if value == "" || bytes.Contains([]byte(value), []byte(Placeholder)) || s.rules.allows(value) {
		return value
	}
	return s.vault.Placeholder(value)
}

// Text scrubs text of which nothing more is known. The result may share memory
// with it.
func (s *Scrubber) Text(text []byte) []byte {
	if len(text) < 3 {
		return text
	}
	text = s.cut(text, s.rules.spans(text))
	text = s.cut(text, s.spans(text))
	text = s.cut(text, named(text, s.rules.secretField))
	text = s.rules.steady(text)
	text = s.hideBase64(text)
	return s.vault.replaceKnown(text)
}

// cut replaces spans of a text by placeholders.
func (s *Scrubber) cut(text []byte, found []span) []byte {
	if len(found) == 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	done := 0
	for _, f := range found {
		if f.from < done {
			continue
		}
		out = append(append(out, text[done:f.from]...), s.hide(string(text[f.from:f.to]))...)
		done = f.to
	}
	return append(out, text[done:]...)
}

// String is Text for a string.
func (s *Scrubber) String(text string) string { return string(s.Text([]byte(text))) }

// Body scrubs a body without content codings by its media type. What is no text is
// returned as it is: Scan decides whether it may be written.
func (s *Scrubber) Body(contentType string, body []byte) []byte {
	if len(body) == 0 {
		return body
	}
	media, params := mediaType(contentType)
	switch {
	case media == "multipart/form-data" || media == "multipart/mixed" || media == "multipart/related":
		if out, ok := s.multipart(params["boundary"], body); ok {
			return out
		}
	case !utf8.Valid(body):
		return body
	case media == "application/x-www-form-urlencoded" && formLike(body):
		return s.pairs(body)
	}
	if !utf8.Valid(body) {
		return body
	}
	if out, ok := s.json(body); ok {
		return out
	}
	return s.lines(body)
}

// lines scrubs text whose lines may be JSON by themselves: event streams and
// newline-delimited JSON.
func (s *Scrubber) lines(body []byte) []byte {
	var out []byte
	for part := range bytes.Lines(body) {
		line := bytes.TrimRight(part, "\r\n")
		start := 0
		if bytes.HasPrefix(line, []byte("data:")) {
			start = len("data:")
		}
		if out2, ok := s.json(line[start:]); ok {
			out = append(append(append(out, line[:start]...), out2...), part[len(line):]...)
			continue
		}
		out = append(out, part...)
	}
	return s.Text(out)
}
