package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A refusal is what stood in the way of an answer, as its meta tells it beside the
// table, the filters and the rows scanned until then:
//
//	"refused":{"by":"unique","columns":["team","rank"],"index":"by_rank","holder":{"id":2}}
//
// Only by is always there. holder is the row that has the value already; nearest is
// the row of parent that was probably meant.
type refusal struct {
	by      string
	fields  []string // of the body, or parameters
	table   string   // whose columns they are, "" for the table of the answer
	columns []string
	index   string
	rule    string // of a CHECK, or what a trigger says
	parent  string // the table that a foreign key looks in
	holder  []columnValue
	nearest []columnValue
}

// A columnValue is a column with a value.
type columnValue struct {
	col *column
	val driver.Value
}

// What refuses an answer.
const (
	byParameter  = "parameter"   // its value cannot be read
	byStrict     = "strict"      // a parameter that no column takes
	byCursor     = "cursor"      //
	byBody       = "body"        // fields that cannot be read, and columns that then lack a value
	byNotNull    = "not_null"    //
	byUnique     = "unique"      // a primary key too
	byCheck      = "check"       //
	byForeignKey = "foreign_key" //
	byRule       = "rule"        // a trigger, or the type of a STRICT column
	bySize       = "size"        //
	bySequence   = "sequence"    // no number is left for a new row
	byFixture    = "fixture"     // the schema names what is not there
	byReadOnly   = "read_only"   //
	byNoRow      = "no_row"      // a map's SQL gave none
	byMapping    = "mapping"     // the operation has no table
)

// because says in the error of a refusal what refused, unless that is said already.
func because(err error, why refusal) error {
	var d *domainError
	if errors.As(err, &d) && d.why.by == "" {
		d.why = why
	}
	return err
}

// columnNames are the names of columns, for a refusal.
func columnNames(cols ...*column) []string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.name
	}
	return names
}

// refused writes what refused an answer.
func (m *metaWriter) refused(why *refusal) {
	if why.by == "" {
		return
	}
	m.key("refused")
	in := &metaWriter{append(m.dst, `{"by":`...)}
	in.dst = canon.AppendString(in.dst, why.by)
	in.texts("fields", why.fields)
	in.optional("table", why.table)
	in.texts("columns", why.columns)
	in.optional("index", why.index)
	in.optional("rule", why.rule)
	in.optional("parent", why.parent)
	in.values("holder", why.holder)
	in.values("nearest", why.nearest)
	m.dst = in.end()
}

// finish gives the error of a refusal its meta, which open begins, unless it has one.
func finish(err error, open func() *metaWriter) error {
	var d *domainError
	if !errors.As(err, &d) || d.meta != nil {
		return err
	}
	m := open()
	m.refused(&d.why)
	d.meta = m.end()
	return err
}

// refused gives an error the meta of a reading that it ended.
func (r *reading) refused(err error) error {
	return finish(err, func() *metaWriter { return r.openMeta(0) })
}

// refused gives an error the meta of a change that it ended.
func (w *change) refused(err error) error {
	return finish(err, func() *metaWriter { return w.openMeta(0) })
}

// broken says which rule of the schema an error of the engine is about, and whose
// table's rule it is. The engine names columns in UNIQUE and NOT NULL, an index over
// expressions, and the text or name of a CHECK; of a foreign key it says nothing.
func broken(err error) (why refusal, about string) {
	_, about, _ = strings.Cut(err.Error(), "constraint failed: ")
	switch faultOf(err) {
	case faultNotNull:
		why.by = byNotNull
		why.name(about)
	case faultUnique:
		why.by = byUnique
		if name, ok := strings.CutPrefix(about, "index '"); ok {
			why.index = strings.TrimSuffix(name, "'")
			break
		}
		for _, part := range strings.Split(about, ", ") {
			why.name(part)
		}
	case faultCheck:
		why.by, why.rule = byCheck, about
	case faultForeignKey:
		why.by = byForeignKey
	case faultLack:
		why.by = byFixture
	case faultLarge:
		why.by = bySize
	case faultType, faultRule:
		why.by, why.rule = byRule, err.Error()
	}
	return why, about
}

// name adds a column as SQLite spells it, with its table.
func (why *refusal) name(text string) {
	table, col := splitColumn(text)
	why.table = table
	why.columns = append(why.columns, col)
}

// holding finds the index that a write met, and the row that has the values: the only
// other one with them. It is asked for after the write was rolled back. Where columns
// are computed, or an index has a part of the rows alone and several rows have the
// values, nobody can tell.
func (w *change) holding(ctx context.Context, c *conn, why *refusal) error {
	if why.table != "" || len(why.columns) == 0 {
		return nil
	}
	var cols []*column
	for _, name := range why.columns {
		col := w.table.col(name)
		if col == nil || col.generated {
			return nil
		}
		cols = append(cols, col)
	}
	index := w.table.indexOn(cols)
	why.index = index.name
	var where where
	for i, col := range cols {
		sql, args := w.becomes(col)
		if index.collations != nil {
			sql += " COLLATE " + fixture.Quote(index.collations[i])
		}
		where.and("t."+fixture.Quote(col.name)+" = "+sql, args...)
	}
	if len(w.match) > 0 {
		where.add(negate(filter{op: opAll, parts: w.match}))
	}
	names := w.target.naming()
	found := 0
	sql := "SELECT " + selectList(names, "t.") + " FROM " + fixture.Quote(w.table.name) + " AS t" + where.sql + " LIMIT 2"
	err := c.query(ctx, sql, where.args, len(names), func(v []driver.Value) error {
		found++
		why.holder = nil
		for i, col := range names {
			why.holder = append(why.holder, columnValue{col, v[i]})
		}
		return nil
	})
	if found != 1 {
		why.holder = nil
	}
	return err
}

// naming are the columns that name a row to a client.
func (g *target) naming() []*column {
	if g.rules != nil && g.rules.id != nil {
		return []*column{g.rules.id}
	}
	return g.table.key
}

// becomes is the value that a change would give a column, as SQL.
func (w *change) becomes(col *column) (string, []driver.Value) {
	if v, given := w.value(col); given {
		return "?", []driver.Value{v}
	}
	if w.verb == createRow || w.verb == replaceRow && w.resets(col) {
		return col.defaultSQL(), nil
	}
	var where where
	where.add(w.match...)
	return "(SELECT t." + fixture.Quote(col.name) + " FROM " + fixture.Quote(w.table.name) + " AS t" + where.sql + " LIMIT 1)", where.args
}
