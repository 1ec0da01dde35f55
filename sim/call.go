package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// An Input is what a call was given, by agent key, in the order it was read.
// Values are JSON in canonical spelling.
type Input []Arg

// An Arg is one value of an [Input].
type Arg struct {
	Key   string
	Value Raw
}

// Set gives key a value: in its place when it is there, else at the end. Inputs
// whose keys collide share a value, and the last one read wins.
func (in *Input) Set(key string, val Raw) {
	for i := range *in {
		if (*in)[i].Key == key {
			(*in)[i].Value = val
			return
		}
	}
	*in = append(*in, Arg{key, val})
}

// Get is the value of a key, nil when the input has none.
func (in Input) Get(key string) Raw {
	for i := range in {
		if in[i].Key == key {
			return in[i].Value
		}
	}
	return nil
}

// present reports whether a value is there and not null.
func present(val Raw) bool { return val != nil && !isNull(val) }

func isNull(val Raw) bool { return len(val) == 4 && val[0] == 'n' }

// AppendJSON appends the input as a JSON object.
func (in Input) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i, a := range in {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, a.Key), ':')
		dst = append(dst, a.Value...)
	}
	return append(dst, '}')
}

// A Call is one call on its way through the gates.
type Call struct {
	Seq            int // from Simulator.Next
	Op             *Operation
	Unknown        string // when Op is nil: what was asked for, for the message
	Input          Input
	Principal      string // "": the default principal
	TenantID       string // "": none
	IdempotencyKey string // "": none
	Fault          string
	Cursor         *string // as the caller passed it back
	PageSize       int     // as the caller asked; 0: not at all

	// Undecodable says why the request could not be read: it is refused once it
	// is known that the caller may call.
	Undecodable *Refusal

	confirm bool // the confirmation gate applies and was not passed
}

// A Refusal is a request that could not be read.
type Refusal struct {
	Status  int
	Message string
}

func encodeInput(input any) (Input, error) {
	raw, ok := input.(json.RawMessage)
	if !ok && input != nil {
		var err error
		if raw, err = json.Marshal(input); err != nil {
			return nil, err
		}
	}
	if len(raw) == 0 {
		return nil, nil
	}
	text, err := canon.AppendCompact(nil, raw, canon.Lenient)
	if err != nil {
		return nil, err
	}
	switch {
	case isNull(text):
		return nil, nil
	case text[0] != '{':
		return nil, fmt.Errorf("found %.40s, want a JSON object with the tool's inputs", text)
	}
	var in Input
	canon.Members(text, func(key, val []byte) bool {
		in = append(in, Arg{canon.Unquote(key), val})
		return true
	})
	return in, nil
}

// inProcess reads from an agent-keyed input what HTTP reads from the wire.
func (s *Simulator) inProcess(tool string, in Input, cc CallContext) *Call {
	c := &Call{
		Seq: s.Next(), Op: s.byTool[tool], Unknown: tool, Input: in,
		Principal: cc.Principal, TenantID: cc.TenantID, IdempotencyKey: cc.IdempotencyKey, Fault: cc.Fault,
	}
	if c.Op == nil {
		return c
	}
	if c.IdempotencyKey == "" {
		c.IdempotencyKey = unquoted(in.Get("idempotency_key"))
	}
	if c.IdempotencyKey == "" && c.Op.Carrier != nil {
		c.IdempotencyKey = c.Op.carried(in)
	}
	c.confirm = c.Op.ConfirmationRequired && !cc.Confirmed && string(in.Get("confirm")) != "true"
	c.Input = withoutControls(in, c.Op)
	if p := c.Op.Pagination; p != nil {
		c.Cursor = CursorText(in.Get(c.Op.keyOf(p.CursorParam)))
		c.PageSize = PageSizeOf(in.Get(c.Op.keyOf(p.PageSizeParam)))
	}
	return c
}

// withoutControls leaves out the two inputs that tools add for the gates, when
// the operation has no input of that name itself.
func withoutControls(in Input, op *Operation) Input {
	out := make(Input, 0, len(in))
	for _, a := range in {
		if (a.Key == "idempotency_key" || a.Key == "confirm") && !op.declares(a.Key) {
			continue
		}
		out = append(out, a)
	}
	return out
}

func (o *Operation) declares(key string) bool {
	for _, p := range o.Params {
		if p.Key == key {
			return true
		}
	}
	if o.Body != nil {
		for _, f := range o.Body.Fields {
			if f.Key == key {
				return true
			}
		}
	}
	return false
}

// keyOf is the agent key of a parameter or body field by wire name, the name
// itself when nothing declares it.
func (o *Operation) keyOf(wire string) string {
	if wire == "" {
		return ""
	}
	for _, p := range o.Params {
		if p.Name == wire {
			return p.Key
		}
	}
	if o.Body != nil {
		for _, f := range o.Body.Fields {
			if f.Name == wire {
				return f.Key
			}
		}
	}
	return wire
}

// carried is the idempotency key that the input itself holds, in process.
func (o *Operation) carried(in Input) string {
	if len(o.Carrier.Pointer) > 0 {
		if o.Body != nil && o.Body.Whole {
			return KeyText(PointerLookup(in.Get("body"), o.Carrier.Pointer))
		}
		return KeyText(PointerLookup(in.Get(o.keyOf(o.Carrier.Pointer[0])), o.Carrier.Pointer[1:]))
	}
	return KeyText(in.Get(o.keyOf(o.Carrier.Name)))
}

// PointerLookup walks canonical JSON by decoded JSON Pointer tokens; nil when
// there is nothing at the end.
func PointerLookup(val Raw, tokens []string) Raw {
	for _, t := range tokens {
		if len(val) == 0 {
			return nil
		}
		if val[0] == '[' {
			val = element(val, t)
			continue
		}
		next, _ := canon.Lookup(val, t)
		val = next
	}
	return val
}

func element(arr Raw, token string) (val Raw) {
	n, err := strconv.Atoi(token)
	if err != nil || n < 0 || strconv.Itoa(n) != token {
		return nil
	}
	canon.Elements(arr, func(e []byte) bool {
		if n == 0 {
			val = e
		}
		n--
		return n >= 0
	})
	return val
}

// KeyText is an idempotency key read from a JSON value: a string, or a number
// as written; "" for anything else.
func KeyText(val Raw) string {
	if isNumber(val) {
		return string(val)
	}
	return unquoted(val)
}

func unquoted(val Raw) string {
	if len(val) < 2 || val[0] != '"' {
		return ""
	}
	return canon.Unquote(val)
}

// CursorText is a cursor read from a JSON value: a string as it is, another
// value as its text, nil when absent or null.
func CursorText(val Raw) *string {
	if !present(val) {
		return nil
	}
	text := string(val)
	if val[0] == '"' {
		text = canon.Unquote(val)
	}
	return &text
}

// PageSizeOf is a page size read from a JSON value: a positive integer, as a
// number or as a numeric string; 0 for anything else.
func PageSizeOf(val Raw) int {
	if !present(val) {
		return 0
	}
	if val[0] == '"' {
		return PageSizeText(canon.Unquote(val))
	}
	return PageSizeText(string(val))
}

// PageSizeText is a page size read from text by the rule of [NumberText].
func PageSizeText(text string) int {
	num, ok := NumberText(text)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || f < 1 || f != float64(int64(f)) || f > 1<<31-1 {
		return 0
	}
	return int(f)
}

func upper(s string) string { return strings.ToUpper(s) }
func lower(s string) string { return strings.ToLower(s) }

func appendInProcessRequest(dst []byte, op *Operation, in Input, cc CallContext) Raw {
	dst = append(dst, `{"input":`...)
	dst = op.hidden(in).AppendJSON(dst)
	dst = append(dst, `,"context":{`...)
	start := len(dst)
	for _, m := range []struct{ name, val string }{
		{"principal", cc.Principal}, {"tenantId", cc.TenantID},
		{"idempotencyKey", cc.IdempotencyKey}, {"fault", cc.Fault},
	} {
		if m.val == "" {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, m.name), ':')
		dst = canon.AppendString(dst, m.val)
	}
	if cc.Confirmed {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, `"confirmed":true`...)
	}
	return append(dst, "}}"...)
}
