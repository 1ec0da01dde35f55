package tape

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// scalar reads a value of one or more lines and goes behind its last line.
func (f *fast) scalar(indent int) *node {
	n := f.new(scalarNode)
	text := trimRight(f.rest())
	if tag, after, ok := bytes.Cut(text, []byte(" ")); ok && isBinary(string(tag)) {
		n.tag = f.word(tag)
		f.pos += len(tag)
		f.spaces()
		if text = trimLeft(after); len(text) == 0 || text[0] == '!' || text[0] == '&' {
			return f.give()
		}
	}
	switch text[0] {
	case '"':
		f.set(n, f.double(indent))
	case '\'':
		f.set(n, f.single(indent))
	case '|':
		f.set(n, f.literal(text, indent))
	case '{', '[':
		if string(text) != "{}" && string(text) != "[]" || n.tag != "" {
			return f.give()
		}
		if n.kind = mapNode; text[0] == '[' {
			n.kind = listNode
		}
		f.endLine()
	default:
		f.set(n, f.plain(text, indent))
		if n.tag == "" && n.raw == nil && isNull(n.text) {
			n.kind, n.text = nullNode, ""
		}
	}
	return n
}

// set gives a scalar its text. What a recording says again and again is shared.
func (f *fast) set(n *node, text []byte) {
	if len(text) <= shortText {
		n.text = f.word(text)
		return
	}
	n.raw = text[:len(text):len(text)]
}

func trimLeft(text []byte) []byte {
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	return text
}

func trimRight(text []byte) []byte {
	for len(text) > 0 && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	return text
}

// arenaBlock is how much is taken at once for decoded texts.
const arenaBlock = 64 << 10

// room is where a text is decoded that begins at a place of src: over itself, since
// a text is never longer than what it was decoded from and the reader is always
// ahead of what it writes; or in the arena, when src has to stay as it is.
func (f *fast) room(at int) []byte {
	if f.own {
		return f.src[at:at]
	}
	return f.arena
}

// reserve makes room for n more bytes of a text that stands where [fast.room] said.
// A text is never longer than what it was decoded from, so the rest of the
// file bounds what is taken.
func (f *fast) reserve(whole []byte, n int) []byte {
	f.wrote = f.wrote || f.own
	if cap(whole)-len(whole) >= n {
		return whole
	}
	size := len(whole) + n
	if len(whole) > 0 {
		size = max(size, min(2*size, len(whole)+len(f.src)-f.pos))
	}
	if size < arenaBlock {
		size = max(size, min(arenaBlock, len(f.src)-f.pos))
	}
	return append(make([]byte, 0, size), whole...)
}

// keep ends a text: the next one begins behind it.
func (f *fast) keep(whole []byte) []byte {
	if !f.own {
		f.arena = whole[len(whole):]
	}
	return whole
}

// plain reads an unquoted scalar, which may go on in deeper lines.
func (f *fast) plain(text []byte, indent int) []byte {
	if bytes.IndexByte([]byte("?:,[]{}#&*!|>%@`\"'"), text[0]) >= 0 || dashed(text) || string(text) == "..." || string(text) == "---" {
		f.bad = true
		return nil
	}
	var whole []byte
	begin := f.pos
	for first := true; ; first = false {
		if bytes.Contains(text, []byte(": ")) || bytes.Contains(text, []byte(" #")) || text[len(text)-1] == ':' ||
			!first && (text[0] == '#' || dashed(text)) {
			f.bad = true
			return nil
		}
		if whole != nil {
			whole = append(f.reserve(whole, len(text)), text...)
		}
		f.endLine()
		at, line := f.pos, f.line
		got, ok := f.peek()
		if !ok || got <= indent {
			f.back(at, line)
			if whole != nil {
				return f.keep(whole)
			}
			return text
		}
		if whole == nil {
			whole = append(f.reserve(f.room(begin), len(text)), text...)
		}
		whole = f.fold(whole, f.line-line)
		f.pos += got
		text = trimRight(f.rest())
	}
}

// fold joins two lines with blank ones between them.
func (f *fast) fold(dst []byte, blank int) []byte {
	dst = f.reserve(dst, max(1, blank))
	if blank == 0 {
		return append(dst, ' ')
	}
	for range blank {
		dst = append(dst, '\n')
	}
	return dst
}

// single reads a scalar in single quotes.
func (f *fast) single(indent int) []byte {
	f.pos++
	whole := f.room(f.pos)
	for !f.bad {
		text := f.rest()
		end := bytes.IndexByte(text, '\'')
		switch {
		case end >= 0 && end+1 < len(text) && text[end+1] == '\'':
			whole = append(f.reserve(whole, len(text)), text[:end+1]...)
			f.pos += end + 2
			continue
		case end >= 0:
			f.closed(end + 1)
			if len(whole) == 0 {
				return text[:end]
			}
			return f.keep(append(f.reserve(whole, end), text[:end]...))
		}
		whole = append(f.reserve(whole, len(text)), text...)
		whole = f.nextLine(whole, indent, 0)
	}
	return nil
}

// closed goes behind a quoted scalar, after which its line must end.
func (f *fast) closed(n int) {
	f.pos += n
	if len(trimLeft(f.rest())) > 0 {
		f.bad = true
	}
	f.endLine()
}

// nextLine folds the line break of a quoted scalar. The last kept bytes of whole
// are escapes, which are not trimmed.
func (f *fast) nextLine(whole []byte, indent, kept int) []byte {
	end := len(whole)
	for end > kept && whole[end-1] == ' ' {
		end--
	}
	whole = whole[:end]
	f.endLine()
	line := f.line
	got, ok := f.peek()
	if !ok || got <= indent {
		f.bad = true
		return whole
	}
	f.pos += got
	return f.fold(whole, f.line-line)
}

// double reads a scalar in double quotes.
func (f *fast) double(indent int) []byte {
	f.pos++
	whole := f.room(f.pos)
	kept := 0
	for !f.bad {
		text := f.rest()
		end := indexQuoted(text)
		switch {
		case end < 0:
			whole = f.nextLine(append(f.reserve(whole, len(text)), text...), indent, kept)
			kept = len(whole)
		case text[end] == '"':
			f.closed(end + 1)
			if len(whole) == 0 {
				return text[:end]
			}
			return f.keep(append(f.reserve(whole, end), text[:end]...))
		case end+1 == len(text): // an escaped line break
			whole = append(f.reserve(whole, end), text[:end]...)
			f.endLine()
			line := f.line
			got, ok := f.peek()
			if !ok || got <= indent || f.line != line {
				f.bad = true
			}
			f.pos += got
			kept = len(whole)
		default:
			whole = append(f.reserve(whole, len(text)), text[:end]...)
			size := 0
			if whole, size = unescapeYAML(whole, text[end:]); size == 0 {
				f.bad = true
			}
			f.pos += end + size
			kept = len(whole)
		}
	}
	return nil
}

// indexQuoted is where a text in double quotes ends or has an escape.
func indexQuoted(text []byte) int {
	for i, c := range text {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return -1
}

// unescapeYAML appends what an escape stands for; size 0 for one that the full
// reader has to look at.
func unescapeYAML(dst []byte, text []byte) (_ []byte, size int) {
	digits := 0
	switch text[1] {
	case '"', '\\', '/', ' ':
		return append(dst, text[1]), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case '0':
		return append(dst, 0), 2
	case 'a':
		return append(dst, '\a'), 2
	case 'v':
		return append(dst, '\v'), 2
	case 'e':
		return append(dst, 0x1B), 2
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits == 0 || len(text) < 2+digits {
		return dst, 0
	}
	var r rune
	for _, c := range text[2 : 2+digits] {
		v := strings.IndexByte("0123456789abcdef", c|0x20)
		if v < 0 || c < '0' {
			return dst, 0
		}
		r = r<<4 | rune(v)
	}
	if !utf8.ValidRune(r) {
		return dst, 0
	}
	return utf8.AppendRune(dst, r), 2 + digits
}

// literal reads a block scalar whose lines stand as they are.
func (f *fast) literal(head []byte, parent int) []byte {
	indent, chomp := -1, byte(0)
	for _, c := range head[1:] {
		switch {
		case (c == '-' || c == '+') && chomp == 0:
			chomp = c
		case c >= '1' && c <= '9' && indent < 0:
			indent = parent + int(c-'0')
		default:
			f.bad = true
			return nil
		}
	}
	f.endLine()
	if indent < 0 {
		if indent = f.firstIndent(); indent <= parent {
			if indent >= 0 || chomp == '+' || f.cut {
				f.bad = true // an empty block, or one that ends the file
			}
			return nil
		}
	}
	return f.keep(f.literalLines(indent, chomp))
}

func (f *fast) literalLines(indent int, chomp byte) []byte {
	size := 0
	if !f.own {
		size = f.literalSize(indent)
	}
	whole := f.reserve(f.room(f.pos), size)
	blank := 0
	start := f.pos
	for f.pos < len(f.src) {
		text := f.rest()
		spaces := len(text) - len(trimLeft(text))
		switch {
		case spaces == len(text) && spaces <= indent:
			blank++
		case spaces < indent:
			return chomped(whole, blank, chomp)
		default:
			for range blank {
				whole = append(whole, '\n')
			}
			blank = 0
			whole = append(append(whole, text[indent:]...), '\n')
		}
		if f.pos+len(text) == len(f.src) { // the file ends without a line break
			f.bad = f.bad || start == f.pos || chomp != '-'
		}
		f.endLine()
	}
	return chomped(whole, blank, chomp)
}

// literalSize is the most that the lines of a literal can be.
func (f *fast) literalSize(indent int) (size int) {
	for pos := f.pos; pos < len(f.src); {
		text := f.src[pos:]
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[:i]
		}
		spaces := 0
		for spaces < min(indent, len(text)) && text[spaces] == ' ' {
			spaces++
		}
		if spaces < indent && spaces < len(text) {
			break
		}
		size += len(text) - spaces + 1
		pos += len(text) + 1
	}
	return size
}

// firstIndent is the indentation of the next line that is not blank, -1 at the
// end; blank lines before it must not be deeper.
func (f *fast) firstIndent() int {
	deepest := 0
	for i := f.pos; i < len(f.src); i++ {
		start := i
		for i < len(f.src) && f.src[i] == ' ' {
			i++
		}
		if i < len(f.src) && f.src[i] != '\n' {
			if deepest > i-start {
				f.bad = true
			}
			return i - start
		}
		deepest = max(deepest, i-start)
	}
	return -1
}

func chomped(whole []byte, blank int, chomp byte) []byte {
	switch chomp {
	case '+':
		for range blank {
			whole = append(whole, '\n')
		}
	case '-':
		whole = whole[:max(0, len(whole)-1)]
	}
	return whole
}
