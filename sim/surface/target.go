package surface

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A target is a request target, read by the WHATWG URL rules and not by
// net/url's: nothing in it is an error.
type target struct {
	path  string // still encoded, dot segments removed; begins with /
	query []queryPair
	raw   string // the query as it stood, without the ?
}

// A queryPair is one name of a query with its values, decoded, in order of
// first appearance.
type queryPair struct {
	name   string
	values []string
	raws   []string // the values, still encoded
}

// find is the pair of a name, nil when the query has none.
func (t *target) find(name string) *queryPair {
	for i := range t.query {
		if t.query[i].name == name {
			return &t.query[i]
		}
	}
	return nil
}

// last is the last value of a name.
func (t *target) last(name string) (string, bool) {
	q := t.find(name)
	if q == nil {
		return "", false
	}
	return q.values[len(q.values)-1], true
}

func parseTarget(raw string) target {
	raw, _, _ = strings.Cut(raw, "#")
	path, query, _ := strings.Cut(raw, "?")
	return target{path: normalPath(stripOrigin(path)), query: parseQuery(query), raw: query}
}

// stripOrigin drops what a URL parser takes for scheme and host: of an absolute
// target, and of a path that begins with two slashes.
func stripOrigin(path string) string {
	rest := path
	if i := strings.Index(path, "://"); i > 0 && !strings.ContainsAny(path[:i], "/\\") {
		rest = path[i+3:]
	} else if len(path) >= 2 && isSlash(path[0]) && isSlash(path[1]) {
		rest = strings.TrimLeft(path, `/\`)
	} else {
		return path
	}
	if i := strings.IndexAny(rest, `/\`); i >= 0 {
		return rest[i:]
	}
	return "/"
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

// normalPath removes dot segments and percent-encodes what may not stand in a
// path as it is. A path without either is returned as it came.
func normalPath(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + strings.TrimPrefix(path, `\`)
	}
	if strings.IndexByte(path, '\\') >= 0 {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if !strings.Contains(path, "/.") && !strings.Contains(strings.ToLower(path), "/%2e") {
		return encodePath(path)
	}
	segments := strings.Split(path[1:], "/")
	out := segments[:0]
	for i, s := range segments {
		last := i == len(segments)-1
		switch dots(s) {
		case 1:
			if last {
				out = append(out, "")
			}
		case 2:
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return encodePath("/" + strings.Join(out, "/"))
}

// dots tells . and .. segments, also percent-encoded ones.
func dots(s string) int {
	if len(s) > 6 {
		return 0
	}
	switch strings.ReplaceAll(strings.ToLower(s), "%2e", ".") {
	case ".":
		return 1
	case "..":
		return 2
	}
	return 0
}

// encodePath encodes the bytes of WHATWG's path percent-encode set.
func encodePath(path string) string {
	i := 0
	for i < len(path) && !inPathSet(path[i]) {
		i++
	}
	if i == len(path) {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if inPathSet(path[i]) {
			writePercent(&b, path[i])
		} else {
			b.WriteByte(path[i])
		}
	}
	return b.String()
}

func inPathSet(c byte) bool {
	return c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`{}^", c) >= 0
}

func writePercent(b *strings.Builder, c byte) {
	const hex = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&15])
}

// parseQuery reads application/x-www-form-urlencoded text by the WHATWG rules:
// a bad escape stands for itself, bytes that are not UTF-8 become U+FFFD.
func parseQuery(query string) []queryPair {
	if query == "" {
		return nil
	}
	var pairs []queryPair
	var places map[string]int // by name, once there are many
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, raw, _ := strings.Cut(part, "=")
		name, value := unescapeForm(name), unescapeForm(raw)
		if i := placeOf(pairs, places, name); i >= 0 {
			pairs[i].values = append(pairs[i].values, value)
			pairs[i].raws = append(pairs[i].raws, raw)
			continue
		}
		if places != nil {
			places[name] = len(pairs)
		}
		pairs = append(pairs, queryPair{name, []string{value}, []string{raw}})
		if len(pairs) == manyPairs {
			places = make(map[string]int, 2*manyPairs)
			for i := range pairs {
				places[pairs[i].name] = i
			}
		}
	}
	return pairs
}

// manyPairs is where looking a name up goes from a list to a map.
const manyPairs = 16

func placeOf(pairs []queryPair, places map[string]int, name string) int {
	if places != nil {
		if i, ok := places[name]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(pairs, func(p queryPair) bool { return p.name == name })
}

func unescapeForm(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// unescapePath is ECMAScript's decodeURIComponent: false for a bad escape or
// bytes that are not UTF-8.
func unescapePath(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			return "", false
		}
		b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
		i += 2
	}
	return string(b), utf8.Valid(b)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}

// withQuery is a query in URLSearchParams' serialization with name set to
// value: in the place of its first occurrence, the others dropped, else at the
// end. A name in without is left out.
func withQuery(raw, name, value, without string) string {
	var b strings.Builder
	add := func(n, v string) {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		escapeForm(&b, n)
		b.WriteByte('=')
		escapeForm(&b, v)
	}
	done := false
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		n, v, _ := strings.Cut(part, "=")
		n, v = unescapeForm(n), unescapeForm(v)
		switch {
		case n == name:
			if !done {
				add(n, value)
			}
			done = true
		case without == "" || n != without:
			add(n, v)
		}
	}
	if !done {
		add(name, value)
	}
	return b.String()
}

func escapeForm(b *strings.Builder, s string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '*', c == '-', c == '.', c == '_':
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			writePercent(b, c)
		}
	}
}
