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
	spoil bool
	memo  [memos]named
}

// What a view decodes once a line, since many conditions ask for it.
const (
	memoTool = iota
	memoOperation
	memoStatus
	memoCode
	memoKind
	memoMethod
	memoPath
	memoPrincipal
	memoTenant
	memos
)

// A named text is decoded once.
type named struct {
	text  string
	known bool
}

// set decodes a literal; the text of the line before saves an allocation.
func (n *named) set(got []byte) {
	again := len(got) == len(n.text)+2 && got[0] == '"' && string(got[1:len(got)-1]) == n.text && bytes.IndexByte(got, '\\') < 0
	if !again {
		n.text = textOf(got)
	}
	n.known = true
}

func (v *View) once(memo int, find func(v *View) []byte) string {
	n := &v.memo[memo]
	if !n.known {
		n.set(find(v))
	}
	return n.text
}

// Reset makes the view one of another line, which must not change meanwhile.
func (v *View) Reset(line []byte) {
	v.text = bytes.Trim(line, " \t\r")
	v.keys, v.vals = v.keys[:0], v.vals[:0]
	v.done, v.ended, v.spoil = len(v.text) == 0 || v.text[0] != '{', false, false
	v.w = walk(v.text)
	for i := range v.memo {
		v.memo[i].known = false
	}
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
func (v *View) Bad() bool { return v.spoil || v.done && !v.ended }

// Spoil notes that a value of the line is no JSON, for one who parses it: Bad
// says so until the next Reset.
func (v *View) Spoil() { v.spoil = true }

// At returns the value under a path of object keys, nil without one.
func (v *View) At(keys ...string) []byte {
	val := v.Get(keys[0])
	for _, k := range keys[1:] {
		val = lookup(val, k)
	}
	return val
}

// Pointer returns the value that a JSON Pointer names, nil without one.
func (v *View) Pointer(pointer string) []byte {
	if pointer == "" {
		return v.text
	}
	seg, rest, more := strings.Cut(pointer[1:], "/")
	val := v.Get(unescape(seg))
	for more && val != nil {
		seg, rest, more = strings.Cut(rest, "/")
		val = step1(val, unescape(seg))
	}
	return val
}

// unescape reads a segment of a JSON Pointer.
func unescape(seg string) string {
	if strings.IndexByte(seg, '~') < 0 {
		return seg
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(seg)
}

// step1 goes one segment into a value.
func step1(val []byte, seg string) []byte {
	if len(val) == 0 || val[0] != '[' {
		var buf [64]byte
		lit := canon.AppendString(buf[:0], seg)
		return lookup(val, string(lit[1:len(lit)-1]))
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
func (v *View) Tool() string {
	return v.once(memoTool, func(v *View) []byte { return v.Get("tool") })
}

// Operation is the operation's id, "" when none was found.
func (v *View) Operation() string {
	return v.once(memoOperation, func(v *View) []byte { return v.Get("operationId") })
}

// Status is the HTTP status as text, "" in process.
func (v *View) Status() string {
	n := &v.memo[memoStatus]
	if !n.known {
		if got := v.Get("status"); string(got) != n.text {
			n.text = string(got)
		}
		n.known = true
	}
	return n.text
}

// Code is the error code of the result, "" of a success.
func (v *View) Code() string {
	return v.once(memoCode, func(v *View) []byte { return v.At("result", "error", "code") })
}

// Kind is what the provider was asked for: "list", "read", "mutation"; "" when
// it was not asked.
func (v *View) Kind() string {
	return v.once(memoKind, func(v *View) []byte { return v.At("normalized", "kind") })
}

// Method and Path are what was asked over HTTP, "" in process.
func (v *View) Method() string {
	return v.once(memoMethod, func(v *View) []byte { return v.At("request", "method") })
}

// Path is the path that was asked, "" in process.
func (v *View) Path() string {
	return v.once(memoPath, func(v *View) []byte { return v.At("request", "path") })
}

// Principal is who called: as the provider was told, else as the request says.
func (v *View) Principal() string {
	return v.once(memoPrincipal, func(v *View) []byte { return v.who("principal", "id", "x-anvil-principal") })
}

// Tenant is for whom the call was made, found like Principal.
func (v *View) Tenant() string {
	return v.once(memoTenant, func(v *View) []byte { return v.who("tenantId", "", "x-anvil-tenant") })
}

func (v *View) who(key, id, header string) []byte {
	val := v.At("normalized", key)
	if id != "" {
		val = lookup(val, id)
	}
	if val == nil {
		val = v.At("request", "headers", header)
	}
	if val == nil {
		if val = v.At("request", "context", key); id != "" && lookup(val, id) != nil {
			val = lookup(val, id)
		}
	}
	return val
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
