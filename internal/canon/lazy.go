package canon

// ParseLazy is [Parse] of a document of which parts are seldom looked at: the
// arrays and objects under keys for which later is true. Their text is checked
// as Parse checks it, so the errors are the same, and kept; the tree of it is made
// when it is first asked for, level by level. Nobody can tell but by the time and
// the memory that it takes. What is returned keeps nothing of src.
func ParseLazy(src []byte, policy Policy, later func(key string) bool) (*Value, error) {
	p := newParser(src, policy)
	if p.shared != nil {
		p.later = later
	}
	return p.document()
}

// Shorter texts are read at once: a value that is put off takes some memory too.
// Those of a few bytes ({"type":"string"}) repeat, and are shared.
const (
	shortText = 512
	lazyBlock = 64 << 10
)

// putOff checks the array or object that comes next and keeps its text; ok is
// false when it is to be read in the ordinary way, as far as for its error.
func (p *parser) putOff() (v *Value, ok bool) {
	if p.pos >= len(p.src) || p.src[p.pos] != '{' && p.src[p.pos] != '[' {
		return nil, false
	}
	if cap(p.texts) < shortText {
		p.texts = make([]byte, 0, lazyBlock)
	}
	c := &p.checked
	*c = compactor{src: p.src, dst: p.texts, done: p.pos, depth: p.depth, keys: c.keys[:0], sets: c.sets}
	end := c.value(p.pos)
	if end < 0 || c.dup {
		return nil, false
	}
	c.flush(end)
	text := c.dst[:len(c.dst):len(c.dst)]
	if len(text) >= shortText {
		v = p.arena.lazy(text)
		p.texts = c.dst[len(c.dst):] // the rest of the block, or of what it grew to
	} else if v = p.shared[string(text)]; v == nil {
		inner := parser{src: text, policy: p.policy, shared: p.shared, arena: p.arena}
		var err error
		if v, err = inner.parse(); err != nil {
			return nil, false
		}
		p.shared[string(text)] = v
	}
	p.pos = end
	return v, true
}

// lazy makes a value of canonical text that begins with a brace or bracket.
func (a *Arena) lazy(text []byte) *Value {
	kind := Object
	if text[0] == '[' {
		kind = Array
	}
	return a.value(Value{kind: kind, more: &more{text: text}})
}

// putOff reports whether the value's tree is not made yet.
func (v *Value) putOff() bool {
	return v != nil && v.more != nil && v.more.text != nil && v.more.tree.Load() == nil
}

// opened is the value with its members or elements; those may be put off in turn.
func (v *Value) opened() *Value {
	if v.more == nil || v.more.text == nil {
		return v
	}
	if v.more.tree.Load() == nil { // the first one counts: places in it may be told apart
		v.more.tree.CompareAndSwap(nil, v.level())
	}
	return v.more.tree.Load()
}

// level reads the text of a value that is put off, but not the longer ones in it.
func (v *Value) level() *Value {
	read := func(text []byte) *Value {
		if (text[0] == '{' || text[0] == '[') && len(text) >= shortText {
			return (*Arena)(nil).lazy(text)
		}
		return valid(text)
	}
	if v.kind == Array {
		var elems []*Value
		Elements(v.more.text, func(val []byte) bool {
			elems = append(elems, read(val))
			return true
		})
		return NewArray(elems...)
	}
	var members []Member
	Members(v.more.text, func(key, val []byte) bool {
		members = append(members, Member{Unquote(key), read(val)})
		return true
	})
	return NewObject(members...)
}

// whole is the value for those who walk it once to its end: what is put off is
// read for them and not kept.
func (v *Value) whole() *Value {
	switch {
	case v.putOff():
		return valid(v.more.text)
	case v != nil && v.kind >= Array:
		return v.opened()
	}
	return v
}

// valid is the tree of text that was checked before.
func valid(text []byte) *Value {
	v, err := Parse(text, Lenient)
	if err != nil {
		panic("canon: text that was checked cannot be read: " + err.Error())
	}
	return v
}
