package trace

import (
	"bytes"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// Facts are what an overview says of a call. A text that the entry does not
// have is "".
type Facts struct {
	Seq       int64
	RequestID string
	Transport string // "http" or "in_process"
	Tool      string // "" when no operation was found
	Operation string
	Method    string // "" in process
	Path      string // as the client sent it
	Query     string // encoded, without the question mark
	Kind      string // "read", "list" and so on; "" when the provider was not asked
	Principal string
	Tenant    string
	Status    int    // 0 in process
	OK        bool   // the result says so
	Code      string // of the result's error
	Asked     bool   // a provider answered
	Source    string // the server, in a trace that Merge of trace/arrange made
	SourceSeq int64  // its number there
}

// Target is what was asked: "GET /tickets?status=open", "" in process.
func (f *Facts) Target() string {
	switch {
	case f.Method == "":
		return ""
	case f.Query == "":
		return f.Method + " " + f.Path
	}
	return f.Method + " " + f.Path + "?" + f.Query
}

// Facts reads what an overview needs from the line. What it does not need is
// not checked; a line that is no JSON there is an *InputError.
func (l Line) Facts() (Facts, error) {
	text := bytes.Trim(l.Text, " \t\r")
	f := Facts{Seq: l.Seq}
	w := walk(text)
	for {
		key, val, ok := w.member()
		if !ok {
			break
		}
		f.entry(string(key), val)
	}
	if !w.bad {
		return f, nil
	}
	return f, l.Check()
}

func (f *Facts) entry(key string, val []byte) {
	switch key {
	case `"requestId"`:
		f.RequestID = textOf(val)
	case `"transport"`:
		f.Transport = textOf(val)
	case `"tool"`:
		f.Tool = textOf(val)
	case `"operationId"`:
		f.Operation = textOf(val)
	case `"request"`:
		f.Method, f.Path = textOf(lookup(val, "method")), textOf(lookup(val, "path"))
		f.Query = query(lookup(val, "query"))
	case `"normalized"`:
		f.Kind = textOf(lookup(val, "kind"))
		f.Principal = textOf(lookup(lookup(val, "principal"), "id"))
		f.Tenant = textOf(lookup(val, "tenantId"))
	case `"provider"`:
		f.Asked = val[0] == '{'
	case `"result"`:
		f.OK = string(lookup(val, "ok")) == "true"
		f.Code = textOf(lookup(lookup(val, "error"), "code"))
	case `"status"`:
		if n, size := parseSeq(val); size == len(val) && n < 1000 {
			f.Status = int(n)
		}
	case `"source"`:
		f.Source = textOf(lookup(val, "name"))
		f.SourceSeq, _ = parseSeq(lookup(val, "seq"))
	}
}

// textOf is a string literal's text, "" of anything else.
func textOf(lit []byte) string {
	if len(lit) < 2 || lit[0] != '"' {
		return ""
	}
	if inner := lit[1 : len(lit)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	if !canon.Valid(lit) {
		return string(lit)
	}
	return canon.Unquote(lit)
}

// query writes the recorded query as a target has it.
func query(obj []byte) string {
	if len(obj) == 0 || obj[0] != '{' {
		return ""
	}
	var out []byte
	add := func(key string, val []byte) {
		if len(out) > 0 {
			out = append(out, '&')
		}
		out = escapeQuery(out, key)
		if val[0] == '"' {
			val = []byte(textOf(val))
		}
		out = escapeQuery(append(out, '='), string(val))
	}
	w := walk(obj)
	for {
		key, val, ok := w.member()
		if !ok {
			return string(out)
		}
		if name := textOf(key); val[0] == '[' {
			elems := walk(val)
			for elem, ok := elems.element(); ok; elem, ok = elems.element() {
				add(name, elem)
			}
		} else {
			add(name, val)
		}
	}
}

// escapeQuery escapes what would end a part of a query, or a word of the shell's.
// Letters of all languages stay readable.
func escapeQuery(dst []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			dst = append(dst, '+')
		case c < ' ' || c == 0x7f || bytes.IndexByte([]byte(`&=+%#"'<>\`), c) >= 0:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// StatusText is the status for a table: "200", "-" in process.
func (f *Facts) StatusText() string {
	if f.Status == 0 {
		return "-"
	}
	return strconv.Itoa(f.Status)
}
