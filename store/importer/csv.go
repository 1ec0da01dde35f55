package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxField bounds one field of a CSV file: a quote that is never closed must
// not read the file into memory.
const maxField = 16 << 20

// csvReader reads comma-separated values (RFC 4180) and tells quoted fields from
// others: an empty field is NULL, "" is an empty text.
type csvReader struct {
	src   *bufio.Reader
	comma byte
	line  int // of what is read next
	buf   []byte
}

// next reads one record and the line it begins at; io.EOF after the last.
// Empty lines are passed.
func (r *csvReader) next(cells []cell) (_ []cell, line int, err error) {
	for {
		line = r.line
		cells = cells[:0]
		for more := true; more; {
			var c cell
			if c, more, err = r.field(len(cells) == 0); err != nil {
				return cells, line, err
			}
			cells = append(cells, c)
		}
		if len(cells) > 1 || cells[0].kind != null {
			return cells, line, nil
		}
	}
}

// field reads a field and whether another follows in the record.
func (r *csvReader) field(first bool) (c cell, more bool, err error) {
	r.buf = r.buf[:0]
	b, err := r.src.ReadByte()
	switch {
	case err == io.EOF && first:
		return c, false, io.EOF
	case err == io.EOF:
		return c, false, nil
	case err != nil:
		return c, false, err
	case b == '"':
		return r.quotedField()
	}
	for {
		switch {
		case b == r.comma || b == '\n':
			return r.plainCell(b == '\n')
		default:
			r.buf = append(r.buf, b)
		}
		if len(r.buf) > maxField {
			return c, false, r.fail("a field is longer than %d bytes", maxField)
		}
		b, err = r.src.ReadByte()
		if err == io.EOF {
			return r.plainCell(false)
		}
		if err != nil {
			return c, false, err
		}
	}
}

func (r *csvReader) plainCell(lineEnds bool) (cell, bool, error) {
	more := !lineEnds
	if _, err := r.src.Peek(1); err == io.EOF && !lineEnds {
		more = r.lastWasComma()
	}
	text := r.buf
	if !more || lineEnds {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	if !utf8.Valid(text) {
		return cell{}, false, r.fail("found bytes that are no UTF-8 (%q)", clip(string(text)))
	}
	if lineEnds {
		r.line++
	}
	if len(text) == 0 {
		return cell{}, more, nil
	}
	if s, ok := rawText(string(text)); ok {
		return cell{kind: raw, text: s}, more, nil
	}
	return cell{kind: plain, text: string(text)}, more, nil
}

// lastWasComma tells whether the byte before the end of the file was the
// separator, so that an empty field follows.
func (r *csvReader) lastWasComma() bool {
	if r.src.UnreadByte() != nil {
		return false
	}
	b, err := r.src.ReadByte()
	return err == nil && b == r.comma
}

// quotedField reads behind an opening quote.
func (r *csvReader) quotedField() (c cell, more bool, err error) {
	start := r.line
	for {
		b, err := r.src.ReadByte()
		if err == io.EOF {
			r.line = start
			return c, false, r.fail("a quoted field has no closing quote")
		}
		if err != nil {
			return c, false, err
		}
		if b == '"' {
			if b, err = r.src.ReadByte(); b != '"' || err != nil {
				return r.afterQuote(b, err)
			}
		}
		if b == '\n' {
			r.line++
		}
		if r.buf = append(r.buf, b); len(r.buf) > maxField {
			r.line = start
			return c, false, r.fail("a field is longer than %d bytes; is a closing quote missing?", maxField)
		}
	}
}

func (r *csvReader) afterQuote(b byte, err error) (c cell, more bool, _ error) {
	if !utf8.Valid(r.buf) {
		return c, false, r.fail("found bytes that are no UTF-8 (%q)", clip(string(r.buf)))
	}
	c = cell{kind: quoted, text: string(r.buf)}
	if b == '\r' && err == nil {
		b, err = r.src.ReadByte()
	}
	switch {
	case err == io.EOF:
		return c, false, nil
	case err != nil:
		return c, false, err
	case b == r.comma:
		return c, true, nil
	case b == '\n':
		r.line++
		return c, false, nil
	}
	return c, false, r.fail("found %q behind a closing quote, want %q or the end of the line; a quote inside a field is doubled", string(b), string(r.comma))
}

// A lineError is an error at a line of the file.
type lineError struct {
	line int
	msg  string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.msg) }

func (r *csvReader) fail(format string, args ...any) error {
	return &lineError{r.line, fmt.Sprintf(format, args...)}
}

// newCSV begins to read at the header, whose names it returns.
func newCSV(src io.Reader, comma byte) (*csvReader, []string, error) {
	r := &csvReader{src: bufio.NewReaderSize(src, 64<<10), comma: comma, line: 1}
	if head, _ := r.src.Peek(3); string(head) == "\xEF\xBB\xBF" {
		if _, err := r.src.Discard(3); err != nil {
			return nil, nil, err
		}
	}
	if head, _ := r.src.Peek(2); string(head) == "\xFF\xFE" || string(head) == "\xFE\xFF" {
		return nil, nil, errors.New("the text is UTF-16; convert it with: iconv -f UTF-16 -t UTF-8")
	}
	if comma == 0 {
		r.comma = sniff(r.src)
	}
	cells, line, err := r.next(nil)
	if err == io.EOF {
		return nil, nil, errors.New("the file is empty, want a line with the columns' names")
	}
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, len(cells))
	for i, c := range cells {
		names[i] = strings.TrimSpace(c.text)
		if err := checkName(names, i); err != nil {
			return nil, nil, &lineError{line, err.Error()}
		}
	}
	return r, names, nil
}

// checkName checks the ith name of a header.
func checkName(names []string, i int) error {
	if names[i] == "" {
		return fmt.Errorf("column %d has no name; the first line names every column", i+1)
	}
	if strings.IndexByte(names[i], 0) >= 0 {
		return fmt.Errorf("the name of column %d holds a NUL character", i+1)
	}
	for j, other := range names[:i] {
		if strings.EqualFold(other, names[i]) {
			return fmt.Errorf("columns %d and %d are both named %q; SQLite does not tell letter cases apart", j+1, i+1, names[i])
		}
	}
	return nil
}

// sniff finds what separates the header's fields when the name does not say.
func sniff(src *bufio.Reader) byte {
	head, _ := src.Peek(src.Size())
	if n := bytes.IndexByte(head, '\n'); n >= 0 {
		head = head[:n]
	}
	best := byte(',')
	for _, b := range []byte(";\t|") {
		if bytes.IndexByte(head, ',') < 0 && bytes.Count(head, []byte{b}) > bytes.Count(head, []byte{best}) {
			best = b
		}
	}
	return best
}

// csvTable opens a CSV file as a table.
func csvTable(path, name string, comma byte) (*table, error) {
	if comma == 0 && strings.EqualFold(filepath.Ext(path), ".tsv") {
		comma = '\t'
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, names, err := newCSV(f, comma)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &table{name: name, file: path, columns: names, rows: func(visit func(*row) error) error {
		return readCSV(path, comma, visit)
	}}, nil
}

func readCSV(path string, comma byte, visit func(*row) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, names, err := newCSV(f, comma)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out := row{}
	for {
		out.cells, out.line, err = r.next(out.cells)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out.index++
		out.bad = ""
		if len(out.cells) != len(names) {
			out.bad = fmt.Sprintf("found %d field(s), want %d as in the first line", len(out.cells), len(names))
		}
		if err := visit(&out); err != nil {
			return err
		}
	}
}

// clip cuts a text to a readable length.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
