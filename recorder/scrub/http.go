package scrub

import (
	"bytes"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/secretname"
)

// Boundary replaces the random boundary of a multipart body.
const Boundary = "anvil-boundary"

// Header scrubs header fields; the result is a copy.
func (s *Scrubber) Header(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	out := make(http.Header, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) { // placeholders are counted by first sight
		values := h[name]
		list := make([]string, len(values))
		for i, v := range values {
			list[i] = s.field(secretname.Normal(name), v)
		}
		out[s.String(name)] = list
	}
	return out
}

func (s *Scrubber) field(name, value string) string {
	r := s.rules
	switch {
	case value == "" || !utf8.ValidString(value):
		return value
	case name == "cookie":
		return s.cookies(value)
	case name == "setcookie":
		return s.setCookie(value)
	case r.secretHeader(name):
		return s.credential(value)
	case r.volatileHeader(name):
		return string(steadyValue([]byte(value)))
	case name == "contenttype":
		return s.contentType(value)
	case (name == "location" || name == "referer" || name == "contentlocation") && strings.Contains(value, "?"):
		return s.URL(value)
	case name == "link" || name == "refresh":
		return s.links(value)
	}
	return s.String(value)
}

// credential keeps the scheme of "Bearer x", which says how to authenticate.
func (s *Scrubber) credential(value string) string {
	scheme, rest, ok := strings.Cut(value, " ")
	if ok && rest != "" && len(scheme) <= 20 && alphabetic(scheme) {
		return scheme + " " + s.hide(rest)
	}
	return s.hide(value)
}

func alphabetic(word string) bool {
	for i := range len(word) {
		if c := word[i]; !dashed.has(c) {
			return false
		}
	}
	return word != ""
}

func (s *Scrubber) cookies(value string) string {
	parts := strings.Split(value, ";")
	for i, p := range parts {
		if name, v, ok := strings.Cut(p, "="); ok {
			parts[i] = name + "=" + s.hide(v)
		} else if t := strings.TrimSpace(p); t != "" {
			parts[i] = strings.Replace(p, t, s.hide(t), 1)
		}
	}
	return strings.Join(parts, ";")
}

// setCookie hides the value and keeps the attributes; a moment of expiry becomes a
// far one, unless it is in the past to delete the cookie.
func (s *Scrubber) setCookie(value string) string {
	parts := strings.Split(value, ";")
	parts[0] = s.cookies(parts[0])
	for i, p := range parts[1:] {
		name, v, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "expires") && !s.rules.Volatile.KeepDefaults && !strings.Contains(v, "1970") {
			parts[i+1] = " " + name + "=Fri, 01 Jan 2100 00:00:00 GMT"
		}
	}
	return strings.Join(parts, ";")
}

// links scrubs the URLs of a Link header one by one.
func (s *Scrubber) links(value string) string {
	var b strings.Builder
	for {
		from := strings.IndexByte(value, '<')
		to := strings.IndexByte(value, '>')
		if from < 0 || to < from {
			break
		}
		b.WriteString(s.String(value[:from]) + "<" + s.URL(value[from+1:to]) + ">")
		value = value[to+1:]
	}
	b.WriteString(s.String(value))
	return b.String()
}

func mediaType(contentType string) (string, map[string]string) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = strings.ToLower(strings.TrimSpace(strings.SplitN(contentType, ";", 2)[0]))
	}
	return media, params
}

// contentType gives a multipart body its fixed boundary.
func (s *Scrubber) contentType(value string) string {
	media, params := mediaType(value)
	if b := params["boundary"]; strings.HasPrefix(media, "multipart/") && b != "" && !s.rules.Volatile.KeepDefaults {
		return strings.Replace(value, b, Boundary, 1)
	}
	return s.String(value)
}

// URL scrubs a URL, absolute or not: user and password, query, path and fragment.
// What is not replaced keeps its spelling.
func (s *Scrubber) URL(text string) string {
	text, fragment, hasFragment := strings.Cut(text, "#")
	text, query, hasQuery := strings.Cut(text, "?")
	out := s.segments(s.String(text))
	if hasQuery {
		out += "?" + string(s.pairs([]byte(query)))
	}
	if hasFragment {
		out += "#" + string(s.pairs([]byte(fragment)))
	}
	return out
}

// segments finds secrets that percent-encoding hides in a path.
func (s *Scrubber) segments(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil && plain != p {
			if clean := s.String(plain); clean != plain {
				parts[i] = url.PathEscape(clean)
			}
		}
	}
	return strings.Join(parts, "/")
}

// formLike reports whether a body is what its type says; curl calls JSON a form.
func formLike(body []byte) bool {
	return len(body) > 0 && body[0] != '{' && body[0] != '[' && bytes.IndexByte(body, '=') > 0
}

// pairs scrubs name=value&... in place.
func (s *Scrubber) pairs(text []byte) []byte {
	parts := strings.Split(string(text), "&")
	oauth := strings.Contains(string(text), "grant_type=") || strings.Contains(string(text), "state=")
	for i, p := range parts {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			parts[i] = s.String(p)
			continue
		}
		plainName, plain := unescape(name), unescape(value)
		n := secretname.Normal(plainName)
		clean := plain
		switch {
		case s.rules.steadyQuery[n]:
			clean = string(steadyValue([]byte(plain)))
		case s.rules.secretParam(n), n == "code" && oauth:
			clean = s.hide(plain)
		default:
			clean = string(s.nested([]byte(plain)))
		}
		if clean != plain {
			value = url.QueryEscape(clean)
		}
		parts[i] = s.String(name) + "=" + value
	}
	return []byte(strings.Join(parts, "&"))
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil && utf8.ValidString(plain) {
		return plain
	}
	return text
}

// Form scrubs the decoded fields of a form; the result is a copy.
func (s *Scrubber) Form(form url.Values) url.Values {
	if form == nil {
		return nil
	}
	out := make(url.Values, len(form))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := form[name]
		n := secretname.Normal(name)
		list := make([]string, len(values))
		for i, v := range values {
			switch {
			case s.rules.steadyQuery[n]:
				list[i] = string(steadyValue([]byte(v)))
			case s.rules.secretParam(n), n == "code" && (form.Has("grant_type") || form.Has("state")):
				list[i] = s.hide(v)
			default:
				list[i] = string(s.nested([]byte(v)))
			}
		}
		out[string(s.nested([]byte(name)))] = list
	}
	return out
}

// multipart scrubs each part by its own type, or whole when its name is a secret's.
func (s *Scrubber) multipart(boundary string, body []byte) ([]byte, bool) {
	if boundary == "" {
		return nil, false
	}
	delim := []byte("--" + boundary)
	fixed := delim
	if !s.rules.Volatile.KeepDefaults {
		fixed = []byte("--" + Boundary)
	}
	pieces := bytes.Split(body, delim)
	if len(pieces) < 2 {
		return nil, false
	}
	var out []byte
	for i, p := range pieces {
		if i > 0 {
			out = append(out, fixed...)
		}
		out = append(out, s.part(p)...)
	}
	return out, true
}

func (s *Scrubber) part(p []byte) []byte {
	head, content, ok := bytes.Cut(p, []byte("\r\n\r\n"))
	if !ok {
		return p
	}
	end := []byte("\r\n")
	trail := bytes.HasSuffix(content, end)
	if trail {
		content = content[:len(content)-2]
	}
	var name, kind string
	for line := range bytes.SplitSeq(head, end) {
		key, value, _ := strings.Cut(string(line), ":")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "content-disposition":
			_, params := mediaType(strings.TrimSpace(value))
			name = params["name"]
		case "content-type":
			kind = strings.TrimSpace(value)
		}
	}
	switch n := secretname.Normal(name); {
	case s.rules.steadyQuery[n]:
		content = steadyValue(content)
	case s.rules.secretParam(n) && len(content) > 0:
		content = []byte(s.hide(string(content)))
	default:
		content = s.Body(kind, content)
	}
	out := append(append([]byte{}, s.Text(head)...), "\r\n\r\n"...)
	out = append(out, content...)
	if trail {
		out = append(out, end...)
	}
	return out
}
