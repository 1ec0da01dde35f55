package store

import (
	"database/sql/driver"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
)

// cursorVersion stands first in a cursor, so that another version can tell.
const cursorVersion = 1

var (
	cursorText  = base64.RawURLEncoding.Strict()
	cursorCheck = crc32.MakeTable(crc32.Castagnoli)
)

// A position is where a page begins: after a key, or at an offset.
type position struct {
	key    []driver.Value
	offset int64
}

// cursor spells a position in a table's rows of one order. Its form is:
//
//	version byte, checksum (4 bytes, over table name, order and payload), payload
//
// The payload is the offset as a varint after 'o', or the key's values after
// 'k', each a tag and its bytes. The text says nothing to a client.
func (p position) cursor(t *table, o ordering) string {
	body := []byte{'o'}
	if p.key == nil {
		body = binary.AppendUvarint(body, uint64(p.offset))
	} else {
		body[0] = 'k'
		for _, v := range p.key {
			body = appendKeyValue(body, v)
		}
	}
	out := append([]byte{cursorVersion}, binary.BigEndian.AppendUint32(nil, t.check(o, body))...)
	return cursorText.EncodeToString(append(out, body...))
}

func (t *table) check(o ordering, body []byte) uint32 {
	sum := crc32.Update(0, cursorCheck, []byte(t.name+"\x00"+o.signature()))
	return crc32.Update(sum, cursorCheck, body)
}

func appendKeyValue(dst []byte, v driver.Value) []byte {
	switch v := v.(type) {
	case int64:
		return binary.AppendVarint(append(dst, 'i'), v)
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, 'f'), math.Float64bits(v))
	case string:
		return append(binary.AppendUvarint(append(dst, 's'), uint64(len(v))), v...)
	case []byte:
		return append(binary.AppendUvarint(append(dst, 'b'), uint64(len(v))), v...)
	}
	return append(dst, 'n')
}

// parseCursor reads a cursor that was made for the table and the order.
func parseCursor(t *table, o ordering, text string) (p position, ok bool) {
	raw, err := cursorText.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || // which base64 skips
		len(raw) < 6 || raw[0] != cursorVersion {
		return p, false
	}
	body := raw[5:]
	if binary.BigEndian.Uint32(raw[1:]) != t.check(o, body) {
		return p, false
	}
	if body[0] == 'o' {
		n, size := binary.Uvarint(body[1:])
		p.offset = int64(n)
		return p, size > 0 && size == len(body)-1 && n < math.MaxInt64
	}
	rest := body[1:]
	for len(rest) > 0 {
		var v driver.Value
		if v, rest, ok = keyValue(rest); !ok {
			return p, false
		}
		p.key = append(p.key, v)
	}
	return p, body[0] == 'k' && o.total && len(p.key) == len(o.keys)
}

func keyValue(b []byte) (v driver.Value, rest []byte, ok bool) {
	tag, b := b[0], b[1:]
	switch tag {
	case 'n':
		return nil, b, true
	case 'i':
		n, size := binary.Varint(b)
		if size <= 0 {
			return nil, nil, false
		}
		return n, b[size:], true
	case 'f':
		if len(b) < 8 {
			return nil, nil, false
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), b[8:], true
	case 's', 'b':
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, nil, false
		}
		part := b[size : size+int(n)]
		if tag == 's' {
			return string(part), b[size+int(n):], true
		}
		return part, b[size+int(n):], true
	}
	return nil, nil, false
}

// start reads where a page begins. Pages and offsets are numbers where the
// contract pages so; a number is also taken where it does not say.
func (g *target) start(o ordering, cursor *string, size int) (position, error) {
	if cursor == nil || *cursor == "" {
		return position{}, nil
	}
	if g.style != stylePage && g.style != styleOffset {
		if p, ok := parseCursor(g.table, o, *cursor); ok {
			return p, nil
		}
	}
	n, err := strconv.ParseInt(*cursor, 10, 64)
	least := int64(0)
	if g.style == stylePage {
		least = 1
	}
	switch {
	case err != nil && (g.style == stylePage || g.style == styleOffset):
		err = invalid("%s wants a whole number from %d, got %q", g.style, least, clip(*cursor))
	case err != nil:
		err = invalid("the cursor %q is none of this list's; take it from the page before, or leave it out for the first page", clip(*cursor))
	case n < least || n > math.MaxInt64/int64(size)-1:
		err = invalid("the page position %d is out of range, want a number from %d", n, least)
	}
	if err != nil {
		return position{}, because(err, refusal{by: byCursor})
	}
	if g.style == stylePage {
		n = (n - 1) * int64(size)
	}
	return position{offset: n}, nil
}

// next spells where the page after this one begins, nil after the last.
func (g *target) next(p *rowsPage, q *question, cursor *string) *string {
	from, size := q.from, q.size
	if !p.more {
		return nil
	}
	var text string
	offset := from.offset + int64(size)
	switch {
	case g.style == stylePage:
		text = strconv.FormatInt(offset/int64(size)+1, 10)
	case g.style == styleOffset || from.offset > 0 && isDigits(cursor):
		text = strconv.FormatInt(offset, 10)
	case q.order.total:
		text = position{key: p.last}.cursor(g.table, q.order)
	default:
		text = position{offset: offset}.cursor(g.table, q.order)
	}
	return &text
}

func isDigits(cursor *string) bool {
	if cursor == nil {
		return false
	}
	_, err := strconv.ParseUint(*cursor, 10, 64)
	return err == nil
}
