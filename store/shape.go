package store

import (
	"database/sql/driver"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/native"
)

// A shape is a row as a contract declares it: which fields, in which order, of
// which types. The nil shape is the table's own: every column in table order.
type shape struct {
	fields []outField
	extras *column  // a JSON column whose members follow the fields
	open   bool     // extras show whole; else only those that are declared
	exprs  []string // what is selected after the table's columns
	joins  string   // what follows the table in FROM
	absent []string // declared fields that nothing fills
	// wrap is the property of the response that the row stands in, "" for none, and
	// beside are the row's own fields that the response has next to it.
	wrap   string
	beside []outField
}

// An outField is one field of a shaped row.
type outField struct {
	name   string // the key, quoted
	col    *column
	at     int        // index of the selected value; -1 for a group and a null
	typ    outType    //
	omit   bool       // left out when it is NULL
	group  []outField // an object of fields
	many   []outField // an array of such objects
	unless int        // a group that is null when this value is NULL; -1 for none
	extra  string     // the member of the extras that fills it, "" for none
}

// An outType is the declared type of a field, as far as it changes what is
// written.
type outType uint8

const (
	outStored  outType = iota // as the column has it
	outBoolean                // 0 and 1 become false and true
	outString                 // numbers become text
	outNumber                 // text that is a number becomes one, digits kept
	outTime                   // a time of any form becomes RFC 3339
	outDate                   //
	outJSON                   // JSON text becomes what it says
)

func (sh *shape) list(t *table) string {
	if sh == nil || len(sh.exprs) == 0 {
		return t.columns
	}
	return t.columns + "," + strings.Join(sh.exprs, ",")
}

// from is the FROM clause.
func (sh *shape) from(t *table) string {
	from := " FROM " + fixture.Quote(t.name) + " AS t"
	if sh != nil {
		from += sh.joins
	}
	return from
}

func (sh *shape) width(t *table) int {
	if sh == nil {
		return len(t.cols)
	}
	return len(t.cols) + len(sh.exprs)
}

// reads tells whether a row needs more than the table's own columns.
func (sh *shape) reads() bool { return sh != nil && len(sh.exprs) > 0 }

// appendRow appends a row as a JSON object.
func (sh *shape) appendRow(dst []byte, t *table, cells []cell) []byte {
	if sh == nil {
		return t.appendRow(dst, cells)
	}
	var extras []byte
	if sh.extras != nil {
		if c := cells[sh.extras.pos]; c.Text != "" {
			if out, err := canon.AppendCompact(nil, []byte(c.Text), canon.Lenient); err == nil && out[0] == '{' {
				extras = out
			}
		}
	}
	if sh.wrap != "" {
		dst = appendFields(append(dst, '{'), sh.beside, cells, nil)
		dst = append(canon.AppendString(comma(dst), sh.wrap), ':')
	}
	dst = appendFields(append(dst, '{'), sh.fields, cells, extras)
	if sh.open && extras != nil {
		dst = sh.appendExtras(dst, extras)
	}
	if sh.wrap != "" {
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func (sh *shape) appendExtras(dst, extras []byte) []byte {
	canon.Members(extras, func(key, val []byte) bool {
		for _, f := range sh.fields {
			if f.name == string(key) {
				return true
			}
		}
		dst = append(append(append(comma(dst), key...), ':'), val...)
		return true
	})
	return dst
}

// comma separates a member from the one before it.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

func appendFields(dst []byte, fields []outField, cells []cell, extras []byte) []byte {
	for i := range fields {
		f := &fields[i]
		var val []byte
		switch {
		case f.extra != "":
			found, ok := canon.Lookup(extras, f.extra)
			if !ok {
				continue
			}
			val = found
		case f.group != nil:
			if f.unless >= 0 && cells[f.unless].Kind == native.Null {
				if f.omit {
					continue
				}
				val = []byte("null")
				break
			}
			dst = append(append(comma(dst), f.name...), ':', '{')
			dst = append(appendFields(dst, f.group, cells, nil), '}')
			continue
		case f.many != nil:
			dst = f.appendMany(append(append(comma(dst), f.name...), ':'), cells[f.at])
			continue
		case f.at < 0:
			val = []byte("null")
		case cells[f.at].Kind == native.Null && f.omit:
			continue
		}
		dst = append(append(comma(dst), f.name...), ':')
		if val != nil {
			dst = append(dst, val...)
		} else {
			dst = f.appendValue(dst, cells[f.at])
		}
	}
	return dst
}

// appendValue appends a value as its declared type has it; one that does not
// fit stays as it is stored.
func (f *outField) appendValue(dst []byte, v cell) []byte {
	switch f.typ {
	case outBoolean:
		if b, ok := truth(valueOf(v)); ok {
			if b {
				return append(dst, "true"...)
			}
			return append(dst, "false"...)
		}
	case outString:
		if v.Kind == native.Integer || v.Kind == native.Real {
			dst = append(dst, '"')
			return append(plainColumn.appendCell(dst, v), '"')
		}
	case outNumber:
		if v.Kind == native.Text && canon.IsNumber(v.Text) {
			return append(dst, v.Text...)
		}
	case outTime, outDate:
		if f.typ == outTime && len(v.Text) > 19 && strings.Contains(v.Text, "T") {
			break // has its zone or fraction: as the fixture's author wrote it
		}
		if at, ok := readTime(valueOf(v)); ok {
			if f.typ == outDate {
				return canon.AppendString(dst, at.Format("2006-01-02"))
			}
			return canon.AppendString(dst, at.Format(timeText(v.Text)))
		}
	case outJSON:
		if v.Kind == native.Text {
			if out, err := canon.AppendCompact(dst, []byte(v.Text), canon.Lenient); err == nil {
				return out
			}
		}
	}
	if f.col == nil {
		return plainColumn.appendCell(dst, v)
	}
	return f.col.appendCell(dst, v)
}

// plainColumn writes a value without regard to a column.
var plainColumn = &column{}

func truth(v driver.Value) (value, ok bool) {
	switch v := v.(type) {
	case int64:
		return v == 1, v == 0 || v == 1
	case string:
		switch strings.ToLower(v) {
		case "true", "t", "1", "yes":
			return true, true
		case "false", "f", "0", "no":
			return false, true
		}
	}
	return false, false
}
