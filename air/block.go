package air

import (
	"bytes"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A blockReader reads the YAML that programs write: block mappings and
// sequences, scalars of every style, empty flow collections, anchors and
// aliases. It is some five times faster than the YAML library and needs no
// second tree, which decides how soon a large contract is served.
//
// It never reports an error. What it does not know for certain (flow
// collections, tags, tabs, comments behind values, duplicate keys, every
// mistake) ends it with ok false, and the library reads the text from the start.
// So it may be stricter than YAML but must not read anything differently.
type blockReader struct {
	src     []byte
	pos     int // the first byte that is not read
	column  int // of pos, when it is the first byte of a line's content
	depth   int
	lenient bool // duplicate keys are no mistake
	shared  bool // an alias was read
	faulty  int  // text up to here holds more duplicate keys than are told; 0: not known
	texts   map[string]*Value
	numbers map[string]*Value
	anchors map[string]*Value
	arena   *canon.Arena // nil where parts of the tree may outlive the rest
}

func newBlockReader(src []byte, lenient bool) *blockReader {
	r := &blockReader{src: src, lenient: lenient, texts: map[string]*Value{}, numbers: map[string]*Value{}, anchors: map[string]*Value{}}
	if !lenient {
		r.arena = &canon.Arena{}
	}
	return r
}

// document reads a whole document, ok false when it is none for a blockReader.
func (r *blockReader) document() (v *Value, ok bool) {
	if !plainText(r.src) || !r.nextLine() || r.end() || !r.atKey() {
		return nil, false
	}
	v, ok = r.mapping(r.column)
	return v, ok && r.end()
}

// plainText reports whether src is UTF-8 in lines that end in \n, without tabs
// and without what YAML treats as a line end, a mark or not at all.
func plainText(src []byte) bool {
	if len(src) == 0 || src[len(src)-1] != '\n' {
		return false
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c >= ' ' && c < 0x7F, c == '\n':
			i++
			continue
		case c < utf8.RuneSelf:
			return false
		}
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < 0xA0, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
			return false
		}
		i += size
	}
	return true
}

func (r *blockReader) end() bool { return r.pos >= len(r.src) }

// nextLine goes to the content of the next line that has some, from the start
// of a line.
func (r *blockReader) nextLine() bool {
	for r.pos < len(r.src) {
		start := r.pos
		for r.src[r.pos] == ' ' {
			r.pos++
		}
		r.column = r.pos - start
		switch c := r.src[r.pos]; {
		case c == '\n':
			r.pos++
			continue
		case c == '#':
			r.pos += bytes.IndexByte(r.src[r.pos:], '\n') + 1
			continue
		case r.column == 0 && (c == '%' || isMark(r.src[r.pos:])):
			return false
		}
		return true
	}
	r.column = -1
	return true
}

// isMark reports whether a line begins with a document's start or end.
func isMark(b []byte) bool {
	return bytes.HasPrefix(b, []byte("---")) || bytes.HasPrefix(b, []byte("..."))
}

// rest is what is left of the line.
func (r *blockReader) rest() []byte {
	return r.src[r.pos : r.pos+bytes.IndexByte(r.src[r.pos:], '\n')]
}

// spaces skips spaces and reports whether the line ends there.
func (r *blockReader) spaces() bool {
	for r.src[r.pos] == ' ' {
		r.pos++
	}
	return r.src[r.pos] == '\n'
}

func (r *blockReader) atDash() bool {
	return r.pos+1 < len(r.src) && r.src[r.pos] == '-' && (r.src[r.pos+1] == ' ' || r.src[r.pos+1] == '\n')
}

// atKey reports whether the line goes on with a mapping's key.
func (r *blockReader) atKey() bool {
	line := r.rest()
	if line[0] == '"' || line[0] == '\'' {
		n := quotedLen(line)
		return n > 0 && n < len(line) && line[n] == ':' && (n+1 == len(line) || line[n+1] == ' ')
	}
	return keyLen(line) > 0
}

// keyLen is where the colon behind a plain key stands, -1 without one.
func keyLen(line []byte) int {
	for i := 0; i < len(line); i++ {
		n := bytes.IndexByte(line[i:], ':')
		if n < 0 {
			return -1
		}
		if i += n; i+1 == len(line) || line[i+1] == ' ' {
			return i
		}
	}
	return -1
}

// quotedLen is the length of the quoted scalar that line begins with, 0 when it
// does not end there.
func quotedLen(line []byte) int {
	q := line[0]
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && q == '"':
			i++
		case line[i] == q && q == '\'' && i+1 < len(line) && line[i+1] == q:
			i++
		case line[i] == q:
			return i + 1
		}
	}
	return 0
}

// below reads the node on the lines below its key or dash in column parent,
// which name is the anchor of.
func (r *blockReader) below(parent int, name string) (v *Value, ok bool) {
	switch {
	case r.atDash():
		v, ok = r.sequence(r.column)
	case r.atKey():
		v, ok = r.mapping(r.column)
	case r.src[r.pos] == '*' && name != "":
		return nil, false
	default:
		v, ok = r.scalar(parent)
	}
	r.anchor(name, v)
	return v, ok
}

func (r *blockReader) deeper() bool {
	r.depth++
	return r.depth < canon.MaxDepth
}

func (r *blockReader) mapping(column int) (*Value, bool) {
	if !r.deeper() {
		return nil, false
	}
	var few [16]canon.Member
	members := few[:0]
	for r.column == column {
		key, ok := r.key()
		if !ok {
			return nil, false
		}
		v, ok := r.keyValue(column)
		if !ok || v == nil { // nil is a number that JSON cannot carry
			return nil, false
		}
		members = append(members, canon.Member{Key: key, Value: v})
		if n := len(members); n >= firstLook && !r.lenient && n&(n-1) == 0 && duplicates(members) > maxFaults {
			r.faulty = bytes.LastIndexByte(r.src[:r.pos], '\n') + 1
			return nil, false
		}
	}
	r.depth--
	v := r.arena.Object(members)
	return v, r.column < column && len(v.Members()) == len(members)
}

// firstLook is how many keys a mapping has when it is first asked whether it is
// garbage; it is asked again each time the number doubles.
const firstLook = 1024

// duplicates counts the keys that stood there before.
func duplicates(members []canon.Member) int {
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		seen[m.Key] = true
	}
	return len(members) - len(seen)
}

// key reads a key and the colon behind it.
func (r *blockReader) key() (string, bool) {
	line := r.rest()
	var v *Value
	n := 0
	switch {
	case !r.atKey() || r.atDash():
		return "", false
	case line[0] == '"' || line[0] == '\'':
		s, ok := r.quoted(-1)
		if !ok {
			return "", false
		}
		v = r.text(s)
		r.pos++
		return v.Text(), true
	default:
		n = keyLen(line)
	}
	text := bytes.TrimRight(line[:n], " ")
	if n > 1024 || !plainStart(text) || bytes.Contains(text, []byte(" #")) || string(text) == "<<" {
		return "", false
	}
	r.pos += n + 1
	v = r.plain(text)
	switch v.Kind() {
	case canon.Absent, canon.Null:
		return "", false
	case canon.String:
		return v.Text(), true
	}
	return v.String(), true
}

// keyValue reads what stands behind a key's colon and leaves the reader at the
// next line.
func (r *blockReader) keyValue(column int) (*Value, bool) {
	name, ends, ok := r.behind()
	switch {
	case !ok:
		return nil, false
	case ends && (r.column > column || r.column == column && r.atDash()):
		return r.below(column, name)
	case ends:
		return canon.NewNull(), name == ""
	case r.src[r.pos] == '*' && name != "":
		return nil, false
	}
	v, ok := r.scalar(column)
	r.anchor(name, v)
	return v, ok
}

// behind goes from a colon or dash to what stands behind it: an anchor's name,
// then a value on the same line or, when the line ends there, the next line.
func (r *blockReader) behind() (name string, ends, ok bool) {
	ends, ok = r.spaces(), true
	if !ends && r.src[r.pos] == '&' {
		if name, ok = r.name(); !ok {
			return "", false, false
		}
		ends = r.spaces()
	}
	if ends {
		r.pos++
		ok = r.nextLine()
	}
	return name, ends, ok
}

// name reads the name of an anchor or alias behind its sign. An anchor's name
// names nothing until its node is read.
func (r *blockReader) name() (string, bool) {
	start := r.pos + 1
	for r.pos = start; isWord(r.src[r.pos]); r.pos++ {
	}
	name := string(r.src[start:r.pos])
	if r.src[start-1] == '&' {
		delete(r.anchors, name)
	}
	return name, name != "" && (r.src[r.pos] == ' ' || r.src[r.pos] == '\n')
}

func isWord(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) || c == '_' || c == '-' }

func (r *blockReader) anchor(name string, v *Value) {
	if name != "" && v != nil {
		r.anchors[name] = v
	}
}

func (r *blockReader) sequence(column int) (*Value, bool) {
	if !r.deeper() {
		return nil, false
	}
	var few [8]*Value
	elems := few[:0]
	for r.column == column && r.atDash() {
		v, ok := r.entry(column)
		if !ok || v == nil {
			return nil, false
		}
		elems = append(elems, v)
	}
	r.depth--
	return r.arena.Array(elems), r.column <= column
}

// entry reads one dash and what stands behind it.
func (r *blockReader) entry(column int) (*Value, bool) {
	start := r.pos
	r.pos++
	name, ends, ok := r.behind()
	switch {
	case !ok:
		return nil, false
	case ends && r.column > column:
		return r.below(column, name)
	case ends:
		return canon.NewNull(), name == ""
	case name != "":
		return nil, false // the anchor of a key, perhaps
	}
	r.column = column + r.pos - start
	return r.below(column, "")
}

// scalar reads a scalar, an alias or an empty collection that begins here, and
// goes to the next line. Lines that go on with it are indented deeper than
// parent.
func (r *blockReader) scalar(parent int) (*Value, bool) {
	line := r.rest()
	switch c := line[0]; c {
	case '"', '\'':
		s, ok := r.quoted(parent)
		if !ok || !r.spaces() {
			return nil, false
		}
		r.pos++
		return r.text(s), r.nextLine()
	case '|', '>':
		return r.block(parent)
	case '*':
		name, ok := r.name()
		v := r.anchors[name]
		r.shared = true
		if !ok || v == nil || !r.spaces() {
			return nil, false
		}
		r.pos++
		return v, r.nextLine()
	case '{', '[':
		trimmed := string(bytes.TrimRight(line, " "))
		r.pos += len(line) + 1
		switch trimmed {
		case "{}":
			return canon.NewObject(), r.nextLine()
		case "[]":
			return canon.NewArray(), r.nextLine()
		}
		return nil, false
	}
	return r.plainLines(parent)
}

// plainStart reports whether a plain scalar may begin like that.
func plainStart(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	switch b[0] {
	case '-':
		return len(b) > 1 && b[1] != ' '
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	}
	return true
}

// plainLine reports whether a line holds nothing but text of a plain scalar.
func plainLine(b []byte) bool {
	return keyLen(b) < 0 && b[0] != '#' && !bytes.Contains(b, []byte(" #"))
}

// plainLines reads a plain scalar and the lines that go on with it, folded.
func (r *blockReader) plainLines(parent int) (*Value, bool) {
	line := r.rest()
	r.pos += len(line) + 1
	line = bytes.TrimRight(line, " ")
	if !plainStart(line) || !plainLine(line) {
		return nil, false
	}
	var folded []byte
	for breaks := 0; r.pos < len(r.src); breaks++ {
		start := r.pos
		if r.spaces() {
			r.pos++
			continue
		}
		if r.pos-start <= parent {
			r.pos = start
			break
		}
		if r.pos == start && isMark(r.src[start:]) {
			return nil, false
		}
		more := r.rest()
		r.pos += len(more) + 1
		if more = bytes.TrimRight(more, " "); !plainLine(more) {
			return nil, false
		}
		if folded == nil {
			folded = bytes.Clone(line)
		}
		folded = append(appendFold(folded, breaks), more...)
		breaks = -1
	}
	if folded != nil {
		line = folded
	}
	return r.plain(line), r.nextLine()
}

// appendFold appends what stands for a line's end with blank lines behind it.
func appendFold(dst []byte, blank int) []byte {
	if blank == 0 {
		return append(dst, ' ')
	}
	for range blank {
		dst = append(dst, '\n')
	}
	return dst
}

// plain resolves a plain scalar; nil when JSON cannot carry it.
func (r *blockReader) plain(b []byte) *Value {
	if v, ok := r.texts[string(b)]; ok {
		return v
	}
	if v, ok := r.numbers[string(b)]; ok {
		return v
	}
	s := r.arena.Text(b)
	v, msg := plainScalar(s)
	switch {
	case msg != "":
		return nil
	case v == nil:
		return r.keep(s)
	case v.Is(canon.Number) && len(s) <= sharedText:
		r.numbers[s] = v
	}
	return v
}

// sharedText is the longest text that is looked up to be shared: keys, types
// and names repeat, descriptions do not.
const sharedText = 64

// text is the string of a quoted or block scalar.
func (r *blockReader) text(b []byte) *Value {
	// A text that plain would read otherwise is not in r.texts.
	if v, ok := r.texts[string(b)]; ok {
		return v
	}
	s := r.arena.Text(b)
	if v, msg := plainScalar(s); v != nil || msg != "" {
		return r.arena.String(s)
	}
	return r.keep(s)
}

func (r *blockReader) keep(s string) *Value {
	v := r.arena.String(s)
	if len(s) <= sharedText {
		r.texts[s] = v
	}
	return v
}
