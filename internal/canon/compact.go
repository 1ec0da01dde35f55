package canon

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"
)

// Policy says what a duplicate key is.
type Policy uint8

const (
	// Lenient keeps the first place and the last value of a duplicate key: the
	// rule for what clients, providers and tapes say.
	Lenient Policy = iota
	// Strict makes a duplicate key an error: the rule for this project's files.
	Strict
)

// A SyntaxError says where JSON text stops being JSON.
type SyntaxError struct {
	Offset int    // bytes from the start of the text
	Msg    string // what was found, what is accepted
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Msg)
}

// LineColumn gives the 1-based line and column (in bytes) of an offset in text.
func LineColumn(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	return bytes.Count(before, []byte{'\n'}) + 1, len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
}

// compactor checks src and writes its canonical spelling in one pass.
type compactor struct {
	src   []byte
	pos   int
	dst   []byte
	depth int
	keys  []span // keys of the objects being read, in dst or in seen

	dup bool
}

type span struct{ from, to int }

var compactors = sync.Pool{New: func() any { return new(compactor) }}

// AppendCompact checks that src is exactly one JSON value, white space around
// it allowed, and appends its canonical spelling to dst. The error is a
// *SyntaxError; dst is then returned as it was.
func AppendCompact(dst, src []byte, policy Policy) ([]byte, error) {
	c := compactors.Get().(*compactor)
	defer func() {
		*c = compactor{keys: c.keys[:0]}
		compactors.Put(c)
	}()
	c.src, c.dst = src, dst
	err := c.document(policy)
	switch {
	case err == nil && c.dup:
		v, err := Parse(src, policy)
		if err != nil {
			return dst, err
		}
		return v.AppendJSON(dst), nil
	case err != nil:
		return dst, err
	}
	return c.dst, nil
}

// Valid reports whether src is exactly one JSON value under the lenient policy.
func Valid(src []byte) bool {
	_, err := AppendCompact(nil, src, Lenient)
	return err == nil
}

func (c *compactor) document(policy Policy) error {
	c.space()
	if err := c.value(); err != nil {
		return err
	}
	if c.dup && policy == Strict {
		return nil // Parse names the place
	}
	c.space()
	if c.pos < len(c.src) {
		return c.fail("%s after the value, want the end of the text", c.found())
	}
	return nil
}

func (c *compactor) fail(format string, args ...any) error {
	return &SyntaxError{Offset: c.pos, Msg: fmt.Sprintf(format, args...)}
}

// found names the thing at the current position for an error.
func (c *compactor) found() string {
	if c.pos >= len(c.src) {
		return "the text ends"
	}
	r, size := utf8.DecodeRune(c.src[c.pos:])
	switch {
	case c.pos == 0 && bytes.HasPrefix(c.src, []byte("\xEF\xBB\xBF")):
		return "a byte order mark"
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("byte 0x%02x", c.src[c.pos])
	}
	return fmt.Sprintf("%q", r)
}

func (c *compactor) space() {
	for c.pos < len(c.src) {
		switch c.src[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *compactor) value() error {
	if c.pos >= len(c.src) {
		return c.fail("the text ends, want a value")
	}
	switch b := c.src[c.pos]; b {
	case '{':
		return c.nested(c.object)
	case '[':
		return c.nested(c.array)
	case '"':
		return c.str()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		if b == '-' || b >= '0' && b <= '9' {
			return c.number()
		}
		return c.fail("%s, want a value", c.found())
	}
}

func (c *compactor) nested(read func() error) error {
	if c.depth++; c.depth > MaxDepth {
		return c.fail("nested deeper than %d", MaxDepth)
	}
	c.dst = append(c.dst, c.src[c.pos])
	c.pos++
	c.space()
	err := read()
	c.depth--
	return err
}

func (c *compactor) word(w string) error {
	for i := range len(w) {
		if c.pos+i >= len(c.src) || c.src[c.pos+i] != w[i] {
			return c.fail("%s, want a value (did you mean %s?)", c.found(), w)
		}
	}
	c.pos += len(w)
	c.dst = append(c.dst, w...)
	return nil
}

func (c *compactor) array() error {
	if c.pos < len(c.src) && c.src[c.pos] == ']' {
		c.take()
		return nil
	}
	for {
		if err := c.value(); err != nil {
			return err
		}
		c.space()
		switch {
		case c.pos < len(c.src) && c.src[c.pos] == ',':
			c.take()
			c.space()
		case c.pos < len(c.src) && c.src[c.pos] == ']':
			c.take()
			return nil
		default:
			return c.fail("%s in an array, want , or ]", c.found())
		}
	}
}

func (c *compactor) take() {
	c.dst = append(c.dst, c.src[c.pos])
	c.pos++
}

func (c *compactor) object() error {
	if c.pos < len(c.src) && c.src[c.pos] == '}' {
		c.take()
		return nil
	}
	base := len(c.keys)
	defer func() { c.keys = c.keys[:base] }()
	var seen map[string]struct{}
	for {
		if err := c.key(base, &seen); err != nil {
			return err
		}
		if err := c.value(); err != nil {
			return err
		}
		c.space()
		switch {
		case c.pos < len(c.src) && c.src[c.pos] == ',':
			c.take()
			c.space()
		case c.pos < len(c.src) && c.src[c.pos] == '}':
			c.take()
			return nil
		default:
			return c.fail("%s in an object, want , or }", c.found())
		}
	}
}

// manyKeys is where looking for a duplicate goes from a list to a map.
const manyKeys = 24

func (c *compactor) key(base int, seen *map[string]struct{}) error {
	if c.pos >= len(c.src) || c.src[c.pos] != '"' {
		return c.fail("%s in an object, want a key in double quotes", c.found())
	}
	from := len(c.dst)
	if err := c.str(); err != nil {
		return err
	}
	c.note(span{from, len(c.dst)}, base, seen)
	c.space()
	if c.pos >= len(c.src) || c.src[c.pos] != ':' {
		return c.fail("%s after a key, want :", c.found())
	}
	c.take()
	c.space()
	return nil
}

// note remembers a key and sets dup when the object has it already. Keys are
// compared in their canonical spelling, which is one a string.
func (c *compactor) note(k span, base int, seen *map[string]struct{}) {
	text := c.dst[k.from:k.to]
	if *seen != nil {
		if _, ok := (*seen)[string(text)]; ok {
			c.dup = true
		}
		(*seen)[string(text)] = struct{}{}
		return
	}
	for _, o := range c.keys[base:] {
		if o.to-o.from == k.to-k.from && bytes.Equal(c.dst[o.from:o.to], text) {
			c.dup = true
		}
	}
	c.keys = append(c.keys, k)
	if len(c.keys)-base < manyKeys {
		return
	}
	*seen = make(map[string]struct{}, 2*manyKeys)
	for _, o := range c.keys[base:] {
		(*seen)[string(c.dst[o.from:o.to])] = struct{}{}
	}
}

// plain marks the bytes that stand in a JSON string as they are and are whole
// characters.
var plain = func() (t [256]bool) {
	for i := 0x20; i < 0x80; i++ {
		t[i] = true
	}
	t['"'], t['\\'] = false, false
	return t
}()

// str copies a string. Runs of plain bytes and valid UTF-8 are copied whole;
// an escape is decoded and spelled again only when its spelling differs.
func (c *compactor) str() error {
	start := c.pos
	i := start + 1
	for i < len(c.src) {
		b := c.src[i]
		switch {
		case plain[b]:
			i++
		case b == '"':
			c.dst = append(c.dst, c.src[start:i+1]...)
			c.pos = i + 1
			return nil
		case b >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(c.src[i:])
			if r == utf8.RuneError && size == 1 {
				c.pos = i
				return c.fail("byte 0x%02x in a string is not UTF-8", b)
			}
			i += size
		case b == '\\':
			return c.escaped(start, i)
		default:
			c.pos = i
			return c.fail("control character 0x%02x in a string, want it escaped (\\u%04x)", b, b)
		}
	}
	c.pos = len(c.src)
	return c.fail("the text ends inside a string that began at byte %d", start)
}

// escaped reads on from the first backslash of the string that began at start:
// it checks the rest, then decodes and spells the whole string again.
func (c *compactor) escaped(start, i int) error {
	for i < len(c.src) {
		b := c.src[i]
		switch {
		case b == '"':
			raw := appendUnquoted(nil, c.src[start+1:i])
			c.dst = AppendString(c.dst, raw)
			c.pos = i + 1
			return nil
		case b == '\\':
			n, err := c.escapeLen(i)
			if err != nil {
				return err
			}
			i += n
		case b < 0x20:
			c.pos = i
			return c.fail("control character 0x%02x in a string, want it escaped (\\u%04x)", b, b)
		case b < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(c.src[i:])
			if r == utf8.RuneError && size == 1 {
				c.pos = i
				return c.fail("byte 0x%02x in a string is not UTF-8", b)
			}
			i += size
		}
	}
	c.pos = len(c.src)
	return c.fail("the text ends inside a string that began at byte %d", start)
}

func (c *compactor) escapeLen(i int) (int, error) {
	c.pos = i
	if i+1 >= len(c.src) {
		return 0, c.fail("the text ends inside an escape")
	}
	switch c.src[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(c.src) || !isHex(c.src[k]) {
				return 0, c.fail("an escape \\u without four hexadecimal digits")
			}
		}
		return 6, nil
	}
	return 0, c.fail("unknown escape \\%c, want one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX", c.src[i+1])
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

func (c *compactor) number() error {
	n := numberLen(c.src[c.pos:])
	if n <= 0 {
		c.pos -= n
		return c.fail("%s in a number, want a digit", c.found())
	}
	if n > 1 && c.src[c.pos] == '0' && isDigit(c.src[c.pos+1]) {
		return c.fail("a number with a leading zero")
	}
	c.dst = append(c.dst, c.src[c.pos:c.pos+n]...)
	c.pos += n
	return nil
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// numberLen returns the length of the JSON number that s begins with, or the
// negated offset at which a digit is missing. A leading zero ends the number.
func numberLen(s []byte) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i >= len(s) || !isDigit(s[i]):
		return -i
	case s[i] == '0':
		i++
	default:
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) && s[i] == '.' {
		i++
		if i >= len(s) || !isDigit(s[i]) {
			return -i
		}
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if i >= len(s) || !isDigit(s[i]) {
			return -i
		}
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	return i
}

// IsNumber reports whether s is exactly a JSON number.
func IsNumber(s string) bool {
	return s != "" && numberLen([]byte(s)) == len(s)
}
