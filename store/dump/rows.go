package dump

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/pattern"
)

// A Row is one row of an INSERT or COPY.
type Row struct {
	Table   string
	Columns []string // nil: the table's own, in order
	Values  []any    // nil, int64, float64, string or []byte
	Line    int
	Replace bool // REPLACE INTO
}

// ErrStop ends [Script.Rows] early and without an error.
var ErrStop = errors.New("stop")

// Rows calls visit with each row of the dump. A Row is valid until visit
// returns. What visit returns ends it.
func (s *Script) Rows(visit func(*Row) error) error {
	if err := s.check(); err != nil {
		return err
	}
	lines := lineCounter{src: s.lex.src, line: 1}
	err := s.each(func(st *statement) error {
		c := &cursor{s: s, tokens: st.tokens, last: st.end}
		switch {
		case c.take("insert"), c.peek().is("replace"):
			return s.insert(c, &lines, visit)
		case c.take("copy") && st.copied != nil:
			return s.copy(c, st, &lines, visit)
		case c.peek().is("update", "delete"):
			s.leave("UPDATE and DELETE statements")
		}
		return nil
	})
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}

// A lineCounter numbers offsets that only grow.
type lineCounter struct {
	src       []byte
	pos, line int
}

func (l *lineCounter) at(offset int) int {
	l.line += bytes.Count(l.src[l.pos:offset], []byte{'\n'})
	l.pos = offset
	return l.line
}

func (s *Script) insert(c *cursor, lines *lineCounter, visit func(*Row) error) error {
	row := Row{Replace: c.take("replace")}
	for c.take("low_priority") || c.take("delayed") || c.take("high_priority") || c.take("ignore") || c.take("or") || c.take("into") {
	}
	var err error
	if row.Table, err = c.name(); err != nil {
		return err
	}
	if c.peek().is("(") {
		if row.Columns, err = c.names(); err != nil {
			return err
		}
	}
	if c.take("overriding") {
		for !c.peek().is("values", "value") && c.peek().kind != end {
			c.next()
		}
	}
	if !c.take("values") && !c.take("value") {
		return c.fail("found %s, want VALUES: an INSERT takes its rows from the dump", c.found())
	}
	table := s.Table(row.Table)
	for {
		row.Line = lines.at(c.peek().start)
		row.Values = row.Values[:0]
		if err := c.values(&row, table); err != nil {
			return err
		}
		if err := visit(&row); err != nil {
			return err
		}
		if !c.take(",") {
			break
		}
	}
	return nil
}

// values reads one row in parentheses.
func (c *cursor) values(row *Row, t *Table) error {
	if err := c.want("("); err != nil {
		return err
	}
	for {
		v, err := c.value()
		if err != nil {
			return err
		}
		col := row.column(t, len(row.Values))
		if text, ok := v.(string); ok && col != nil && c.s.lex.dialect == MySQL {
			v = mysqlTime(text, col.Type)
		}
		row.Values = append(row.Values, shape(v, col))
		if c.take(")") {
			return nil
		}
		if err := c.want(","); err != nil {
			return err
		}
	}
}

// column is the declared column of the nth value, nil when it is not known.
func (r *Row) column(t *Table, n int) *Column {
	switch {
	case t == nil:
		return nil
	case r.Columns == nil && n < len(t.Columns):
		return &t.Columns[n]
	case r.Columns != nil && n < len(r.Columns):
		return t.column(r.Columns[n])
	}
	return nil
}

// value reads a literal; casts behind it are passed.
func (c *cursor) value() (v any, err error) {
	sign := ""
	for c.peek().is("-", "+") {
		if c.next().text == "-" {
			sign = "-"
		}
	}
	switch t := c.next(); {
	case t.kind == str:
		v = t.text
	case t.kind == blob:
		v = []byte(t.text)
	case t.kind == number:
		v = numeric(sign + t.text)
	case t.is("null"), t.is("default"):
	case t.is("true"):
		v = int64(1)
	case t.is("false"):
		v = int64(0)
	default:
		c.pos--
		return nil, c.fail("found the expression %s, want a literal value", c.found())
	}
	for c.take("::") {
		if _, err := c.name(); err != nil {
			return nil, err
		}
		for !c.peek().is(",", ")", "::") && c.peek().kind != end {
			c.skipOne()
		}
	}
	if !c.peek().is(",", ")") {
		return nil, c.fail("found %s, want \",\" or \")\": a value is a literal", c.found())
	}
	return v, nil
}

// numeric is a number as SQLite holds it: an integer or a real. One that a real
// cannot hold stays text, which a numeric column takes as near as it can.
func numeric(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return text
	}
	return f
}

// shape fits a value to how its column is kept: truth as 0 and 1, an array of
// PostgreSQL as JSON, its \x text as bytes.
func shape(v any, col *Column) any {
	text, ok := v.(string)
	if !ok || col == nil {
		if b, isBytes := v.([]byte); isBytes && col != nil && col.Type != "BLOB" && len(b) == 1 && col.Type == "BOOLEAN" {
			return int64(b[0])
		}
		return v
	}
	switch {
	case col.array:
		return arrayJSON(text)
	case col.Type == "BOOLEAN":
		switch text {
		case "t", "true", "\x01":
			return int64(1)
		case "f", "false", "\x00":
			return int64(0)
		}
	case col.Type == "BLOB" && strings.HasPrefix(text, `\x`):
		l := lexer{}
		if t, err := l.hex(0, text[2:]); err == nil {
			return []byte(t.text)
		}
	case col.Type == "BLOB":
		return []byte(text)
	}
	return text
}

// relaxedTime is how MySQL reads a date or time: any punctuation between the
// parts, which may have one digit.
var relaxedTime = pattern.Of(`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?)?$`)

// mysqlTime spells a date or time as MySQL gives it back.
func mysqlTime(s, decl string) string {
	if decl != "DATE" && decl != "DATETIME" && decl != "TIMESTAMP" {
		return s
	}
	m := relaxedTime().FindStringSubmatch(s)
	if m == nil {
		return s
	}
	two := func(digits string) string { return ("00" + digits)[len(digits):] }
	day := m[1] + "-" + two(m[2]) + "-" + two(m[3])
	if decl == "DATE" {
		return day
	}
	return day + " " + two(m[4]) + ":" + two(m[5]) + ":" + two(m[6]) + m[7]
}

// arrayJSON spells a one-dimensional PostgreSQL array as a JSON array of texts;
// anything else is left as it is.
func arrayJSON(text string) string {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return text
	}
	body := text[1 : len(text)-1]
	out := []byte{'['}
	for i := 0; i < len(body); i++ {
		var elem []byte
		quoted := body[i] == '"'
		if quoted {
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' && i+1 < len(body) {
					i++
				}
				elem = append(elem, body[i])
			}
			i++
		} else {
			for ; i < len(body) && body[i] != ','; i++ {
				elem = append(elem, body[i])
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if !quoted && string(elem) == "NULL" {
			out = append(out, "null"...)
		} else {
			out = canon.AppendString(out, elem)
		}
	}
	return string(append(out, ']'))
}

// copy reads the lines of COPY ... FROM stdin: tabs between values, \N for NULL.
func (s *Script) copy(c *cursor, st *statement, lines *lineCounter, visit func(*Row) error) error {
	row := Row{}
	var err error
	if row.Table, err = c.name(); err != nil {
		return err
	}
	if c.peek().is("(") {
		if row.Columns, err = c.names(); err != nil {
			return err
		}
	}
	table := s.Table(row.Table)
	at := st.copyAt
	for text := range bytes.Lines(st.copied) {
		row.Line = lines.at(at)
		at += len(text)
		row.Values = row.Values[:0]
		text = bytes.TrimRight(text, "\r\n")
		for cell := range bytes.SplitSeq(text, []byte{'\t'}) {
			row.Values = append(row.Values, shape(copied(cell), row.column(table, len(row.Values))))
		}
		if err := visit(&row); err != nil {
			return err
		}
	}
	return nil
}

// copied decodes one value of COPY's text format.
func copied(cell []byte) any {
	if string(cell) == `\N` {
		return nil
	}
	if bytes.IndexByte(cell, '\\') < 0 {
		return string(cell)
	}
	l := lexer{src: cell, dialect: Postgres}
	var out []byte
	for l.pos < len(cell) {
		ch := cell[l.pos]
		l.pos++
		if ch == '\\' && l.pos < len(cell) {
			out = append(out, l.escape()...)
			continue
		}
		out = append(out, ch)
	}
	return string(out)
}
