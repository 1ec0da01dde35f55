// Package route finds the operation of a call: by method and path template, servers'
// prefixes apart, and by GraphQL document.
package route

import (
	"regexp"
	"strings"
)

// A Template is the path of an operation, cut at its slashes.
type Template struct {
	segments []segment
	literals int
	slash    bool
}

// A segment matches one piece of a path between slashes.
type segment struct {
	literal string         // compared against the still-encoded text, when names is empty
	names   []string       // of its parameters
	pattern *regexp.Regexp // when the segment is more than one parameter; nil: all of it
}

// NewTemplate compiles a path such as /users/{id}/files/{name}.{ext}. Several
// parameters in one segment are greedy from the left and take at least one character
// each; a parameter never crosses a slash.
func NewTemplate(path string) *Template {
	t := &Template{slash: len(path) > 1 && strings.HasSuffix(path, "/")}
	for _, s := range Split(nil, path) {
		seg := newSegment(s)
		if len(seg.names) == 0 {
			t.literals++
		}
		t.segments = append(t.segments, seg)
	}
	return t
}

// Split cuts a path at its slashes and appends the pieces to dst; a trailing slash
// makes no piece.
func Split(dst []string, path string) []string {
	rest := strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	if rest == "" {
		return dst
	}
	for {
		head, tail, more := strings.Cut(rest, "/")
		dst = append(dst, head)
		if !more {
			return dst
		}
		rest = tail
	}
}

func newSegment(s string) segment {
	var seg segment
	var pattern strings.Builder
	rest := s
	for {
		before, after, open := strings.Cut(rest, "{")
		name, tail, closed := strings.Cut(after, "}")
		if !open || !closed {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(before) + "([^/]+)")
		seg.names = append(seg.names, name)
		rest = tail
	}
	switch {
	case len(seg.names) == 0:
		seg.literal = s
	case len(seg.names) > 1 || s != "{"+seg.names[0]+"}":
		seg.pattern = regexp.MustCompile("^" + pattern.String() + regexp.QuoteMeta(rest) + "$")
	}
	return seg
}

// Len is the number of segments: only paths of as many match.
func (t *Template) Len() int { return len(t.segments) }

// Literals is how many segments have no parameter: of several templates that match,
// the one with the most is meant.
func (t *Template) Literals() int { return t.literals }

// Slash reports whether the template ends in a slash.
func (t *Template) Slash() bool { return t.slash }

// Names are the parameters, in order.
func (t *Template) Names() (names []string) {
	for _, s := range t.segments {
		names = append(names, s.names...)
	}
	return names
}

// Shape is the template without the names of its parameters: two templates of one
// shape match the same paths.
func (t *Template) Shape() string {
	var b strings.Builder
	for _, s := range t.segments {
		b.WriteByte('/')
		switch {
		case len(s.names) == 0:
			b.WriteString(s.literal)
		case s.pattern == nil:
			b.WriteString("{}")
		default:
			b.WriteString(s.pattern.String())
		}
	}
	return b.String()
}

// Match compares the segments of a path, Len of them, as [Split] cuts them. The
// params are the still-encoded values of Names.
func (t *Template) Match(segments []string) (params []string, ok bool) {
	for i := range t.segments {
		s := &t.segments[i]
		if len(s.names) == 0 && !sameLiteral(s.literal, segments[i]) || segments[i] == "" {
			return nil, false
		}
	}
	for i := range t.segments {
		switch s := &t.segments[i]; {
		case len(s.names) == 0:
		case s.pattern == nil:
			params = append(params, segments[i])
		default:
			m := s.pattern.FindStringSubmatch(segments[i])
			if m == nil {
				return nil, false
			}
			params = append(params, m[1:]...)
		}
	}
	return params, true
}

// sameLiteral compares still-encoded texts; the letter case of an escape's
// digits is the client's choice.
func sameLiteral(template, sent string) bool {
	if template == sent {
		return true
	}
	if len(template) != len(sent) || strings.IndexByte(template, '%') < 0 {
		return false
	}
	for i := 0; i < len(sent); i++ {
		if sent[i] == '%' && template[i] == '%' && i+2 < len(sent) && strings.EqualFold(sent[i:i+3], template[i:i+3]) {
			i += 2
		} else if sent[i] != template[i] {
			return false
		}
	}
	return true
}
