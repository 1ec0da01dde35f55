package importer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/ndjson"
)

// maxLine bounds one line of a JSON Lines file.
const maxLine = 64 << 20

// maxWhole bounds a file that must be read whole: JSON, YAML, SQL.
const maxWhole = 2 << 30

func readWhole(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxWhole {
		return nil, fmt.Errorf("%s: the file is larger than %d bytes; give it as JSON Lines or CSV, which are read row by row", path, maxWhole)
	}
	return os.ReadFile(path)
}

// jsonTables reads a JSON file: an array of objects is a table; an object whose
// values are such arrays is one table a key; an object of objects is one table a
// key with one row each, or rows of one table when they look alike.
func jsonTables(path, name string) ([]*table, error) {
	raw, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	raw = trimBOM(raw)
	doc, err := canon.AppendCompact(nil, raw, canon.Lenient)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, syntax(raw, err))
	}
	tables, err := shape(doc, path, name, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tables, nil
}

func trimBOM(raw []byte) []byte {
	if len(raw) > 2 && string(raw[:3]) == "\xEF\xBB\xBF" {
		return raw[3:]
	}
	return raw
}

func syntax(raw []byte, err error) error {
	var s *canon.SyntaxError
	if errors.As(err, &s) {
		line, column := canon.LineColumn(raw, s.Offset)
		return fmt.Errorf("line %d, column %d: %s", line, column, s.Msg)
	}
	return err
}

const wantJSON = "want an array of objects (the rows of one table), or an object that holds such arrays (one table a key)"

// shape finds the tables in a compact document that stands under keys in the
// file. Compact text has no lines: rows are numbered, and found again in the file
// when one is bad.
func shape(doc []byte, path, name string, under []string) ([]*table, error) {
	switch {
	case doc[0] == '[':
		t, err := arrayTable(doc, path, name)
		if err != nil {
			return nil, err
		}
		t.under = under
		return []*table{t}, nil
	case doc[0] != '{':
		return nil, fmt.Errorf("found %s, %s", clip(string(doc)), wantJSON)
	}
	keys, values := members(doc)
	if len(keys) == 1 && values[0][0] == '{' { // a wrapper: {"resources": {...}}
		return shape(values[0], path, keys[0], append(under, keys[0]))
	}
	if alike(values) {
		t := keyedTable(keys, values, path, name)
		t.under = under
		return []*table{t}, nil
	}
	var tables []*table
	for i, key := range keys {
		var t *table
		var err error
		switch values[i][0] {
		case '[':
			t, err = arrayTable(values[i], path, key)
		case '{':
			t = objectTable(values[i:i+1], path, key)
		default:
			err = fmt.Errorf("it is %s", clip(string(values[i])))
		}
		if err != nil {
			return nil, fmt.Errorf("key %q: %w; %s", key, err, wantJSON)
		}
		if key == "" {
			return nil, errors.New("a key is empty, want the name of a table")
		}
		t.under = append(slices.Clone(under), key)
		tables = append(tables, t)
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("found an empty object, %s", wantJSON)
	}
	return tables, nil
}

func members(doc []byte) (keys []string, values [][]byte) {
	canon.Members(doc, func(key, val []byte) bool {
		keys, values = append(keys, canon.Unquote(key)), append(values, val)
		return true
	})
	return keys, values
}

// alike tells whether the values are objects of one kind, so that their keys
// are the ids of rows: most of all keys seen are in each.
func alike(values [][]byte) bool {
	if len(values) < 2 {
		return false
	}
	seen := map[string]int{}
	total := 0
	for _, v := range values {
		if v[0] != '{' {
			return false
		}
		canon.Members(v, func(key, _ []byte) bool {
			seen[string(key)]++
			total++
			return true
		})
	}
	return total > 0 && 2*total >= len(seen)*len(values)
}

func arrayTable(doc []byte, path, name string) (*table, error) {
	var objects [][]byte
	var bad []byte
	canon.Elements(doc, func(e []byte) bool {
		if e[0] != '{' {
			bad = e
			return false
		}
		objects = append(objects, e)
		return true
	})
	if bad != nil {
		return nil, fmt.Errorf("element %d of the array is %s, want an object", len(objects)+1, clip(string(bad)))
	}
	return objectTable(objects, path, name), nil
}

func objectTable(objects [][]byte, path, name string) *table {
	return &table{name: name, file: path, source: typed, rows: func(visit func(*row) error) error {
		var r row
		for i, o := range objects {
			r.index = i + 1
			r.fill(o)
			if err := visit(&r); err != nil {
				return err
			}
		}
		return nil
	}}
}

// keyedTable is an object of rows by their key, which becomes the column "key"
// unless the rows have it.
func keyedTable(keys []string, objects [][]byte, path, name string) *table {
	return &table{name: name, file: path, source: typed, rows: func(visit func(*row) error) error {
		var r row
		for i, o := range objects {
			r.index = i + 1
			r.names, r.cells = append(r.names[:0], "key"), append(r.cells[:0], cell{kind: text, text: keys[i]})
			r.add(o)
			if len(r.names) > 1 && r.again(0) {
				r.names, r.cells = r.names[1:], r.cells[1:]
			}
			if err := visit(&r); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (r *row) again(at int) bool {
	for _, n := range r.names[at+1:] {
		if strings.EqualFold(n, r.names[at]) {
			return true
		}
	}
	return false
}

// fill takes the members of a compact object.
func (r *row) fill(object []byte) {
	r.names, r.cells = r.names[:0], r.cells[:0]
	r.add(object)
}

func (r *row) add(object []byte) {
	canon.Members(object, func(key, val []byte) bool {
		r.names = append(r.names, canon.Unquote(key))
		r.cells = append(r.cells, jsonCell(val))
		return true
	})
}

func jsonCell(val []byte) cell {
	switch val[0] {
	case '"':
		return cell{kind: text, text: canon.Unquote(val)}
	case 't', 'f':
		return cell{kind: boolean, text: string(val)}
	case 'n':
		return cell{}
	case '{':
		if b, ok := bytesOf(val, "$base64"); ok {
			return cell{kind: blobbed, value: b}
		}
		if b, ok := bytesOf(val, "$base64text"); ok {
			return cell{kind: raw, text: string(b)}
		}
		return cell{kind: nested, text: string(val)}
	case '[':
		return cell{kind: nested, text: string(val)}
	}
	return cell{kind: number, text: string(val)}
}

// bytesOf reads how an export spells bytes: {"$base64": "..."}, and a text that is
// no UTF-8: {"$base64text": "..."}.
func bytesOf(val []byte, key string) ([]byte, bool) {
	encoded, ok := canon.Lookup(val, key)
	if !ok || encoded[0] != '"' || len(val) != len(encoded)+len(key)+len(`{"":}`) {
		return nil, false
	}
	b, err := base64.StdEncoding.DecodeString(canon.Unquote(encoded))
	return b, err == nil
}

// linesTable opens a JSON Lines file: one object a line.
func linesTable(path, name string) (*table, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return &table{name: name, file: path, source: typed, rows: func(visit func(*row) error) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return readLines(f, path, visit)
	}}, nil
}

func readLines(src io.Reader, path string, visit func(*row) error) error {
	lines := ndjson.NewReader(src, maxLine)
	var r row
	var buf []byte
	for {
		l, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		raw := l.Bytes
		if l.Number == 1 {
			raw = trimBOM(raw)
		}
		if strings.TrimSpace(string(raw)) == "" {
			continue
		}
		r.line, r.index, r.bad = l.Number, r.index+1, ""
		buf, err = canon.AppendCompact(buf[:0], raw, canon.Lenient)
		var s *canon.SyntaxError
		switch {
		case errors.As(err, &s):
			r.bad = fmt.Sprintf("column %d: %s", s.Offset+1, s.Msg)
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case buf[0] != '{':
			r.bad = fmt.Sprintf("found %s, want an object", clip(string(buf)))
		default:
			r.fill(buf)
		}
		if err := visit(&r); err != nil {
			return err
		}
	}
}
