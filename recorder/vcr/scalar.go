package vcr

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A style is how a text is spelled in YAML.
type style uint8

const (
	quoted  style = iota // 'one line'
	literal              // | lines, for text that ends in at most one line break
	escaped              // "with\nescapes"
	binary               // !!binary, base64
)

// A shape is what must be known of a text before it is spelled.
type shape struct {
	style   style
	newline bool // the text ends in a line break
}

// maxPretty is the longest body that is spelled for people; a longer one is
// written with escapes, in one line.
const maxPretty = 1 << 20

// shapeOf reads a text once.
func shapeOf(r io.Reader, size int64) (shape, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	s := shape{style: quoted}
	lines, plain, start, blank := 0, true, true, false
	for first := true; ; first = false {
		c, n, err := br.ReadRune()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s, err
		}
		if c == utf8.RuneError && n == 1 {
			return shape{style: binary}, nil
		}
		switch {
		case c == '\n':
			lines++
			plain = plain && !first // a block that begins with an empty line needs an indent mark
			blank = start           // two line breaks in a row
			start, s.newline = true, true
			continue
		case start && (c == '\t' || first && c == ' '), !printable(c):
			plain = false
		}
		start, s.newline, blank = false, false, false
	}
	switch {
	case !plain || size > maxPretty || s.newline && blank:
		s.style = escaped
	case lines > 0:
		s.style = literal
	}
	return s, nil
}

// printable reports whether a character may stand in YAML as it is, on one line,
// for readers of YAML 1.1 too.
func printable(c rune) bool {
	switch {
	case c == '\t', c >= 0x20 && c < 0x7f, c >= 0xa0 && c < 0x2028, c > 0x2029 && c < 0xd800, c >= 0xe000 && c < 0xfeff, c > 0xfeff && c < 0xfffe:
		return true
	}
	return c >= 0x10000
}

// An emitter writes YAML; the first error of its writer stays.
type emitter struct {
	w      *bufio.Writer
	indent string // before each line
}

func (e *emitter) line(parts ...string) {
	e.w.WriteString(e.indent)
	for _, p := range parts {
		e.w.WriteString(p)
	}
	e.w.WriteByte('\n')
}

// text writes "key: value" for a short text.
func (e *emitter) text(key, value string) {
	e.line(key, ": ", scalar(value))
}

// scalar spells a text in one line.
func scalar(s string) string {
	if plainWord(s) {
		return s
	}
	sh, _ := shapeOf(strings.NewReader(s), 0)
	switch sh.style {
	case quoted:
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	case binary:
		return "!!binary " + base64.StdEncoding.EncodeToString([]byte(s))
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	w.WriteByte('"')
	_ = writeEscaped(w, strings.NewReader(s))
	w.WriteByte('"')
	w.Flush()
	return b.String()
}

// plainWord reports whether a text needs no quotes whichever YAML reads it: a word
// that no version takes for a number, a bool, a time or null.
func plainWord(s string) bool {
	if len(s) < 2 || len(s) > 100 || !(s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z') {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '/', c == '.', c == '+':
		default:
			return false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null":
		return false
	}
	return true
}

// body writes "key: value" for a body of any size.
func (e *emitter) body(key string, b Body) error {
	if b == nil || b.Size() == 0 {
		e.line(key, `: ""`)
		return nil
	}
	r, err := b.Open()
	if err != nil {
		return err
	}
	sh, err := shapeOf(r, b.Size())
	if err != nil {
		return err
	}
	if r, err = b.Open(); err != nil {
		return err
	}
	e.w.WriteString(e.indent + key + ": ")
	switch sh.style {
	case quoted:
		err = e.quote(r)
	case literal:
		err = e.block(r, sh.newline)
	case escaped:
		e.w.WriteByte('"')
		err = writeEscaped(e.w, r)
		e.w.WriteString("\"\n")
	case binary:
		err = e.base64(r)
	}
	return err
}

func (e *emitter) quote(r io.Reader) error {
	text, err := io.ReadAll(r)
	e.w.WriteString("'" + strings.ReplaceAll(string(text), "'", "''") + "'\n")
	return err
}

func (e *emitter) block(r io.Reader, newline bool) error {
	text, err := io.ReadAll(r)
	mark := "|-\n"
	if newline {
		mark, text = "|\n", text[:len(text)-1]
	}
	e.w.WriteString(mark)
	for l := range strings.SplitSeq(string(text), "\n") {
		if l != "" {
			e.w.WriteString(e.indent + "    " + l)
		}
		e.w.WriteByte('\n')
	}
	return err
}

// writeEscaped writes the inside of a double-quoted scalar.
func writeEscaped(w *bufio.Writer, r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		c, _, err := br.ReadRune()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case c == '"' || c == '\\':
			w.WriteByte('\\')
			w.WriteByte(byte(c))
		case c == '\n':
			w.WriteString(`\n`)
		case c == '\r':
			w.WriteString(`\r`)
		case c == '\t':
			w.WriteString(`\t`)
		case printable(c):
			w.WriteRune(c)
		default:
			fmt.Fprintf(w, `\u%04X`, c)
		}
	}
}

// base64 writes a binary block in lines of 76 characters.
func (e *emitter) base64(r io.Reader) error {
	e.w.WriteString("!!binary |-\n")
	var raw [57]byte
	var text [76]byte
	for {
		n, err := io.ReadFull(r, raw[:])
		if n > 0 {
			m := base64.StdEncoding.EncodedLen(n)
			base64.StdEncoding.Encode(text[:], raw[:n])
			e.w.WriteString(e.indent + "    ")
			e.w.Write(text[:m])
			e.w.WriteByte('\n')
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
