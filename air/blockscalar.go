package air

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// quoted reads a quoted scalar, whose further lines are indented deeper than
// parent, and stops behind it.
func (r *blockReader) quoted(parent int) ([]byte, bool) {
	q := r.src[r.pos]
	r.pos++
	var out []byte
	for {
		line := r.rest()
		n := 0
		for n < len(line) && line[n] != q && line[n] != '\\' {
			n++
		}
		if n == len(line) || line[n] == '\\' && q == '\'' {
			n = r.quotedRun(line, q)
		}
		out = append(out, line[:n]...)
		r.pos += n
		switch c := r.src[r.pos]; {
		case c == '\n':
			var ok bool
			if out, ok = r.fold(trimRun(out, line[:n]), parent); !ok {
				return nil, false
			}
		case c == '\\':
			var ok bool
			if out, ok = r.escape(out, parent); !ok {
				return nil, false
			}
		case q == '\'' && r.src[r.pos+1] == q:
			out = append(out, q)
			r.pos += 2
		default:
			r.pos++
			return out, true
		}
	}
}

// quotedRun is how many bytes of line stand for themselves.
func (r *blockReader) quotedRun(line []byte, q byte) int {
	if n := bytes.IndexByte(line, q); q == '\'' && n >= 0 {
		return n
	}
	return len(line)
}

// trimRun takes the spaces at the end of a line off, as far as they stand in
// the run that was appended last: escaped ones stay.
func trimRun(out, run []byte) []byte {
	return out[:len(out)-(len(run)-len(bytes.TrimRight(run, " ")))]
}

// fold goes from a line's end inside a quoted scalar to the content of the next
// line and appends what the line ends stand for.
func (r *blockReader) fold(out []byte, parent int) ([]byte, bool) {
	blank, ok := r.blankLines(parent)
	return appendFold(out, blank), ok
}

// blankLines skips a line's end, blank lines and the indentation behind them.
func (r *blockReader) blankLines(parent int) (blank int, ok bool) {
	for r.pos++; r.pos < len(r.src); blank++ {
		start := r.pos
		if !r.spaces() {
			return blank, parent >= 0 && r.pos-start > parent
		}
		r.pos++
	}
	return 0, false
}

// escape reads one escape of a double-quoted scalar.
func (r *blockReader) escape(out []byte, parent int) ([]byte, bool) {
	c := r.src[r.pos+1]
	if c == '\n' {
		r.pos++
		blank, ok := r.blankLines(parent)
		for range blank {
			out = append(out, '\n')
		}
		return out, ok
	}
	r.pos += 2
	if i := bytes.IndexByte([]byte(`0abtnvfre "/\`), c); i >= 0 {
		return append(out, "\x00\a\b\t\n\v\f\r\x1b \"/\\"[i]), true
	}
	digits := map[byte]int{'x': 2, 'u': 4}[c]
	if digits == 0 || r.pos+digits > len(r.src) {
		return nil, false
	}
	n, err := strconv.ParseUint(string(r.src[r.pos:r.pos+digits]), 16, 32)
	if err != nil || n >= 0xD800 && n < 0xE000 {
		return nil, false
	}
	r.pos += digits
	return utf8.AppendRune(out, rune(n)), true
}

// block reads a literal or folded block scalar, whose lines are indented deeper
// than parent, and goes to the next line.
func (r *blockReader) block(parent int) (*Value, bool) {
	header := r.rest()
	folded := header[0] == '>'
	chomp := string(header[1:])
	if chomp != "" && chomp != "-" && chomp != "+" {
		return nil, false
	}
	r.pos += len(header) + 1
	indent, blank := r.blockIndent()
	if indent <= parent || indent == 0 {
		return nil, false
	}
	var out []byte
	first, spaced := true, false // spaced: the line before begins with a space
	for {
		line, more := r.blockLine(indent)
		if !more {
			break
		}
		if line == nil {
			blank++
			continue
		}
		switch space := line[0] == ' '; {
		case !first && folded && !spaced && !space:
			out = appendFold(out, blank)
		default:
			for range blank {
				out = append(out, '\n')
			}
			if !first {
				out = append(out, '\n')
			}
		}
		spaced, first, blank = line[0] == ' ', false, 0
		out = append(out, line...)
	}
	out = appendChomped(out, chomp, blank)
	ends := r.nextLine() && r.column <= parent
	return r.text(out), ends
}

func appendChomped(out []byte, chomp string, blank int) []byte {
	if chomp != "-" {
		out = append(out, '\n')
	}
	if chomp == "+" {
		for range blank {
			out = append(out, '\n')
		}
	}
	return out
}

// blockIndent skips the blank lines before a block scalar's content and counts
// them and the content's indentation, 0 when there is none to be sure of.
func (r *blockReader) blockIndent() (indent, blank int) {
	widest := 0
	for r.pos < len(r.src) {
		start := r.pos
		if !r.spaces() {
			indent = r.pos - start
			r.pos = start
			break
		}
		widest = max(widest, r.pos-start)
		r.pos++
		blank++
	}
	if widest > indent {
		return 0, blank
	}
	return indent, blank
}

// blockLine takes the next line of a block scalar without its indentation, nil
// when it is blank; more is false where the scalar ends.
func (r *blockReader) blockLine(indent int) (line []byte, more bool) {
	if r.pos == len(r.src) {
		return nil, false
	}
	n := 0
	for n < indent && r.src[r.pos+n] == ' ' {
		n++
	}
	if r.src[r.pos+n] == '\n' {
		r.pos += n + 1
		return nil, true
	}
	if n < indent {
		return nil, false
	}
	r.pos += n
	line = r.rest()
	r.pos += len(line) + 1
	return line, true
}
