package canon

import (
	"bytes"
	"fmt"
	"sync"
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

// compactor checks src and writes its canonical spelling in one pass. Text that
// is canonical already is copied in the longest runs that it stands in.
//
// Its readers take the position of what they read and return the one after it,
// or -1 with err set.
type compactor struct {
	src  []byte
	dst  []byte
	done int // src up to here is in dst
	err  error

	depth int
	keys  []span   // keys of the objects being read
	sets  []keySet // free tables for objects with many keys
	dup   bool     // some object has a key twice
}

// keepKeys is the largest room for keys that is kept for the next text.
const keepKeys = 1 << 14

var compactors = sync.Pool{New: func() any { return new(compactor) }}

// AppendCompact checks that src is exactly one JSON value, white space around
// it allowed, and appends its canonical spelling to dst. The error is a
// *SyntaxError; dst is then returned as it was. src and dst must not overlap.
func AppendCompact(dst, src []byte, policy Policy) ([]byte, error) {
	c := compactors.Get().(*compactor)
	defer func() {
		if cap(c.keys) > keepKeys {
			return
		}
		*c = compactor{keys: c.keys[:0], sets: c.sets}
		compactors.Put(c)
	}()
	c.src, c.dst = src, dst
	if !c.document() {
		return dst, c.err
	}
	if c.dup {
		v, err := Parse(src, policy)
		if err != nil {
			return dst, err
		}
		return v.AppendJSON(dst), nil
	}
	return c.dst, nil
}

// Valid reports whether src is exactly one JSON value under the lenient policy.
func Valid(src []byte) bool {
	_, err := AppendCompact(make([]byte, 0, len(src)), src, Lenient)
	return err == nil
}

func (c *compactor) document() bool {
	i := c.value(c.space(0))
	if i < 0 {
		return false
	}
	c.flush(i)
	c.done = skipSpace(c.src, i)
	if c.done < len(c.src) {
		c.fail(c.done, "%s after the value, want the end of the text", found(c.src, c.done))
		return false
	}
	return true
}

func (c *compactor) fail(at int, format string, args ...any) int {
	c.err = syntaxError(at, format, args...)
	return -1
}

// flush copies src up to i.
func (c *compactor) flush(i int) {
	c.dst = append(c.dst, c.src[c.done:i]...)
	c.done = i
}

// space drops white space at i.
func (c *compactor) space(i int) int {
	if i >= len(c.src) || c.src[i] > ' ' {
		return i
	}
	c.flush(i)
	c.done = skipSpace(c.src, i)
	return c.done
}

func (c *compactor) value(i int) int {
	if i >= len(c.src) {
		return c.fail(i, "the text ends, want a value")
	}
	switch c.src[i] {
	case '"':
		end, _ := c.str(i)
		return end
	case '{':
		return c.object(i)
	case '[':
		return c.array(i)
	}
	end, err := scanScalar(c.src, i)
	if err != nil {
		c.err = err
		return -1
	}
	return end
}

// str reads a string and tells where its canonical spelling is.
func (c *compactor) str(i int) (int, span) {
	end, canonical, err := scanString(c.src, i)
	if err != nil {
		c.err = err
		return -1, span{}
	}
	if canonical {
		return end, span{from: i, to: end}
	}
	c.flush(i)
	from := len(c.dst)
	c.dst = appendRespelled(c.dst, c.src[i:end])
	c.done = end
	return end, span{from: from, to: len(c.dst), moved: true}
}

// enter counts one level of nesting at i.
func (c *compactor) enter(i int) bool {
	if c.depth++; c.depth > MaxDepth {
		c.err = tooDeep(i)
		return false
	}
	return true
}

func (c *compactor) array(i int) int {
	if !c.enter(i) {
		return -1
	}
	i = c.space(i + 1)
	if i < len(c.src) && c.src[i] == ']' {
		c.depth--
		return i + 1
	}
	for {
		if i = c.value(i); i < 0 {
			return -1
		}
		i = c.space(i)
		switch {
		case i < len(c.src) && c.src[i] == ',':
			i = c.space(i + 1)
		case i < len(c.src) && c.src[i] == ']':
			c.depth--
			return i + 1
		default:
			return c.fail(i, "%s in an array, want , or ]", found(c.src, i))
		}
	}
}

func (c *compactor) object(i int) int {
	if !c.enter(i) {
		return -1
	}
	i = c.space(i + 1)
	if i < len(c.src) && c.src[i] == '}' {
		c.depth--
		return i + 1
	}
	names := nameCheck{base: len(c.keys)}
	for {
		if i = c.key(i, &names); i < 0 {
			return -1
		}
		if i = c.value(i); i < 0 {
			return -1
		}
		i = c.space(i)
		switch {
		case i < len(c.src) && c.src[i] == ',':
			i = c.space(i + 1)
		case i < len(c.src) && c.src[i] == '}':
			c.leave(&names)
			c.depth--
			return i + 1
		default:
			return c.fail(i, "%s in an object, want , or }", found(c.src, i))
		}
	}
}

func (c *compactor) key(i int, names *nameCheck) int {
	if i >= len(c.src) || c.src[i] != '"' {
		return c.fail(i, "%s in an object, want a key in double quotes", found(c.src, i))
	}
	i, name := c.str(i)
	if i < 0 {
		return -1
	}
	c.note(name, names)
	i = c.space(i)
	if i >= len(c.src) || c.src[i] != ':' {
		return c.fail(i, "%s after a key, want :", found(c.src, i))
	}
	return c.space(i + 1)
}
