package store

import (
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
)

// An op is how a filter compares.
type op uint8

const (
	opEqual   op = iota // one of the values; NULL too where null is set
	opNot               // the parts do not hold; NULL is different from any value
	opLess              // < the value
	opAtMost            // <=
	opMore              // >
	opAtLeast           // >=
	opLike              // LIKE the pattern, \ escapes
	opPresent           // not NULL
	opAll               // all of the parts
	opAny               // any of the parts
	opVia               // a foreign key to a parent, or what a link joins, that all of the parts find
	opMatch             // the rowid is among those that a full-text index finds
	opHolds             // a JSON array or object that has one of the values
)

// A filter keeps rows by a column's value, or by what its parts say.
type filter struct {
	col   *column
	op    op
	vals  []driver.Value // of opEqual: none matches no row
	null  bool           // opEqual: NULL matches too
	parts []filter
	ref   *column // opVia: of the link, nil for a foreign key
	index string  // opMatch: the full-text table
	param string  // what asked for it, "" for the path
}

// comparisons are the operators that SQL spells with one sign.
var comparisons = map[op]string{opLess: " < ?", opAtMost: " <= ?", opMore: " > ?", opAtLeast: " >= ?"}

// term is the filter as SQL over the alias t. The column stands bare, so that
// its affinity and collation decide and its index serves.
func (f filter) term() (sql string, args []driver.Value) {
	switch f.op {
	case opEqual:
		return f.equal()
	case opLike:
		return "t." + fixture.Quote(f.col.name) + ` LIKE ? ESCAPE '\'`, f.vals
	case opPresent:
		return "t." + fixture.Quote(f.col.name) + " IS NOT NULL", nil
	case opMatch:
		name := fixture.Quote(f.index)
		return "t." + f.col.table.rowid + " IN (SELECT rowid FROM " + name + " WHERE " + name + " MATCH ?)", f.vals
	case opVia:
		return f.via()
	case opHolds:
		return f.holds()
	case opNot:
		sql, args = joinTerms(f.parts, " AND ", "1")
		return "NOT coalesce(" + sql + ",0)", args
	case opAll:
		return joinTerms(f.parts, " AND ", "1")
	case opAny:
		return joinTerms(f.parts, " OR ", "0")
	}
	return "t." + fixture.Quote(f.col.name) + comparisons[f.op], f.vals
}

// via is the subquery that finds a parent's key by another of its columns.
func (f filter) via() (string, []driver.Value) {
	where, args := joinTerms(f.parts, " AND ", "1")
	p := f.parts[0].col.table
	ref := f.ref
	for _, fk := range f.col.table.fks {
		if refs := fk.targets(p); f.ref == nil && len(fk.cols) == 1 && fk.cols[0] == f.col && len(refs) == 1 {
			ref = refs[0]
		}
	}
	if ref == nil {
		ref = p.key[0]
	}
	return "t." + fixture.Quote(f.col.name) + " IN (SELECT t." + fixture.Quote(ref.name) + " FROM " + fixture.Quote(p.name) + " AS t WHERE " + where + ")", args
}

func (f filter) equal() (sql string, args []driver.Value) {
	col := "t." + fixture.Quote(f.col.name)
	switch n := len(f.vals); {
	case n == 0 && f.null:
		return col + " IS NULL", nil
	case n == 0:
		return "0", nil
	case f.null:
		return "(" + col + " IN (?" + strings.Repeat(",?", n-1) + ") OR " + col + " IS NULL)", f.vals
	case n == 1:
		return col + " = ?", f.vals
	default:
		return col + " IN (?" + strings.Repeat(",?", n-1) + ")", f.vals
	}
}

func joinTerms(parts []filter, word, empty string) (string, []driver.Value) {
	if len(parts) == 0 {
		return empty, nil
	}
	var b strings.Builder
	var args []driver.Value
	b.WriteByte('(')
	for i, p := range parts {
		if i > 0 {
			b.WriteString(word)
		}
		sql, more := p.term()
		b.WriteString(sql)
		args = append(args, more...)
	}
	b.WriteByte(')')
	return b.String(), args
}

// elsewhere tells whether the filter asks other tables than its own.
func (f filter) elsewhere() bool {
	return f.op == opVia || slices.ContainsFunc(f.parts, filter.elsewhere)
}

// choices counts the values that the filter binds.
func (f filter) choices() int {
	n := len(f.vals)
	for _, p := range f.parts {
		n += p.choices()
	}
	return n
}

// appendKey appends what tells the filter from any other of its table.
func (f filter) appendKey(key []byte) []byte {
	pos := 0xFFFF
	if f.col != nil {
		pos = f.col.pos
	}
	n := len(f.vals)
	key = append(key, byte(f.op), byte(pos), byte(pos>>8), byte(n), byte(n>>8), byte(bit(f.null)), byte(len(f.parts)), byte(len(f.parts)>>8))
	if f.op == opMatch {
		key = appendKeyValue(key, f.index)
	}
	if f.ref != nil {
		key = appendKeyValue(key, f.ref.table.name+"."+f.ref.name)
	}
	for _, v := range f.vals {
		key = appendKeyValue(key, v)
	}
	for _, p := range f.parts {
		key = p.appendKey(key)
	}
	return key
}

// negate turns a filter around.
func negate(f filter) filter {
	return filter{col: f.col, op: opNot, parts: []filter{f}, param: f.param}
}

// any joins filters on one column by OR; one alone is itself.
func anyOf(parts []filter) filter {
	if len(parts) == 1 {
		return parts[0]
	}
	f := filter{op: opAny, parts: parts}
	if len(parts) > 0 {
		f.col, f.param = parts[0].col, parts[0].param
	}
	return f
}

// label names the filter for meta: the column, with the operator where it is
// not equality.
func (f filter) label() string {
	names := [...]string{"", "ne", "lt", "lte", "gt", "gte", "like", "present", "", "", "", "match", ""}
	switch {
	case f.op == opNot && len(f.parts) == 1 && f.parts[0].op == opEqual && f.col != nil:
		return f.col.name + " ne"
	case f.op == opMatch:
		return f.col.table.name + " match"
	case f.ref != nil:
		return f.ref.table.name + "." + f.parts[0].col.name
	case f.op == opAll || f.op == opAny || f.op == opNot:
		if f.param != "" {
			return f.param
		}
	}
	if f.col == nil {
		return f.param
	}
	return strings.TrimSpace(f.col.name + " " + names[f.op])
}

// likePattern spells text so that LIKE takes it as it is, between head and tail.
func likePattern(head, text, tail string) string {
	return head + likeEscape.Replace(text) + tail
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// oneValue is any single value, for asking what equality would pin.
func oneValue() []driver.Value { return make([]driver.Value, 1) }
