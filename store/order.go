package store

import (
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
)

// A sortKey is one column that rows are ordered by; nil is the rowid.
type sortKey struct {
	col  *column
	desc bool
}

// An ordering is what rows are ordered by, in the order of weight. One that a
// cursor can continue in is total: no two rows are equal in it.
type ordering struct {
	keys   []sortKey
	sorted bool // the request asked for it
	total  bool
}

// natural is the order that rows have when nobody asks for another: by primary
// key, else by rowid.
func (t *table) natural() ordering {
	var o ordering
	for _, c := range t.order {
		o.keys = append(o.keys, sortKey{col: c})
	}
	if len(o.keys) == 0 && t.rowid != "" {
		o.keys = []sortKey{{}}
	}
	o.total = len(o.keys) > 0
	return o
}

// sortedBy completes what a request asks for: the primary key comes last, in
// the direction of the last column asked for, so that an index on that column
// gives both.
func (t *table) sortedBy(keys []sortKey) ordering {
	if len(keys) == 0 {
		return t.natural()
	}
	o := ordering{keys: keys, sorted: true}
	last := keys[len(keys)-1].desc
	tail := t.natural()
	for _, k := range tail.keys {
		if !o.has(k.col) {
			o.keys = append(o.keys, sortKey{k.col, last})
		}
	}
	o.total = tail.total
	return o
}

func (o ordering) has(col *column) bool {
	for _, k := range o.keys {
		if k.col == col {
			return true
		}
	}
	return false
}

func (t *table) keyTerm(k sortKey) string {
	if k.col == nil {
		return "t." + t.rowid
	}
	return "t." + fixture.Quote(k.col.name)
}

// clause is the ORDER BY clause, "" where the rows have no order.
func (t *table) clause(o ordering) string {
	var b strings.Builder
	for i, k := range o.keys {
		b.WriteString([...]string{" ORDER BY ", ","}[min(i, 1)])
		b.WriteString(t.keyTerm(k))
		if k.desc {
			b.WriteString(" DESC")
		}
	}
	return b.String()
}

// signature tells one asked-for order from another in a cursor's checksum.
func (o ordering) signature() string {
	if !o.sorted {
		return ""
	}
	var b strings.Builder
	for _, k := range o.keys {
		b.WriteString([...]string{"+", "-"}[bit(k.desc)])
		if k.col != nil {
			b.WriteString(k.col.name)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// keyOf reads the cursor key of a selected row; the rowid is selected last.
func (o ordering) keyOf(row []cell) []driver.Value {
	key := make([]driver.Value, len(o.keys))
	for i, k := range o.keys {
		if k.col == nil {
			key[i] = valueOf(row[len(row)-1])
		} else {
			key[i] = valueOf(row[k.col.pos])
		}
	}
	return key
}

// canBeNull tells whether a column may hold NULL.
func (k sortKey) canBeNull() bool {
	return k.col != nil && !k.col.notNull && !k.col.auto && !slices.Contains(k.col.table.order, k.col)
}

// runs are the conditions that find the rows after a key by index, one run each.
// NULL comes first upwards and last downwards, and no comparison reaches it, so
// what follows a key is up to two runs.
func (t *table) runs(o ordering, key []driver.Value) []where {
	first, rest := o.keys[0], o.keys[1:]
	// The natural order of a table has no NULL in it.
	if !first.canBeNull() || !o.sorted {
		return []where{t.afterKey(o.keys, key, !o.sorted)}
	}
	term := t.keyTerm(first)
	if key[0] == nil {
		same := where{}
		same.and(term + " IS NULL")
		if len(rest) == 0 {
			return nil
		}
		sql, args := t.stepAfter(rest, key[1:])
		same.and(sql, args...)
		if first.desc {
			return []where{same}
		}
		other := where{}
		other.and(term + " IS NOT NULL")
		return []where{same, other}
	}
	after := t.afterKey(o.keys, key, false)
	if !first.desc {
		return []where{after}
	}
	nulls := where{}
	nulls.and(term + " IS NULL")
	return []where{after, nulls}
}

// afterKey keeps the rows after a key whose first value is not NULL, of those
// that are not NULL in the first column.
func (t *table) afterKey(keys []sortKey, key []driver.Value, plain bool) (w where) {
	sign := func(k sortKey) string { return [...]string{" > ", " < "}[bit(k.desc)] }
	first := t.keyTerm(keys[0])
	if len(keys) == 1 {
		w.and(first+sign(keys[0])+"?", key[0])
		return w
	}
	if plain || oneWay(keys) && !anyNull(key) {
		// NULL in a later column makes the comparison of rows NULL where it counts,
		// so this form is for columns that cannot hold it.
		terms := make([]string, len(keys))
		for i, k := range keys {
			terms[i] = t.keyTerm(k)
		}
		w.and("("+strings.Join(terms, ",")+")"+sign(keys[0])+"(?"+strings.Repeat(",?", len(keys)-1)+")", key...)
		return w
	}
	w.and(first+[...]string{" >= ?", " <= ?"}[bit(keys[0].desc)], key[0])
	sql, args := t.stepAfter(keys[1:], key[1:])
	w.and("("+first+sign(keys[0])+"? OR "+sql+")", append([]driver.Value{key[0]}, args...)...)
	return w
}

// stepAfter is the condition of being after a key column by column, NULLs in
// their place.
func (t *table) stepAfter(keys []sortKey, key []driver.Value) (sql string, args []driver.Value) {
	k, term := keys[0], t.keyTerm(keys[0])
	switch {
	case key[0] == nil && k.desc:
		sql = "0"
	case key[0] == nil:
		sql = term + " IS NOT NULL"
	case k.desc && k.canBeNull():
		sql, args = "("+term+" < ? OR "+term+" IS NULL)", key[:1:1]
	case k.desc:
		sql, args = term+" < ?", key[:1:1]
	default:
		sql, args = term+" > ?", key[:1:1]
	}
	if len(keys) == 1 {
		return sql, args
	}
	more, rest := t.stepAfter(keys[1:], key[1:])
	args = append(append(args, key[0]), rest...)
	return "(" + sql + " OR " + term + " IS ? AND " + more + ")", args
}

// oneWay tells whether the columns go in one direction and, but for the first,
// hold no NULL.
func oneWay(keys []sortKey) bool {
	for _, k := range keys[1:] {
		if k.desc != keys[0].desc || k.canBeNull() {
			return false
		}
	}
	return true
}

func anyNull(key []driver.Value) bool {
	for _, v := range key {
		if v == nil {
			return true
		}
	}
	return false
}
