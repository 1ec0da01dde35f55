package canon

import "bytes"

// A parser builds a tree.
type parser struct {
	src    []byte
	pos    int
	depth  int
	policy Policy

	// What is read of the values around, each taken whole when it ends.
	members []Member
	elems   []*Value
	places  []int // of the keys, for the error of a duplicate

	twice func(key string, at, first int) // told of duplicate keys; nil for nobody

	shared map[string]*Value // short texts and numbers; nil for a small document
	arena  *Arena            // nil where parts of the tree may outlive the rest

	later   func(key string) bool // of ParseLazy; nil: everything is read
	checked compactor             // of texts that are put off
	texts   []byte                // where they are kept
}

// Keys, types, names and bounds repeat in a large document; long texts do not.
const (
	largeDocument = 16 << 10
	sharedText    = 64
)

func newParser(src []byte, policy Policy) *parser {
	p := &parser{src: src, policy: policy}
	if len(src) >= largeDocument {
		p.shared = map[string]*Value{}
		if policy == Strict { // a document of this project's own, kept whole
			p.arena = &Arena{}
		}
	}
	return p
}

func (p *parser) space() { p.pos = skipSpace(p.src, p.pos) }

func (p *parser) found() string { return found(p.src, p.pos) }

func (p *parser) fail(format string, args ...any) error {
	return syntaxError(p.pos, format, args...)
}

func (p *parser) parse() (*Value, error) {
	if p.pos >= len(p.src) {
		return nil, p.fail("the text ends, want a value")
	}
	start := p.pos
	switch p.src[start] {
	case '{':
		return p.deeper(p.parseObject)
	case '[':
		return p.deeper(p.parseArray)
	case '"':
		return p.text()
	}
	end, err := scanScalar(p.src, start)
	if err != nil {
		return nil, err
	}
	p.pos = end
	switch p.src[start] {
	case 't':
		return trueValue, nil
	case 'f':
		return falseValue, nil
	case 'n':
		return nullValue, nil
	}
	return p.number(p.src[start:end]), nil
}

func (p *parser) number(lit []byte) *Value {
	if p.shared == nil || len(lit) > sharedText {
		return p.arena.Number(p.arena.Text(lit))
	}
	v := p.shared[string(lit)]
	if v == nil {
		v = p.arena.Number(p.arena.Text(lit))
		p.shared[v.text] = v
	}
	return v
}

// literal reads a string as it stands. shared tells whether it is worth a look-up.
func (p *parser) literal() (lit []byte, shared bool, err error) {
	end, _, err := scanString(p.src, p.pos)
	if err != nil {
		return nil, false, err
	}
	lit = p.src[p.pos:end]
	p.pos = end
	return lit, p.shared != nil && len(lit) <= sharedText, nil
}

// text reads a string and decodes it.
func (p *parser) text() (*Value, error) {
	lit, shared, err := p.literal()
	switch {
	case err != nil:
		return nil, err
	case shared:
		return p.share(lit), nil
	}
	return p.arena.String(p.unquote(lit)), nil
}

// unquote is [Unquote].
func (p *parser) unquote(lit []byte) string {
	if in := lit[1 : len(lit)-1]; bytes.IndexByte(in, '\\') < 0 {
		return p.arena.Text(in)
	}
	return Unquote(lit)
}

// key reads a string that needs no value of its own.
func (p *parser) key() (string, error) {
	lit, shared, err := p.literal()
	switch {
	case err != nil:
		return "", err
	case shared:
		return p.share(lit).text, nil
	}
	return p.unquote(lit), nil
}

func (p *parser) share(lit []byte) *Value {
	v := p.shared[string(lit)]
	if v == nil {
		v = p.arena.String(p.unquote(lit))
		p.shared[string(lit)] = v
	}
	return v
}

func (p *parser) deeper(read func() (*Value, error)) (*Value, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, tooDeep(p.pos)
	}
	p.pos++
	p.space()
	v, err := read()
	p.depth--
	return v, err
}

// ends takes b when it comes next.
func (p *parser) ends(b byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == b {
		p.pos++
		return true
	}
	return false
}

func (p *parser) parseArray() (*Value, error) {
	if p.ends(']') {
		return NewArray(), nil
	}
	first := len(p.elems)
	half := p.split()
	err := p.elements(half)
	half.wait()
	if err != nil {
		return nil, err
	}
	v := p.arena.Array(p.elems[first:])
	p.elems = p.elems[:first]
	return v, nil
}

// elements reads what is left of an array, of which half may be another's work.
func (p *parser) elements(half *secondHalf) error {
	for {
		if half.take(p) {
			return nil
		}
		e, err := p.parse()
		if err != nil {
			return err
		}
		p.elems = append(p.elems, e)
		p.space()
		switch {
		case p.ends(']'):
			return nil
		case !p.ends(','):
			return p.fail("%s in an array, want , or ]", p.found())
		}
		p.space()
	}
}

func (p *parser) parseObject() (*Value, error) {
	if p.ends('}') {
		return NewObject(), nil
	}
	first, firstPlace := len(p.members), len(p.places)
	for {
		if p.policy == Strict || p.twice != nil {
			p.places = append(p.places, p.pos)
		}
		m, err := p.member()
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, m)
		p.space()
		if p.ends('}') {
			break
		}
		if !p.ends(',') {
			return nil, p.fail("%s in an object, want , or }", p.found())
		}
		p.space()
	}
	count := len(p.members) - first
	v := p.arena.Object(p.members[first:])
	p.members = p.members[:first]
	switch {
	case len(v.members) == count:
	case p.policy == Strict:
		return nil, duplicateKey(p.src, p.places[firstPlace:])
	case p.twice != nil:
		p.tell(p.places[firstPlace:])
	}
	p.places = p.places[:firstPlace]
	return v, nil
}

func (p *parser) member() (Member, error) {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return Member{}, p.fail("%s in an object, want a key in double quotes", p.found())
	}
	key, err := p.key()
	if err != nil {
		return Member{}, err
	}
	p.space()
	if !p.ends(':') {
		return Member{}, p.fail("%s after a key, want :", p.found())
	}
	p.space()
	if p.later != nil && p.later(key) {
		if v, ok := p.putOff(); ok {
			return Member{key, v}, nil
		}
	}
	v, err := p.parse()
	return Member{key, v}, err
}

// tell tells of the keys that an object has again, given where its keys begin.
func (p *parser) tell(places []int) {
	first := make(map[string]int, len(places))
	for _, at := range places {
		k := parser{src: p.src, pos: at}
		key, _ := k.key() // read before
		if before, again := first[key]; again {
			p.twice(key, at, before)
			continue
		}
		first[key] = at
	}
}

// duplicateKey names the first key that an object has a second time, given
// where its keys begin.
func duplicateKey(src []byte, places []int) error {
	seen := make(map[string]bool, len(places))
	for _, at := range places {
		p := parser{src: src, pos: at}
		key, _ := p.key() // read before
		if seen[key] {
			return syntaxError(at, "the key %q stands twice in one object", key)
		}
		seen[key] = true
	}
	return nil
}
