package tape

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A fast reader reads the part of YAML that recorders write: block mappings and
// lists, plain, quoted and literal scalars, !!binary. Whatever else it meets, and
// whatever could be read in two ways, it leaves to the full reader by giving up.
type fast struct {
	src  string
	pos  int
	line int // of pos, from 1
	bad  bool
}

// fastYAML reads a document; false when the full reader has to.
func fastYAML(data []byte) (*node, bool) {
	if !plainText(data) {
		return nil, false
	}
	if i := bytes.Index(data, []byte("\n...\n")); i >= 0 {
		data = data[:i+1] // the document ends; a recording may go on unfinished
	}
	f := &fast{src: string(data), line: 1}
	if strings.HasPrefix(f.src, "---\n") {
		f.pos, f.line = 4, 2
	}
	n := f.block(0, 0)
	if _, more := f.next(); more {
		f.bad = true
	}
	return n, !f.bad
}

// plainText reports whether a text has no line break but \n and no character
// that YAML forbids.
func plainText(data []byte) bool {
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c >= 0x20 && c < 0x7F || c == '\n':
		case c < utf8.RuneSelf:
			return false
		case c == 0xC2 && i+1 < len(data) && data[i+1] < 0xA0, // C1 controls and next line
			c == 0xE2 && i+2 < len(data) && data[i+1] == 0x80 && (data[i+2] == 0xA8 || data[i+2] == 0xA9),
			c == 0xEF && i+2 < len(data) && (data[i+1] == 0xBB && data[i+2] == 0xBF || data[i+1] == 0xBF && data[i+2] >= 0xBE):
			return false
		}
	}
	return utf8.Valid(data)
}

// give says that this is for the full reader.
func (f *fast) give() *node {
	f.bad = true
	return &node{}
}

// peek goes to the next line that is not blank and tells its indentation.
func (f *fast) peek() (indent int, ok bool) {
	for f.pos < len(f.src) {
		i := f.pos
		for i < len(f.src) && f.src[i] == ' ' {
			i++
		}
		if i == len(f.src) {
			f.pos = i
			return 0, false
		}
		if f.src[i] != '\n' {
			return i - f.pos, true
		}
		f.pos = i + 1
		f.line++
	}
	return 0, false
}

// next is peek between the nodes of a block, where a line may be a comment.
func (f *fast) next() (indent int, ok bool) {
	for {
		indent, ok = f.peek()
		if !ok || indent > 0 || f.src[f.pos] != '#' {
			return indent, ok
		}
		f.endLine()
	}
}

// rest is the text from pos to the end of the line.
func (f *fast) rest() string {
	if i := strings.IndexByte(f.src[f.pos:], '\n'); i >= 0 {
		return f.src[f.pos : f.pos+i]
	}
	return f.src[f.pos:]
}

// endLine goes behind the line of pos.
func (f *fast) endLine() {
	f.pos = min(len(f.src), f.pos+len(f.rest())+1)
	f.line++
}

func dashed(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ")
}

const maxFastDepth = 64

// block reads the mapping or list that begins on the next line.
func (f *fast) block(least, depth int) *node {
	indent, ok := f.next()
	if f.bad || depth > maxFastDepth {
		return f.give()
	}
	if !ok || indent < least {
		return &node{}
	}
	f.pos += indent
	if dashed(f.rest()) {
		f.pos -= indent
		return f.sequence(indent, depth)
	}
	return f.mapping(indent, depth)
}

// sequence reads the items of a list, pos at the start of a line.
func (f *fast) sequence(indent, depth int) *node {
	n := &node{kind: listNode, line: f.line}
	for !f.bad {
		got, ok := f.next()
		if !ok || got < indent {
			return n
		}
		f.pos += got
		if got > indent {
			return f.give()
		}
		if !dashed(f.rest()) {
			f.pos -= got
			return n
		}
		f.pos++
		for f.pos < len(f.src) && f.src[f.pos] == ' ' {
			f.pos++
		}
		text := f.rest()
		column := f.column()
		switch {
		case text == "":
			f.endLine()
			n.elems = append(n.elems, f.block(indent+1, depth+1))
		case dashed(text):
			return f.give()
		case keyLen(text) > 0:
			n.elems = append(n.elems, f.mapping(column, depth+1))
		default:
			n.elems = append(n.elems, f.scalar(indent))
		}
	}
	return n
}

// column is how far pos stands from the start of its line.
func (f *fast) column() int {
	return f.pos - (strings.LastIndexByte(f.src[:f.pos], '\n') + 1)
}

// keyLen is the length of the key that a text begins with, its colon counted; 0
// when it begins with none.
func keyLen(text string) int {
	i := 0
	switch {
	case text == "":
		return 0
	case text[0] == '"' || text[0] == '\'':
		end := strings.IndexByte(text[1:], text[0])
		if end < 0 || strings.IndexByte(text[:end+2], '\\') >= 0 {
			return 0
		}
		i = end + 2
	case !isWord(text[0]) || text[0] == '-':
		return 0
	default:
		for i < len(text) && isWord(text[i]) {
			i++
		}
	}
	if i < len(text) && text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ') {
		return i + 1
	}
	return 0
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// mapping reads keys at one indentation, pos at the first key.
func (f *fast) mapping(indent, depth int) *node {
	n := &node{kind: mapNode, line: f.line}
	for !f.bad {
		text := f.rest()
		size := keyLen(text)
		if size == 0 {
			return f.give()
		}
		key := text[:size-1]
		if key[0] == '"' || key[0] == '\'' {
			key = key[1 : len(key)-1]
		} else if key == "y" || key == "n" || isNull(key) {
			return f.give()
		}
		f.pos += size
		n.keys = append(n.keys, key)
		n.elems = append(n.elems, f.value(indent, depth))
		got, ok := f.next()
		if !ok || got < indent {
			return n
		}
		if f.pos += got; got > indent {
			return f.give()
		}
		if dashed(f.rest()) {
			return f.give()
		}
	}
	return n
}

// value reads what stands behind a key.
func (f *fast) value(indent, depth int) *node {
	for f.pos < len(f.src) && f.src[f.pos] == ' ' {
		f.pos++
	}
	if f.rest() != "" {
		return f.scalar(indent)
	}
	line := f.line
	f.endLine()
	got, ok := f.next()
	switch {
	case ok && got > indent:
		return f.block(indent+1, depth+1)
	case ok && got == indent && dashed(f.src[f.pos+got:min(len(f.src), f.pos+got+2)]):
		return f.sequence(indent, depth+1)
	}
	return &node{line: line}
}
