package recorder

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// toClient rewrites what would lead the client past the recorder: links to the
// target in Location, Content-Location, Link and Refresh, and cookies that are bound
// to the target's domain or to TLS. The tape keeps the original.
func (p *Proxy) toClient(h http.Header, self string) {
	for _, name := range []string{"Location", "Content-Location", "Link", "Refresh"} {
		for i, v := range h[name] {
			v = replaceOrigin(v, p.origin, self)
			if p.base != "" && strings.HasPrefix(v, p.base+"/") {
				v = v[len(p.base):] // a path of the target
			}
			h[name][i] = v
		}
	}
	for i, v := range h["Set-Cookie"] {
		parts := strings.Split(v, ";")
		kept := parts[:1]
		for _, a := range parts[1:] {
			name, _, _ := strings.Cut(strings.TrimSpace(a), "=")
			if !strings.EqualFold(name, "domain") && !strings.EqualFold(name, "secure") {
				kept = append(kept, a)
			}
		}
		h["Set-Cookie"][i] = strings.Join(kept, ";")
	}
}

// toTarget undoes it in what the client says of where it comes from.
func (p *Proxy) toTarget(h http.Header, self string) {
	origin := p.opts.Target.Scheme + "://" + p.opts.Target.Host
	for i, v := range h["Origin"] {
		if v == self {
			h["Origin"][i] = origin
		}
	}
	for i, v := range h["Referer"] {
		h["Referer"][i] = replaceOrigin(v, self, p.origin)
	}
}

// replaceOrigin replaces the beginning of URLs in a text, where the origin ends
// there and is not a part of a longer name.
func replaceOrigin(text, from, to string) string {
	return string(replaceAll([]byte(text), []byte(from), []byte(to)))
}

func replaceAll(text, from, to []byte) []byte {
	var out []byte
	for {
		i := bytes.Index(text, from)
		if i < 0 {
			break
		}
		end := i + len(from)
		out = append(out, text[:i]...)
		if end < len(text) && strings.IndexByte("/?#\\\"'<> ,;&)]}\r\n", text[end]) < 0 {
			out = append(out, from...)
		} else {
			out = append(out, to...)
		}
		text = text[end:]
	}
	if out == nil {
		return text
	}
	return append(out, text...)
}

// rewritable reports whether links in a body may be rewritten.
func rewritable(h http.Header) bool {
	kind := strings.ToLower(h.Get("Content-Type"))
	return strings.Contains(kind, "json") || strings.Contains(kind, "xml") || strings.HasPrefix(kind, "text/")
}

// A linkWriter rewrites links to the target, with JSON's \/ too, on the way.
type linkWriter struct {
	w        io.Writer
	from, to [][]byte
	held     []byte
}

func newLinkWriter(w io.Writer, from, to string) *linkWriter {
	escape := func(s string) []byte { return []byte(strings.ReplaceAll(s, "/", `\/`)) }
	return &linkWriter{w: w, from: [][]byte{[]byte(from), escape(from)}, to: [][]byte{[]byte(to), escape(to)}}
}

// Write implements io.Writer. The end of p is held back as long as it may be the
// beginning of a link.
func (l *linkWriter) Write(p []byte) (int, error) {
	l.held = append(l.held, p...)
	keep := 0
	for _, from := range l.from {
		for n := min(len(from), len(l.held)); n > keep; n-- {
			if bytes.HasSuffix(l.held, from[:n]) {
				keep = n
			}
		}
	}
	return len(p), l.pass(len(l.held) - keep)
}

func (l *linkWriter) flush() error { return l.pass(len(l.held)) }

func (l *linkWriter) pass(n int) error {
	out := bytes.Clone(l.held[:n])
	for i := range l.from {
		out = replaceAll(out, l.from[i], l.to[i])
	}
	l.held = append(l.held[:0], l.held[n:]...)
	_, err := l.w.Write(out)
	return err
}

// A linkSpotter tells whether links to the target passed by.
type linkSpotter struct {
	what []byte
	tail []byte
	seen bool
}

func (s *linkSpotter) look(p []byte) {
	if s.seen {
		return
	}
	joined := append(s.tail, p[:min(len(p), len(s.what))]...)
	s.seen = bytes.Contains(p, s.what) || bytes.Contains(joined, s.what)
	s.tail = append(s.tail[:0], p[max(0, len(p)-len(s.what)):]...)
}
