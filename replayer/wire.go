package replayer

import (
	"bytes"
	"encoding/hex"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/air/route"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// readRequest brings an HTTP request into comparable form without a contract.
// withHost compares the host by default.
func readRequest(r *tape.Request, withHost bool) *asked { return readInto(nil, r, withHost, true) }

// readInto is readRequest with the room of fields that nobody needs any more, and
// without headers and cookies when no rule asks for them.
func readInto(room []field, r *tape.Request, withHost, headers bool) *asked {
	if room == nil {
		room = make([]field, 0, 16)
	}
	origin, path, query := splitURL(r.URL)
	a := &asked{op: r.Method + " " + path, group: r.Method, key: idempotencyKey(r.Header), fields: room[:0]}
	a.fields = append(a.fields, field{class: "host", value: string(canon.AppendString(nil, origin)), always: withHost})
	a.text("path", "", path)
	for _, p := range parseQuery(query) {
		a.add("query", p.name, list(p.values))
	}
	if headers {
		a.headers(r.Header)
	}
	if a.key != "" {
		a.text("key", "", a.key)
	}
	a.body(r)
	a.sort()
	return a
}

// idempotencyKey is the key that a client sends by the common convention.
func idempotencyKey(h tape.Header) string {
	if k := h.Get("Idempotency-Key"); k != "" {
		return k
	}
	return h.Get("X-Idempotency-Key")
}

func (a *asked) headers(h tape.Header) {
	seen := map[string]bool{}
	for _, f := range h {
		name := strings.ToLower(f.Name)
		if seen[name] {
			continue
		}
		seen[name] = true
		a.text("header", name, strings.Join(h.Values(name), ", "))
		if name == "cookie" {
			a.cookies(h.Values(name))
		}
	}
}

func (a *asked) cookies(lines []string) {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ";") {
			if name, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
				a.text("cookie", name, value)
			}
		}
	}
}

// body adds the fields of a body: the leaves of JSON, the names of a form, the
// parts of a multipart, else one text.
func (a *asked) body(r *tape.Request) {
	h := r.Header
	body, err := r.Content()
	if err != nil {
		body = r.Body
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return
	}
	typ, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		typ = media.Type(h.Get("Content-Type"))
	}
	switch {
	case typ == "application/x-www-form-urlencoded":
		for _, p := range parseQuery(string(body)) {
			a.add("body", "/"+escapePointer.Replace(p.name), list(p.values))
		}
		return
	case strings.HasPrefix(typ, "multipart/") && a.parts(body, params["boundary"]):
		return
	}
	// JSON is told by its content: recorders lose the type, and clients lie.
	if first := bytes.TrimSpace(body)[0]; first == '{' || first == '[' || media.JSON(typ) {
		if v, err := canon.Parse(body, canon.Lenient); err == nil {
			if !a.graphql(v) {
				a.leaves("", v)
			}
			return
		}
	}
	a.opaque("", body)
}

// parts adds the parts of a multipart body by name; the boundary, which clients
// choose anew each time, does not count. It is false for what cannot be read.
func (a *asked) parts(body []byte, boundary string) bool {
	if boundary == "" {
		return false
	}
	var found []field
	seen := map[string]int{}
	for r := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return false
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return false
		}
		one := &asked{}
		one.opaque("/"+escapePointer.Replace(part.FormName()), content)
		f := one.fields[0]
		if name := part.FileName(); name != "" {
			f.value += " " + string(canon.AppendString(nil, name))
		}
		if i, ok := seen[f.name]; ok {
			found[i].value += "," + f.value
			continue
		}
		seen[f.name] = len(found)
		found = append(found, f)
	}
	a.fields = append(a.fields, found...)
	return len(found) > 0
}

// graphql adds a GraphQL-over-HTTP body by operation name and variables.
func (a *asked) graphql(v *canon.Value) bool {
	doc := v.Get("query")
	if !doc.Is(canon.String) || !isDocument(doc.Text()) {
		return false
	}
	name := v.Get("operationName").Text()
	if name == "" {
		name = route.DocumentName(doc.Text())
	}
	a.text("body", "/operationName", name)
	if name == "" {
		a.text("body", "/query", strings.Join(strings.Fields(doc.Text()), " "))
	}
	if vars := v.Get("variables"); vars.Is(canon.Object) && len(vars.Members()) > 0 {
		a.leaves("/variables", vars)
	}
	return true
}

var documentWords = []string{"query", "mutation", "subscription", "fragment"}

// isDocument tells a GraphQL document from the text of a search.
func isDocument(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "#") {
		return true
	}
	for _, w := range documentWords {
		if rest, ok := strings.CutPrefix(text, w); ok && strings.Contains(rest, "{") {
			return true
		}
	}
	return false
}

// splitURL cuts a URL into origin, path and query. Nothing in it is an error:
// recordings hold placeholders where an origin stood.
func splitURL(raw string) (origin, path, query string) {
	raw, _, _ = strings.Cut(raw, "#")
	raw, query, _ = strings.Cut(raw, "?")
	switch i := strings.Index(raw, "://"); {
	case i >= 0 && !strings.Contains(raw[:i], "/"):
		if j := strings.IndexByte(raw[i+3:], '/'); j >= 0 {
			origin, path = raw[:i+3+j], raw[i+3+j:]
		} else {
			origin = raw
		}
		origin = normalOrigin(origin)
	default:
		if j := strings.IndexByte(raw, '/'); j >= 0 {
			origin, path = raw[:j], raw[j:]
		} else {
			origin = raw
		}
	}
	if path == "" {
		path = "/"
	}
	return origin, route.NormalPath(path), query
}

func normalOrigin(origin string) string {
	origin = strings.ToLower(origin)
	if i := strings.LastIndexByte(origin, '@'); i >= 0 {
		scheme, _, _ := strings.Cut(origin, "://")
		origin = scheme + "://" + origin[i+1:]
	}
	if rest, ok := strings.CutSuffix(origin, ":443"); ok && strings.HasPrefix(origin, "https://") {
		return rest
	}
	if rest, ok := strings.CutSuffix(origin, ":80"); ok && strings.HasPrefix(origin, "http://") {
		return rest
	}
	return origin
}

// A pair is one name of a query or form with its values in order.
type pair struct {
	name   string
	values []string
}

// parseQuery reads form text; a bad escape stands for itself.
func parseQuery(query string) []pair {
	var pairs []pair
	var at map[string]int // of the names, once there are many
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = unescapeForm(name), unescapeForm(value)
		i := -1
		if at == nil {
			i = slices.IndexFunc(pairs, func(p pair) bool { return p.name == name })
		} else if found, ok := at[name]; ok {
			i = found
		}
		if i < 0 {
			i = len(pairs)
			pairs = append(pairs, pair{name: name})
			at = placed(at, pairs)
		}
		pairs[i].values = append(pairs[i].values, value)
	}
	return pairs
}

// placed notes where the last name stands; few names are found faster without.
func placed(at map[string]int, pairs []pair) map[string]int {
	const few = 8
	switch {
	case len(pairs) < few:
		return nil
	case at == nil:
		at = make(map[string]int, 2*few)
		for i, p := range pairs {
			at[p.name] = i
		}
	}
	at[pairs[len(pairs)-1].name] = len(pairs) - 1
	return at
}

func unescapeForm(s string) string { return unescape(s, true) }

func unescape(s string, plus bool) string {
	if strings.ContainsAny(s, "%+") {
		b := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			if s[i] == '%' && i+2 < len(s) {
				if raw, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
					b = append(b, raw[0])
					i += 2
					continue
				}
			}
			if s[i] == '+' && plus {
				b = append(b, ' ')
				continue
			}
			b = append(b, s[i])
		}
		s = string(b)
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
