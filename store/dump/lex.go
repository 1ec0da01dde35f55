package dump

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// kind is what a token is.
type kind uint8

const (
	end    kind = iota
	word        // a bare word or keyword
	ident       // a quoted name
	str         // a text
	number      // digits, a point, an exponent
	blob        // bytes: X'..', 0x.., _binary '..'
	op          // one character of anything else; :: is one
)

// A token is one piece of SQL text. text is decoded for ident, str and blob.
type token struct {
	kind       kind
	text       string
	start, end int
}

// is tells whether the token is the keyword or operator, in any letter case.
func (t token) is(words ...string) bool {
	if t.kind != word && t.kind != op {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(t.text, w) {
			return true
		}
	}
	return false
}

// An Error says where SQL text cannot be read.
type Error struct {
	Line, Column int
	Msg          string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg) }

// A lexer cuts SQL text into tokens.
type lexer struct {
	src     []byte
	pos     int
	dialect Dialect
}

func (l *lexer) fail(at int, format string, args ...any) error {
	line, column := canon.LineColumn(l.src, at)
	return &Error{line, column, fmt.Sprintf(format, args...)}
}

// next returns the next token, of kind end at the end of the text.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	start := l.pos
	if start >= len(l.src) {
		return token{kind: end, start: start, end: start}, nil
	}
	t, err := l.token(l.src[start])
	t.start, t.end = start, l.pos
	return t, err
}

func (l *lexer) token(c byte) (token, error) {
	switch {
	case c == '\'':
		return l.quoted(str, '\'', l.dialect == MySQL)
	case c == '"' && l.dialect == MySQL:
		return l.quoted(str, '"', true)
	case c == '"':
		return l.quoted(ident, '"', false)
	case c == '`':
		return l.quoted(ident, '`', false)
	case c == '[' && l.dialect == SQLite:
		return l.quoted(ident, ']', false)
	case c == '$' && l.dialect == Postgres:
		return l.dollar()
	case isDigit(c) || c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		return l.number()
	case isWord(c):
		return l.word()
	case c == ':' && l.peek(1) == ':':
		l.pos += 2
		return token{kind: op, text: "::"}, nil
	}
	l.pos++
	return token{kind: op, text: string(c)}, nil
}

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// skip passes white space and comments. MySQL's /*! comments, which hold
// settings and storage details, are comments here too.
func (l *lexer) skip() error {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c <= ' ':
			l.pos++
		case c == '-' && l.peek(1) == '-', c == '#' && l.dialect == MySQL:
			l.line()
		case c == '/' && l.peek(1) == '*':
			n := bytes.Index(l.src[l.pos+2:], []byte("*/"))
			if n < 0 {
				return l.fail(l.pos, "a comment has no end")
			}
			l.pos += n + 4
		case c == 0xEF && l.pos == 0 && bytes.HasPrefix(l.src, []byte("\xEF\xBB\xBF")):
			l.pos = 3
		default:
			return nil
		}
	}
	return nil
}

// line moves behind the end of the line and returns it.
func (l *lexer) line() string {
	start := l.pos
	n := bytes.IndexByte(l.src[start:], '\n')
	if n < 0 {
		l.pos = len(l.src)
		return string(l.src[start:])
	}
	l.pos = start + n + 1
	return string(l.src[start : l.pos-1])
}

// quoted reads a text or name up to its closing quote, which is doubled where it
// is meant.
func (l *lexer) quoted(k kind, quote byte, escapes bool) (token, error) {
	start := l.pos
	l.pos++
	var out []byte
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		l.pos++
		switch {
		case c == quote && l.pos < len(l.src) && l.src[l.pos] == quote && quote != ']':
			l.pos++
			out = append(out, quote)
		case c == quote:
			return token{kind: k, text: string(out)}, nil
		case c == '\\' && escapes && l.pos < len(l.src):
			out = append(out, l.escape()...)
		default:
			out = append(out, c)
		}
	}
	return token{}, l.fail(start, "a %c has no end", l.src[start])
}

// escape reads what follows a backslash. An unknown one stands for its
// character, as in MySQL and PostgreSQL.
func (l *lexer) escape() []byte {
	c := l.src[l.pos]
	l.pos++
	switch c {
	case 'n':
		return []byte{'\n'}
	case 't':
		return []byte{'\t'}
	case 'r':
		return []byte{'\r'}
	case 'b':
		return []byte{'\b'}
	case 'f':
		if l.dialect == Postgres {
			return []byte{'\f'}
		}
	case '0':
		return []byte{0}
	case 'Z':
		if l.dialect == MySQL {
			return []byte{26}
		}
	case '%', '_':
		if l.dialect == MySQL {
			return []byte{'\\', c}
		}
	}
	return []byte{c}
}

// dollar reads a PostgreSQL text between $tag$ and $tag$.
func (l *lexer) dollar() (token, error) {
	start := l.pos
	n := start + 1
	for n < len(l.src) && isWord(l.src[n]) && l.src[n] != '$' {
		n++
	}
	if n >= len(l.src) || l.src[n] != '$' {
		l.pos++
		return token{kind: op, text: "$"}, nil
	}
	tag := l.src[start : n+1]
	body := l.src[n+1:]
	stop := bytes.Index(body, tag)
	if stop < 0 {
		return token{}, l.fail(start, "a %s has no end", tag)
	}
	l.pos = n + 1 + stop + len(tag)
	return token{kind: str, text: string(body[:stop])}, nil
}

func (l *lexer) number() (token, error) {
	start := l.pos
	if l.src[start] == '0' && (l.peek(1) == 'x' || l.peek(1) == 'X') {
		l.pos += 2
		digits := l.pos
		for l.pos < len(l.src) && isHex(l.src[l.pos]) {
			l.pos++
		}
		return l.hex(start, string(l.src[digits:l.pos]))
	}
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		sign := (c == '+' || c == '-') && (l.src[l.pos-1] == 'e' || l.src[l.pos-1] == 'E')
		if !isDigit(c) && c != '.' && c != 'e' && c != 'E' && !sign || sign && l.pos == start {
			break
		}
		l.pos++
	}
	return token{kind: number, text: string(l.src[start:l.pos])}, nil
}

func (l *lexer) hex(at int, digits string) (token, error) {
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	out := make([]byte, 0, len(digits)/2)
	for i := 0; i+1 < len(digits); i += 2 {
		if !isHex(digits[i]) || !isHex(digits[i+1]) {
			return token{}, l.fail(at, "found %q, want hexadecimal digits", digits)
		}
		out = append(out, unhex(digits[i])<<4|unhex(digits[i+1]))
	}
	return token{kind: blob, text: string(out)}, nil
}

// word reads a bare word, and the texts that are introduced by one: N'..',
// E'..', X'..', b'..', _utf8mb4 '..'.
func (l *lexer) word() (token, error) {
	start := l.pos
	for l.pos < len(l.src) && (isWord(l.src[l.pos]) || isDigit(l.src[l.pos])) {
		l.pos++
	}
	w := string(l.src[start:l.pos])
	if l.peek(0) == '\'' && len(w) == 1 {
		return l.introduced(w[0]|0x20, start)
	}
	if w[0] == '_' && l.dialect == MySQL {
		after := l.pos
		if err := l.skip(); err != nil {
			return token{}, err
		}
		if l.peek(0) == '\'' {
			t, err := l.quoted(str, '\'', true)
			if strings.EqualFold(w, "_binary") {
				t.kind = blob
			}
			return t, err
		}
		l.pos = after
	}
	return token{kind: word, text: w}, nil
}

func (l *lexer) introduced(letter byte, start int) (token, error) {
	switch letter {
	case 'n':
		return l.quoted(str, '\'', l.dialect == MySQL)
	case 'e':
		return l.quoted(str, '\'', true)
	case 'x':
		t, err := l.quoted(str, '\'', false)
		if err != nil {
			return t, err
		}
		return l.hex(start, t.text)
	case 'b':
		t, err := l.quoted(str, '\'', false)
		t.kind, t.text = number, binary(t.text)
		return t, err
	}
	return token{kind: word, text: string(l.src[start:l.pos])}, nil
}

// binary is the decimal spelling of binary digits.
func binary(digits string) string {
	var n uint64
	for _, d := range []byte(digits) {
		n = n<<1 | uint64(d&1)
	}
	return fmt.Sprint(n)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80 || c == '@'
}
