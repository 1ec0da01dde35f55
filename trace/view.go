package trace

import (
	"bytes"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A View reads the values of one entry in place, as far into the line as asked.
// It is for filters and rules, which look at few values of many lines.
type View struct {
	text  []byte
	w     walker
	done  bool
	keys  [][]byte // quotes included
	vals  [][]byte
	ended bool // the object is read to its end
	tool  named
	op    named
}

// A named text is decoded once: many conditions ask for it.
type named struct {
	text  string
	known bool
}

func (n *named) of(v *View, key string) string {
	if !n.known {
		got := v.Get(key)
		again := len(got) == len(n.text)+2 && got[0] == '"' && string(got[1:len(got)-1]) == n.text && bytes.IndexByte(got, '\\') < 0
		if !again { // the text of the line before saves an allocation
			n.text = textOf(got)
		}
		n.known = true
	}
	return n.text
}

// Reset makes the view one of another line, which must not change meanwhile.
func (v *View) Reset(line []byte) {
	v.text = bytes.Trim(line, " \t\r")
	v.keys, v.vals = v.keys[:0], v.vals[:0]
	v.done, v.ended = len(v.text) == 0 || v.text[0] != '{', false
	v.w = walk(v.text)
	v.tool.known, v.op.known = false, false
}

// Text is the whole entry.
func (v *View) Text() []byte { return v.text }

// Get returns the value of a key of the entry as it stands, nil without one.
func (v *View) Get(key string) []byte {
	for i, k := range v.keys {
		if string(k[1:len(k)-1]) == key {
			return v.vals[i]
		}
	}
	for !v.done {
		k, val, ok := v.w.member()
		if !ok {
			v.done, v.ended = true, !v.w.bad
			return nil
		}
		v.keys, v.vals = append(v.keys, k), append(v.vals, val)
		if string(k[1:len(k)-1]) == key {
			return val
		}
	}
	return nil
}

// Bad reports whether the line turned out to be no JSON object where it was read.
func (v *View) Bad() bool { return v.done && !v.ended }

// At returns the value under a path of object keys, nil without one.
func (v *View) At(keys ...string) []byte {
	val := v.Get(keys[0])
	for _, k := range keys[1:] {
		val = lookup(val, `"`+k+`"`)
	}
	return val
}

// Pointer returns the value that a JSON Pointer names, nil without one.
func (v *View) Pointer(pointer string) []byte {
	if pointer == "" {
		return v.text
	}
	var val []byte
	for i, seg := range strings.Split(pointer[1:], "/") {
		seg = strings.NewReplacer("~1", "/", "~0", "~").Replace(seg)
		if i == 0 {
			val = v.Get(seg)
		} else {
			val = step1(val, seg)
		}
		if val == nil {
			return nil
		}
	}
	return val
}

// step1 goes one segment into a value.
func step1(val []byte, seg string) []byte {
	if len(val) == 0 || val[0] != '[' {
		return lookup(val, string(canon.AppendString(nil, seg)))
	}
	n, size := parseSeq([]byte(seg))
	if size != len(seg) || size == 0 || size > 1 && seg[0] == '0' {
		return nil
	}
	w := walk(val)
	for ; ; n-- {
		e, ok := w.element()
		if !ok {
			return nil
		}
		if n == 0 {
			return e
		}
	}
}

// Tool is the tool, "" when no operation was found.
func (v *View) Tool() string { return v.tool.of(v, "tool") }

// Operation is the operation's id, "" when none was found.
func (v *View) Operation() string { return v.op.of(v, "operationId") }

// Status is the HTTP status as text, "" in process.
func (v *View) Status() string { return string(v.Get("status")) }

// Code is the error code of the result, "" of a success.
func (v *View) Code() string { return textOf(v.At("result", "error", "code")) }

// Kind is what the provider was asked for: "list", "read", "mutation"; "" when
// it was not asked.
func (v *View) Kind() string { return textOf(v.At("normalized", "kind")) }

// Method and Path are what was asked over HTTP, "" in process.
func (v *View) Method() string { return textOf(v.At("request", "method")) }

// Path is the path that was asked, "" in process.
func (v *View) Path() string { return textOf(v.At("request", "path")) }

// Principal is who called: as the provider was told, else as the request says.
func (v *View) Principal() string { return v.who("principal", "id", "x-anvil-principal") }

// Tenant is for whom the call was made, found like Principal.
func (v *View) Tenant() string { return v.who("tenantId", "", "x-anvil-tenant") }

func (v *View) who(key, id, header string) string {
	val := v.At("normalized", key)
	if id != "" {
		val = lookup(val, `"`+id+`"`)
	}
	if val == nil {
		val = v.At("request", "headers", header)
	}
	if val == nil {
		if val = v.At("request", "context", key); id != "" && lookup(val, `"`+id+`"`) != nil {
			val = lookup(val, `"`+id+`"`)
		}
	}
	return textOf(val)
}

// Describe names the call for a report: "call 3: tickets_get, GET /tickets/T-1".
func (v *View) Describe() string {
	tool := v.Tool()
	if tool == "" {
		tool = "no operation"
	}
	text := "call " + string(v.Get("seq")) + ": " + tool
	if m := v.Method(); m != "" {
		text += ", " + m + " " + v.Path()
	}
	if s := v.Status(); s != "" {
		text += " -> " + s
	}
	if c := v.Code(); c != "" {
		text += " " + c
	}
	return clean(text)
}

// Write reports whether the call changes something: its kind is a mutation, or
// it was refused before it had one and its method is none that reads.
func (v *View) Write() bool {
	if k := v.Kind(); k != "" {
		return k == "mutation"
	}
	m := v.Method()
	return m != "" && m != "GET" && m != "HEAD" && m != "OPTIONS"
}
