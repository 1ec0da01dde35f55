package canon

import "strings"

// An Arena makes the values of one large document. It takes their memory in
// blocks, which costs a fraction of an allocation each; a block is free again
// when nothing in it is in use. The zero value is ready; a nil Arena allocates
// each value by itself, which suits documents of which only a part is kept.
// It must not be used by several goroutines at once.
type Arena struct {
	values  []Value
	members []Member
	elems   []*Value
	text    strings.Builder
}

// What one block holds: about four kilobytes, so that a block has its neighbours
// in the document beside it. What needs more than a quarter of a block gets its
// own memory.
const (
	blockValues  = 51
	blockMembers = 170
	blockElems   = 512
	blockText    = 4 << 10
)

func (a *Arena) value(v Value) *Value {
	if a == nil {
		return &v
	}
	if len(a.values) == 0 {
		a.values = make([]Value, blockValues)
	}
	made := &a.values[0]
	a.values = a.values[1:]
	*made = v
	return made
}

// take is room for n elements, from the block when it has so much left.
func take[T any](block *[]T, n, size int) []T {
	if n > size/4 {
		return make([]T, n)
	}
	if n > len(*block) {
		*block = make([]T, size)
	}
	out := (*block)[:n:n]
	*block = (*block)[n:]
	return out
}

// Text is the string of these bytes.
func (a *Arena) Text(b []byte) string {
	if a == nil || len(b) > blockText/4 {
		return string(b)
	}
	if a.text.Cap()-a.text.Len() < len(b) {
		a.text.Reset()
		a.text.Grow(blockText)
	}
	start := a.text.Len()
	a.text.Write(b)
	return a.text.String()[start:]
}

// String is [NewString].
func (a *Arena) String(s string) *Value { return a.value(Value{kind: String, text: s}) }

// Number is [NewNumber].
func (a *Arena) Number(text string) *Value { return a.value(Value{kind: Number, text: text}) }

// Array is [NewArray] of a copy of elems.
func (a *Arena) Array(elems []*Value) *Value {
	var own []*Value
	if a == nil {
		own = make([]*Value, len(elems))
	} else {
		own = take(&a.elems, len(elems), blockElems)
	}
	copy(own, elems)
	return a.value(Value{kind: Array, elems: own})
}

// Object is [NewObject] of a copy of members.
func (a *Arena) Object(members []Member) *Value {
	var own []Member
	if a == nil {
		own = make([]Member, len(members))
	} else {
		own = take(&a.members, len(members), blockMembers)
	}
	copy(own, members)
	v := a.value(Value{})
	v.object(own)
	return v
}
