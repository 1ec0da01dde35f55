package compare

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/export"
	"github.com/anvil-sim/anvil/store/fixture"
)

// Text is a [Visitor] that writes differences for people, like
//
//	Track: 1 added, 1 removed, 1 changed of 3503 rows
//	  + 3504  {"TrackId":3504,...}
//	  - 1  {...}
//	  ~ 2  Name: "a" -> "b"
type Text struct {
	w     *bufio.Writer
	limit int
	lines []string // of the table at hand, at most limit
	extra int
}

// NewText writes to w. At most limit differing rows a table are shown, all when
// it is 0 or less. Flush ends it.
func NewText(w io.Writer, limit int) *Text { return &Text{w: bufio.NewWriter(w), limit: limit} }

// Schema implements [Visitor].
func (t *Text) Schema(table string, side Side, fact string) error {
	sign := "+"
	if side == Removed {
		sign = "-"
	}
	if table != "" {
		table += ": "
	}
	_, err := fmt.Fprintf(t.w, "%s %s%s\n", sign, table, fact)
	return err
}

// Row implements [Visitor]. Rows wait for the table's counts, which stand above
// them; with no limit they are written at once.
func (t *Text) Row(r *Row) error {
	if t.limit > 0 && len(t.lines) == t.limit {
		t.extra++
		return nil
	}
	line := rowText(r)
	if t.limit > 0 {
		t.lines = append(t.lines, line)
		return nil
	}
	_, err := fmt.Fprintf(t.w, "%s%s\n", r.Table.Name, line[1:])
	return err
}

func rowText(r *Row) string {
	sign := [...]string{"-", "+", "~"}[r.Side]
	var b []byte
	b = append(b, "  "+sign...)
	for i, k := range r.Key {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, ' ')
		b = appendShown(b, "", k)
	}
	if r.Side != Changed {
		b = append(b, ' ')
		return string(appendValues(b, r, appendShown))
	}
	for i, c := range r.Cells {
		sep := "; "
		if i == 0 {
			sep = "  "
		}
		b = append(b, sep+c.Column+": "...)
		b = appendShown(b, c.Type, c.A)
		b = appendShown(append(b, " -> "...), c.Type, c.B)
	}
	return string(b)
}

// appendShown appends a cell for people: bytes of a text that are no UTF-8 are
// \xff, where JSON has only base64 for the whole.
func appendShown(dst []byte, decl string, v fixture.Value) []byte {
	if s, ok := v.(string); ok && !utf8.ValidString(s) {
		return strconv.AppendQuote(dst, s)
	}
	return export.AppendValue(dst, decl, v)
}

func appendValues(dst []byte, r *Row, value func(dst []byte, decl string, v fixture.Value) []byte) []byte {
	dst = append(dst, '{')
	for i, c := range r.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, r.Table.Columns[c].Name), ':')
		dst = value(dst, r.Table.Columns[c].Type, r.Values[i])
	}
	return append(dst, '}')
}

// Table implements [Visitor].
func (t *Text) Table(c Counts) error {
	if c.Added+c.Removed+c.Changed == 0 {
		return nil
	}
	how := ""
	if !c.Keyed {
		how = ", compared without a key"
	}
	rows := strconv.Itoa(c.A)
	if c.A != c.B {
		rows = fmt.Sprintf("%d -> %d", c.A, c.B)
	}
	fmt.Fprintf(t.w, "%s: %d added, %d removed, %d changed of %s rows%s\n", c.Table, c.Added, c.Removed, c.Changed, rows, how)
	for _, line := range t.lines {
		t.w.WriteString(line + "\n")
	}
	if t.extra > 0 {
		fmt.Fprintf(t.w, "  ... and %d more; --limit 0 shows all\n", t.extra)
	}
	t.lines, t.extra = t.lines[:0], 0
	return nil
}

// Flush writes what is left.
func (t *Text) Flush() error { return t.w.Flush() }

// JSONReport is a [Visitor] that writes one JSON document, row by row:
//
//	{"tables":[{"table":"t","rows":[{"side":"changed","key":[1],"cells":{"x":[1,2]}}],"added":0,...}],
//	 "schema":[{"table":"t","side":"added","fact":"column \"x\" TEXT"}],
//	 "equal":false}
type JSONReport struct {
	w      *bufio.Writer
	limit  int
	schema []byte // the facts so far
	open   string // the table whose object is open
	tables int
	rows   int
	buf    []byte
}

// NewJSON writes to w. At most limit differing rows a table are listed, all when
// it is 0 or less; the counts are whole. Flush ends it.
func NewJSON(w io.Writer, limit int) *JSONReport {
	return &JSONReport{w: bufio.NewWriter(w), limit: limit}
}

// Schema implements [Visitor].
func (j *JSONReport) Schema(table string, side Side, fact string) error {
	if len(j.schema) > 0 {
		j.schema = append(j.schema, ",\n"...)
	}
	j.schema = append(j.schema, `{"table":`...)
	j.schema = canon.AppendString(j.schema, table)
	j.schema = append(j.schema, `,"side":"`+side.String()+`","fact":`...)
	j.schema = append(canon.AppendString(j.schema, fact), '}')
	return nil
}

func (j *JSONReport) begin(table string) {
	if strings.EqualFold(j.open, table) && j.open != "" {
		return
	}
	if j.tables == 0 {
		j.w.WriteString(`{"tables":[`)
	} else {
		j.w.WriteByte(',')
	}
	j.tables++
	j.open, j.rows = table, 0
	j.w.Write(append(canon.AppendString([]byte("\n{\"table\":"), table), `,"rows":[`...))
}

// Row implements [Visitor].
func (j *JSONReport) Row(r *Row) error {
	j.begin(r.Table.Name)
	if j.rows++; j.limit > 0 && j.rows > j.limit {
		return nil
	}
	b := j.buf[:0]
	if j.rows > 1 {
		b = append(b, ',')
	}
	b = append(b, "\n{\"side\":\""+r.Side.String()+`"`...)
	if r.Key != nil {
		b = appendList(append(b, `,"key":`...), r.Key)
	}
	if r.Side != Changed {
		b = append(appendValues(append(b, `,"row":`...), r, export.AppendValue), '}')
	} else {
		b = append(b, `,"cells":{`...)
		for i, c := range r.Cells {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(canon.AppendString(b, c.Column), ":["...)
			b = append(export.AppendValue(b, c.Type, c.A), ',')
			b = append(export.AppendValue(b, c.Type, c.B), ']')
		}
		b = append(b, "}}"...)
	}
	j.buf = b
	_, err := j.w.Write(b)
	return err
}

func appendList(dst []byte, vals []fixture.Value) []byte {
	dst = append(dst, '[')
	for i, v := range vals {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = export.AppendValue(dst, "", v)
	}
	return append(dst, ']')
}

// Table implements [Visitor].
func (j *JSONReport) Table(c Counts) error {
	j.begin(c.Table)
	j.open = ""
	_, err := fmt.Fprintf(j.w, `],"added":%d,"removed":%d,"changed":%d,"equal":%d,"rowsA":%d,"rowsB":%d,"keyed":%t}`,
		c.Added, c.Removed, c.Changed, c.Equal, c.A, c.B, c.Keyed)
	return err
}

// Flush ends the document.
func (j *JSONReport) Flush(equal bool) error {
	if j.tables == 0 {
		j.w.WriteString(`{"tables":[`)
	}
	j.w.WriteString("],\n" + `"schema":[` + string(j.schema) + "],\n" + `"equal":` + strconv.FormatBool(equal) + "}\n")
	return j.w.Flush()
}
