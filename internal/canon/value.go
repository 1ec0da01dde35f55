package canon

import (
	"math"
	"slices"
	"strconv"
	"sync/atomic"
)

// Kind is what a [Value] is.
type Kind uint8

// The kinds of a value. Absent is the kind of a nil *Value.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}

// String names the kind for an error: "an array".
func (k Kind) String() string { return kindNames[k] }

// A Value is one immutable JSON value. Object members keep their order, numbers
// their text. The nil *Value is an absent value: every method answers for it.
// Values may be shared between trees and read by several goroutines.
type Value struct {
	kind    Kind
	text    string // String: WTF-8 text; Number: its text; Bool: "true" or "false"
	elems   []*Value
	members []Member
	more    *more // nil for most values
}

// more is what few values have beside their kind and content.
type more struct {
	index map[string]int // of members, when there are many

	// Of a value that [ParseLazy] put off: its text, and what is read of it.
	text []byte
	tree atomic.Pointer[Value]
}

// A Member is one key of an object with its value.
type Member struct {
	Key   string
	Value *Value
}

var (
	nullValue  = &Value{kind: Null}
	trueValue  = &Value{kind: Bool, text: "true"}
	falseValue = &Value{kind: Bool, text: "false"}
)

// NewNull returns null.
func NewNull() *Value { return nullValue }

// NewBool returns a boolean.
func NewBool(b bool) *Value {
	if b {
		return trueValue
	}
	return falseValue
}

// NewString returns a string.
func NewString(s string) *Value { return &Value{kind: String, text: s} }

// NewNumber returns a number spelled as text, which must be a JSON number.
func NewNumber(text string) *Value { return &Value{kind: Number, text: text} }

// NewInt returns an integer.
func NewInt(n int64) *Value { return &Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// NewFloat returns f in ECMAScript's spelling; not-a-number and infinities are null.
func NewFloat(f float64) *Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nullValue
	}
	return &Value{kind: Number, text: string(AppendFloat(nil, f))}
}

// NewArray returns an array of elems, which it keeps.
func NewArray(elems ...*Value) *Value { return &Value{kind: Array, elems: elems} }

// manyMembers is where looking a key up goes from a list to a map. An operation
// of a contract has fewer: making the map would cost more than all the look-ups.
const manyMembers = 32

// NewObject returns an object with the members, which it keeps. A repeated key
// keeps its first place and its last value; a member whose value is nil is left
// out.
func NewObject(members ...Member) *Value {
	v := &Value{}
	v.object(members)
	return v
}

// object makes a fresh value an object with the members, which it keeps.
func (v *Value) object(members []Member) {
	v.kind, v.members = Object, members[:0]
	if len(members) >= manyMembers {
		v.more = &more{index: make(map[string]int, len(members))}
	}
	for _, m := range members {
		if m.Value == nil {
			continue
		}
		if i := v.find(m.Key); i >= 0 {
			v.members[i].Value = m.Value
			continue
		}
		if v.more != nil {
			v.more.index[m.Key] = len(v.members)
		}
		v.members = append(v.members, m)
	}
}

func (v *Value) find(key string) int {
	if v.more != nil {
		if i, ok := v.more.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range v.members {
		if v.members[i].Key == key {
			return i
		}
	}
	return -1
}

// MapMembers applies f to each value of an object, which it returns when f
// changed none; anything else it returns as it is.
func MapMembers(v *Value, f func(key string, m *Value) *Value) *Value {
	members := make([]Member, len(v.Members()))
	same := true
	for i, m := range v.Members() {
		members[i] = Member{Key: m.Key, Value: f(m.Key, m.Value)}
		same = same && members[i].Value == m.Value
	}
	if same {
		return v
	}
	return NewObject(members...)
}

// Kind tells what the value is; Absent for nil.
func (v *Value) Kind() Kind {
	if v == nil {
		return Absent
	}
	return v.kind
}

// Is reports whether the value is of kind k.
func (v *Value) Is(k Kind) bool { return v.Kind() == k }

// Text is the text of a string (WTF-8) or a number, "" for other kinds.
func (v *Value) Text() string {
	if v == nil || v.kind != String && v.kind != Number {
		return ""
	}
	return v.text
}

// True reports whether the value is true.
func (v *Value) True() bool { return v != nil && v.kind == Bool && v.text == "true" }

// Float is a number as a double (infinite beyond its range), 0 for other kinds.
func (v *Value) Float() float64 {
	if v == nil || v.kind != Number {
		return 0
	}
	f, _ := strconv.ParseFloat(v.text, 64)
	return f
}

// Elems are the elements of an array, which must not be changed.
func (v *Value) Elems() []*Value {
	if v == nil {
		return nil
	}
	return v.opened().elems
}

// Members are the members of an object in order, which must not be changed.
func (v *Value) Members() []Member {
	if v == nil {
		return nil
	}
	return v.opened().members
}

// Get is the value of a key of an object, nil when it has none or is no object.
func (v *Value) Get(key string) *Value {
	if v == nil || v.kind != Object {
		return nil
	}
	v = v.opened()
	if i := v.find(key); i >= 0 {
		return v.members[i].Value
	}
	return nil
}

// With returns the object with key set to val: in its place when it is there,
// else at the end. A nil val removes the key.
func (v *Value) With(key string, val *Value) *Value {
	return NewObject(append(slices.Clone(v.Members()), Member{key, val})...).without(key, val == nil)
}

func (v *Value) without(key string, drop bool) *Value {
	if !drop || v.Get(key) == nil {
		return v
	}
	return NewObject(slices.DeleteFunc(slices.Clone(v.Members()), func(m Member) bool { return m.Key == key })...)
}

// WithoutPath returns the object without the value at a path of keys, one at least;
// the object itself when nothing stands there.
func (v *Value) WithoutPath(path []string) *Value {
	inner := v.Get(path[0])
	switch {
	case inner == nil:
		return v
	case len(path) == 1:
		return v.With(path[0], nil)
	}
	return v.With(path[0], inner.WithoutPath(path[1:]))
}

// AppendJSON appends the canonical spelling of the value; null for nil.
func (v *Value) AppendJSON(dst []byte) []byte {
	if v.putOff() {
		return append(dst, v.more.text...)
	}
	switch v.Kind() {
	case Absent, Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, v.text...)
	case String:
		return AppendString(dst, v.text)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range v.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, m.Key)
		dst = append(dst, ':')
		dst = m.Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// String is the canonical spelling, for errors and tests.
func (v *Value) String() string { return string(v.AppendJSON(nil)) }

// MarshalJSON implements json.Marshaler.
func (v *Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// Parse reads exactly one JSON value as a tree. The error is a *SyntaxError.
func Parse(src []byte, policy Policy) (*Value, error) { return newParser(src, policy).document() }

// ParseTelling is Parse by [Lenient], and tells of each key that its object had
// before: where in src both begin. Inner objects are told of before outer ones.
func ParseTelling(src []byte, twice func(key string, at, first int)) (*Value, error) {
	p := newParser(src, Lenient)
	p.twice = twice
	return p.document()
}

// document reads the one value that the text is.
func (p *parser) document() (*Value, error) {
	p.space()
	v, err := p.parse()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.fail("%s after the value, want the end of the text", p.found())
	}
	return v, nil
}
