package tape

import (
	"strings"
	"unicode/utf8"
)

// scalar reads a value of one or more lines and goes behind its last line.
func (f *fast) scalar(indent int) *node {
	n := &node{kind: scalarNode, line: f.line}
	text := strings.TrimRight(f.rest(), " ")
	if tag, after, ok := strings.Cut(text, " "); ok && isBinary(tag) {
		n.tag = tag
		if text = strings.TrimLeft(after, " "); text == "" || text[0] == '!' || text[0] == '&' {
			return f.give()
		}
		f.pos += strings.Index(f.rest(), " ")
		f.pos += len(f.rest()) - len(strings.TrimLeft(f.rest(), " "))
	}
	switch text[0] {
	case '"':
		n.text = f.double(indent)
	case '\'':
		n.text = f.single(indent)
	case '|':
		n.text = f.literal(text, indent)
	case '{', '[':
		if text != "{}" && text != "[]" || n.tag != "" {
			return f.give()
		}
		if n.kind = mapNode; text == "[]" {
			n.kind = listNode
		}
		f.endLine()
	default:
		n.text = f.plain(text, indent)
		if n.tag == "" && isNull(n.text) {
			n.kind, n.text = nullNode, ""
		}
	}
	return n
}

// plain reads an unquoted scalar, which may go on in deeper lines.
func (f *fast) plain(text string, indent int) string {
	if strings.IndexByte("?:,[]{}#&*!|>%@`\"'", text[0]) >= 0 || dashed(text) || text == "..." || text == "---" {
		f.bad = true
		return ""
	}
	var whole []byte
	for first := true; ; first = false {
		if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") ||
			!first && (text[0] == '#' || dashed(text)) {
			f.bad = true
			return ""
		}
		if whole != nil {
			whole = append(whole, text...)
		}
		f.endLine()
		at, line := f.pos, f.line
		got, ok := f.peek()
		if !ok || got <= indent {
			f.pos, f.line = at, line
			if whole != nil {
				return string(whole)
			}
			return text
		}
		if whole == nil {
			whole = append(whole, text...)
		}
		whole = fold(whole, f.line-line)
		f.pos += got
		text = strings.TrimRight(f.rest(), " ")
	}
}

// fold joins two lines with blank ones between them.
func fold(dst []byte, blank int) []byte {
	if blank == 0 {
		return append(dst, ' ')
	}
	for range blank {
		dst = append(dst, '\n')
	}
	return dst
}

// single reads a scalar in single quotes.
func (f *fast) single(indent int) string {
	f.pos++
	var whole []byte
	for !f.bad {
		text := f.rest()
		end := strings.IndexByte(text, '\'')
		switch {
		case end >= 0 && end+1 < len(text) && text[end+1] == '\'':
			whole = append(whole, text[:end+1]...)
			f.pos += end + 2
			continue
		case end >= 0:
			f.closed(end + 1)
			if whole == nil {
				return text[:end]
			}
			return string(append(whole, text[:end]...))
		}
		whole = append(whole, text...)
		whole = f.nextLine(whole, indent, 0)
	}
	return ""
}

// closed goes behind a quoted scalar, after which its line must end.
func (f *fast) closed(n int) {
	f.pos += n
	if strings.TrimLeft(f.rest(), " ") != "" {
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
	return fold(whole, f.line-line)
}

// double reads a scalar in double quotes.
func (f *fast) double(indent int) string {
	f.pos++
	var whole []byte
	kept := 0
	for !f.bad {
		text := f.rest()
		end := strings.IndexAny(text, "\"\\")
		switch {
		case end < 0:
			whole = f.nextLine(append(whole, text...), indent, kept)
			kept = len(whole)
		case text[end] == '"':
			f.closed(end + 1)
			if whole == nil {
				return text[:end]
			}
			return string(append(whole, text[:end]...))
		case end+1 == len(text): // an escaped line break
			whole = append(whole, text[:end]...)
			f.endLine()
			line := f.line
			got, ok := f.peek()
			if !ok || got <= indent || f.line != line {
				f.bad = true
			}
			f.pos += got
			kept = len(whole)
		default:
			whole = append(whole, text[:end]...)
			size := 0
			if whole, size = unescapeYAML(whole, text[end:]); size == 0 {
				f.bad = true
			}
			f.pos += end + size
			kept = len(whole)
		}
	}
	return ""
}

// unescapeYAML appends what an escape stands for; size 0 for one that the full
// reader has to look at.
func unescapeYAML(dst []byte, text string) (_ []byte, size int) {
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
	for _, c := range []byte(text[2 : 2+digits]) {
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
func (f *fast) literal(head string, parent int) string {
	indent, chomp := -1, byte(0)
	for _, c := range []byte(head[1:]) {
		switch {
		case (c == '-' || c == '+') && chomp == 0:
			chomp = c
		case c >= '1' && c <= '9' && indent < 0:
			indent = parent + int(c-'0')
		default:
			f.bad = true
			return ""
		}
	}
	f.endLine()
	if indent < 0 {
		if indent = f.firstIndent(); indent <= parent {
			if indent >= 0 || chomp == '+' {
				f.bad = true // an empty block, or one that ends the file
			}
			return ""
		}
	}
	var whole []byte
	blank := 0
	start := f.pos
	for f.pos < len(f.src) {
		text := f.rest()
		spaces := len(text) - len(strings.TrimLeft(text, " "))
		switch {
		case spaces == len(text) && spaces <= indent:
			blank++
		case spaces < indent:
			return f.chomp(whole, blank, chomp)
		default:
			for range blank {
				whole = append(whole, '\n')
			}
			blank = 0
			if whole == nil {
				whole = make([]byte, 0, len(text)+64)
			}
			whole = append(append(whole, text[indent:]...), '\n')
		}
		if f.pos+len(text) == len(f.src) { // the file ends without a line break
			f.bad = f.bad || start == f.pos || chomp != '-'
		}
		f.endLine()
	}
	return f.chomp(whole, blank, chomp)
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

func (f *fast) chomp(whole []byte, blank int, chomp byte) string {
	switch chomp {
	case '+':
		for range blank {
			whole = append(whole, '\n')
		}
	case '-':
		whole = whole[:max(0, len(whole)-1)]
	}
	return string(whole)
}
