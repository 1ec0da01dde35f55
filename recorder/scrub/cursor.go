package scrub

import (
	"bytes"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A jsonCursor goes through text that is known to be JSON, and collects it with
// what replaces parts of it.
type jsonCursor struct {
	text, out []byte
	at, done  int
}

func (c *jsonCursor) space() {
	for c.at < len(c.text) && bytes.IndexByte([]byte(" \t\r\n"), c.text[c.at]) >= 0 {
		c.at++
	}
}

// replace puts a text in the place of what stands between from and the cursor.
func (c *jsonCursor) replace(from int, with []byte) {
	c.out = append(append(c.out, c.text[c.done:from]...), with...)
	c.done = c.at
}

// end is the whole text; it is the very one when nothing was replaced.
func (c *jsonCursor) end() []byte {
	if c.done == 0 {
		return c.text
	}
	return append(c.out, c.text[c.done:]...)
}

func (c *jsonCursor) skipString() {
	for c.at++; c.text[c.at] != '"'; c.at++ {
		if c.text[c.at] == '\\' {
			c.at++
		}
	}
	c.at++
}

func (c *jsonCursor) skipLiteral() {
	for c.at < len(c.text) && bytes.IndexByte([]byte(",]} \t\r\n"), c.text[c.at]) < 0 {
		c.at++
	}
}

// members goes through an object. key, which may be nil, is called with the cursor
// behind a key that begins at from, value with the cursor on the key's value.
func (c *jsonCursor) members(key func(from int, name string), value func(name string)) {
	c.at++
	for {
		c.space()
		switch c.text[c.at] {
		case '}':
			c.at++
			return
		case ',':
			c.at++
			continue
		}
		from := c.at
		c.skipString()
		name := canon.Unquote(c.text[from:c.at])
		if key != nil {
			key(from, name)
		}
		c.space()
		c.at++ // :
		c.space()
		value(name)
	}
}

// elements goes through an array; each is called with the cursor on a value.
func (c *jsonCursor) elements(each func(i int)) {
	c.at++
	for i := 0; ; {
		c.space()
		switch c.text[c.at] {
		case ']':
			c.at++
			return
		case ',':
			c.at++
		default:
			each(i)
			i++
		}
	}
}
