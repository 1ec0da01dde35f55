package tape

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// A fast reader reads the part of YAML that recorders write: block mappings and
// lists, plain, quoted and literal scalars, !!binary. Whatever else it meets, and
// whatever could be read in two ways, it leaves to the full reader by giving up.
// Long texts are parts of src, or stand in the arena: neither is copied again.
type fast struct {
	src  []byte
	pos  int
	end  int // of the line of pos; less than pos when it is not known
	line int // of pos, from 1
	bad  bool

	own   bool              // src may be written: texts are decoded where they stand
	wrote bool              // it was
	cut   bool              // the text goes on behind src
	arena []byte            // what is left of the block for decoded texts, when src is not own
	words map[string]string // short texts that were read, each once
	nodes []node            // the block that nodes are taken from
	used  int               // how many of it are
}

// newFast begins a document whose text still has to be checked, see [plainText],
// and cut where the document ends, see [documentEnd].
func newFast(data []byte) *fast {
	f := &fast{src: data, line: 1, end: -1, words: map[string]string{}}
	if bytes.HasPrefix(f.src, []byte("---\n")) {
		f.pos, f.line = 4, 2
	}
	return f
}

// documentEnd is where a document ends before its text does, -1 when it does not. A
// recording may go on there unfinished.
func documentEnd(text []byte) int {
	if i := bytes.Index(text, []byte("\n...\n")); i >= 0 {
		return i + 1
	}
	return -1
}

// fastYAML reads a document; false when the full reader has to.
func fastYAML(data []byte) (*node, bool) {
	if !plainText(data) {
		return nil, false
	}
	if end := documentEnd(data); end >= 0 {
		data = data[:end]
	}
	f := newFast(data)
	n := f.block(0, 0)
	return n, f.over()
}

// over reports whether the document was read to its end.
func (f *fast) over() bool {
	_, more := f.next()
	return !more && !f.bad
}

// new is a node at pos. Its lists keep the room that they had before [fast.recycle].
func (f *fast) new(k kind) *node {
	if f.used == len(f.nodes) {
		f.nodes, f.used = make([]node, 128), 0
	}
	n := &f.nodes[f.used]
	f.used++
	*n = node{kind: k, line: f.line, keys: n.keys[:0], elems: n.elems[:0]}
	return n
}

// recycle gives up all nodes that were read so far.
func (f *fast) recycle() { f.used = 0 }

const (
	shortText = 64   // the longest text that is looked for among words
	mostWords = 4096 // how many words are kept
)

// word is a text as a string, the same one for the same text.
func (f *fast) word(text []byte) string {
	if w, ok := f.words[string(text)]; ok {
		return w
	}
	w := string(text)
	if len(w) <= shortText && len(f.words) < mostWords {
		f.words[w] = w
	}
	return w
}

// plainText reports whether a text has no line break but \n and no character
// that YAML forbids.
func plainText(data []byte) bool {
	for i := 0; i < len(data); i++ {
		for i+8 <= len(data) && printable(binary.LittleEndian.Uint64(data[i:])) {
			i += 8
		}
		if i == len(data) {
			break
		}
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

// printable reports whether eight bytes are all from 0x20 to 0x7E. It may say no
// of some that are.
func printable(w uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	low := (w - 0x20*ones) & ^w // a byte under 0x20
	del := w + ones             // a byte over 0x7E
	return (low|del|w)&high == 0
}

// give says that this is for the full reader.
func (f *fast) give() *node {
	f.bad = true
	return f.new(nullNode)
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

// rest is the text from pos to the end of the line, which is looked for once.
func (f *fast) rest() []byte {
	if f.end < f.pos {
		f.end = len(f.src)
		if i := bytes.IndexByte(f.src[f.pos:], '\n'); i >= 0 {
			f.end = f.pos + i
		}
	}
	return f.src[f.pos:f.end]
}

// back goes back to the start of an earlier line.
func (f *fast) back(pos, line int) { f.pos, f.line, f.end = pos, line, -1 }

// endLine goes behind the line of pos.
func (f *fast) endLine() {
	f.pos = min(len(f.src), f.pos+len(f.rest())+1)
	f.line++
}

func dashed(text []byte) bool {
	return len(text) > 0 && text[0] == '-' && (len(text) == 1 || text[1] == ' ')
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
	n := f.new(listNode)
	for f.dash(indent) {
		n.elems = append(n.elems, f.item(indent, depth))
	}
	return n
}

// dash goes behind the dash of the next item of a list; false at the list's end.
func (f *fast) dash(indent int) bool {
	got, ok := f.next()
	if !ok || f.bad || got < indent {
		return false
	}
	f.pos += got
	if got > indent {
		f.bad = true
		return false
	}
	if !dashed(f.rest()) {
		f.pos -= got
		return false
	}
	f.pos++
	return true
}

// item reads an item of a list, pos behind its dash.
func (f *fast) item(indent, depth int) *node {
	f.spaces()
	text := f.rest()
	switch {
	case len(text) == 0:
		f.endLine()
		return f.block(indent+1, depth+1)
	case dashed(text):
		return f.give()
	case keyLen(text) > 0:
		return f.mapping(f.column(), depth+1)
	}
	return f.scalar(indent)
}

func (f *fast) spaces() {
	for f.pos < len(f.src) && f.src[f.pos] == ' ' {
		f.pos++
	}
}

// column is how far pos stands from the start of its line.
func (f *fast) column() int {
	return f.pos - (bytes.LastIndexByte(f.src[:f.pos], '\n') + 1)
}

// keyLen is the length of the key that a text begins with, its colon counted; 0
// when it begins with none.
func keyLen(text []byte) int {
	i := 0
	switch {
	case len(text) == 0:
		return 0
	case text[0] == '"' || text[0] == '\'':
		end := bytes.IndexByte(text[1:], text[0])
		if end < 0 || bytes.IndexByte(text[:end+2], '\\') >= 0 {
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
	n := f.new(mapNode)
	for f.key(n) {
		n.elems = append(n.elems, f.value(indent, depth))
		if !f.another(indent) {
			break
		}
	}
	return n
}

// key reads the key at pos and adds it to a mapping.
func (f *fast) key(n *node) bool {
	text := f.rest()
	size := keyLen(text)
	if size == 0 || f.bad {
		f.bad = true
		return false
	}
	key := text[:size-1]
	if key[0] == '"' || key[0] == '\'' {
		key = key[1 : len(key)-1]
	} else if string(key) == "y" || string(key) == "n" || isNull(string(key)) {
		f.bad = true
		return false
	}
	f.pos += size
	n.keys = append(n.keys, f.word(key))
	return true
}

// another goes to the next key of a mapping; false at the mapping's end.
func (f *fast) another(indent int) bool {
	got, ok := f.next()
	if !ok || f.bad || got < indent {
		return false
	}
	if f.pos += got; got > indent || dashed(f.rest()) {
		f.bad = true
		return false
	}
	return true
}

// value reads what stands behind a key.
func (f *fast) value(indent, depth int) *node {
	f.spaces()
	if len(f.rest()) > 0 {
		return f.scalar(indent)
	}
	null := f.new(nullNode)
	f.endLine()
	got, ok := f.next()
	switch {
	case ok && got > indent:
		return f.block(indent+1, depth+1)
	case ok && got == indent && dashed(f.src[f.pos+got:min(len(f.src), f.pos+got+2)]):
		return f.sequence(indent, depth+1)
	}
	return null
}
