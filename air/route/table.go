package route

import (
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A Table finds the operation of a call that was made to the real API, so below a
// server's base path or without it.
type Table struct {
	routes   map[routeKey][]*route
	graphql  []*air.Operation
	prefixes []string // base paths of the servers, "" first
}

// Routes are kept by method and number of segments: no other one can match.
type routeKey struct {
	method   string
	segments int
}

type route struct {
	op       *air.Operation
	template *Template
	names    []string
}

// A Param is a path parameter, its text still encoded.
type Param struct{ Name, Text string }

// NewTable takes operations of a document.
func NewTable(doc *air.Document, ops []*air.Operation) *Table {
	t := &Table{routes: map[routeKey][]*route{}, prefixes: []string{""}}
	for _, s := range doc.Service.Servers {
		if p := basePath(s); p != "" && !slices.Contains(t.prefixes, p) {
			t.prefixes = append(t.prefixes, p)
		}
	}
	for _, op := range ops {
		if op.Protocol() == air.GraphQL {
			t.graphql = append(t.graphql, op)
			continue
		}
		if op.Path == "" {
			continue
		}
		r := &route{op: op, template: NewTemplate(normalTemplate(op.Path))}
		r.names = r.template.Names()
		key := routeKey{strings.ToUpper(op.Method), r.template.Len()}
		t.routes[key] = append(t.routes[key], r)
	}
	for _, list := range t.routes {
		// More literal segments first; the contract's order breaks ties.
		slices.SortStableFunc(list, func(a, b *route) int { return b.template.Literals() - a.template.Literals() })
	}
	return t
}

// basePath is the path of a server's URL without its last slash; "" for a URL
// whose path is a variable.
func basePath(server string) string {
	u, err := url.Parse(server)
	if err != nil || strings.Contains(u.Path, "{") {
		return ""
	}
	return strings.TrimSuffix(NormalPath(u.EscapedPath()), "/")
}

func normalTemplate(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if !strings.Contains(p, "{") {
			parts[i] = NormalPath(p)
		}
	}
	return strings.Join(parts, "/")
}

// Find ties a method and a path, as [NormalPath] spells it, to an operation; nil
// when none takes it. GraphQL has no path of its own.
func (t *Table) Find(method, path string) (*air.Operation, []Param) {
	for _, prefix := range t.prefixes {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || prefix != "" && rest != "" && rest[0] != '/' {
			continue
		}
		segments := Split(nil, rest)
		for _, r := range t.routes[routeKey{method, len(segments)}] {
			values, ok := r.template.Match(segments)
			if !ok {
				continue
			}
			params := make([]Param, len(values))
			for i, v := range values {
				params[i] = Param{r.names[i], v}
			}
			return r.op, params
		}
	}
	return nil, nil
}

// GraphQL finds the operation of a GraphQL request, the body of a POST: by
// operationName, then by the compiled document, then by the root field; nil when it
// is none.
func (t *Table) GraphQL(body *canon.Value) *air.Operation {
	doc := body.Get("query").Text()
	if doc == "" || len(t.graphql) == 0 {
		return nil
	}
	name := body.Get("operationName").Text()
	if name == "" {
		name = DocumentName(doc)
	}
	squeezed, root := squeeze(doc), rootField(doc)
	var byDoc, byField *air.Operation
	for _, op := range t.graphql {
		if name != "" && op.Binding.Get("operationName").Text() == name {
			return op
		}
		if byDoc == nil && squeeze(op.Binding.Get("document").Text()) == squeezed {
			byDoc = op
		}
		if byField == nil && root != "" && op.Binding.Get("rootField").Text() == root {
			byField = op
		}
	}
	if byDoc != nil {
		return byDoc
	}
	return byField
}

// HasGraphQL reports whether an operation is GraphQL: then a body has to be read to
// tell what a POST is.
func (t *Table) HasGraphQL() bool { return len(t.graphql) > 0 }

func squeeze(doc string) string { return strings.Join(strings.Fields(doc), " ") }

// DocumentName is the name of a GraphQL document's operation, when it begins with
// one; "" otherwise.
func DocumentName(doc string) string {
	words := strings.FieldsFunc(doc, func(r rune) bool { return strings.ContainsRune(" \n\t\r,({@", r) })
	if len(words) < 2 || words[0] == "fragment" {
		return ""
	}
	at := strings.Index(doc, words[0]) + len(words[0])
	rest := strings.TrimSpace(doc[at:])
	if (words[0] == "query" || words[0] == "mutation" || words[0] == "subscription") && strings.HasPrefix(rest, words[1]) {
		return words[1]
	}
	return ""
}

// rootField is the first root field that a document selects, without its alias.
func rootField(doc string) string {
	if strings.HasPrefix(strings.TrimSpace(doc), "fragment") {
		return ""
	}
	depth := 0
	for i, r := range doc {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == '{' && depth == 0:
			words := strings.FieldsFunc(doc[i+1:], func(r rune) bool { return strings.ContainsRune(" \n\t\r,({@}", r) })
			if len(words) == 0 {
				return ""
			}
			if len(words) > 1 && strings.HasSuffix(words[0], ":") {
				return words[1]
			}
			if _, field, ok := strings.Cut(words[0], ":"); ok {
				return field
			}
			return words[0]
		}
	}
	return ""
}

// NormalPath gives each path one spelling: escapes of unreserved characters are
// undone, all others are upper case, and what may not stand in a path is escaped,
// a percent sign that begins no escape among it.
func NormalPath(path string) string {
	done := 0
	for done < len(path) && !foreign(path[done]) {
		done++
	}
	if done == len(path) {
		return path
	}
	var b strings.Builder
	b.WriteString(path[:done])
	for i := done; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			if raw, err := hex.DecodeString(path[i+1 : i+3]); err == nil {
				if unreserved(raw[0]) {
					b.WriteByte(raw[0])
				} else {
					b.WriteString(strings.ToUpper(path[i : i+3]))
				}
				i += 2
				continue
			}
		}
		if foreign(c) {
			const digits = "0123456789ABCDEF"
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// foreign reports whether a character may not stand in a path as it is.
func foreign(c byte) bool {
	return c <= ' ' || c >= 0x7F || strings.IndexByte("%\"<>`{}^|\\", c) >= 0
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
