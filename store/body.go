package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// How a body's fields meet columns: by name; an object's fields by both names
// (assignee.id is assignee_id), or as a row of the parent that a foreign key
// points to, found by any unique column ({"project": {"key": "ENG"}}); what is
// left goes to the extras, where the table has such a column.

// A lookup finds the value of a foreign key by a column of the parent.
type lookup struct {
	own, ref *column // of the row, of the parent's row
	by       filter
	path     bool // the path says it: without such a parent the row's place is not found
}

// envelopes are the objects in which APIs put a row's fields.
var envelopes = map[string]bool{"data": true, "fields": true, "attributes": true, "properties": true}

// fill reads the fields of a body and notes their faults. An error is about the whole.
func (w *change) fill(body []byte) error {
	if body == nil || string(body) == "null" {
		return nil
	}
	compact, err := canon.AppendCompact(nil, body, canon.Lenient)
	if err != nil {
		return because(invalid("the body: %v", err), refusal{by: byBody})
	}
	if compact[0] != '{' {
		return because(invalid("the body wants an object with columns of %s, got %s", w.table.name, describe(compact)), refusal{by: byBody})
	}
	w.fields(compact)
	return nil
}

func (w *change) fields(obj []byte) {
	canon.Members(obj, func(key, raw []byte) bool {
		name := canon.Unquote(key)
		if w.isEnvelope(name, raw) {
			w.fields(raw)
		} else {
			w.field("", name, raw)
		}
		return true
	})
}

// field reads one field of the body or, with the prefix, of an object in it.
func (w *change) field(prefix, name string, raw []byte) {
	col := w.column(prefix, name)
	if err := w.takeField(col, prefix, name, raw); err != nil {
		if prefix != "" {
			name = prefix + "." + name
		}
		w.faults.add(name, col, err)
	}
}

func (w *change) isEnvelope(name string, raw []byte) bool {
	if raw[0] != '{' || w.target.column(normal(name)) != nil {
		return false
	}
	n := normal(name)
	return w.target.bodyWrap == name || envelopes[n] || n == singular(normal(w.table.name))
}

func (w *change) takeField(col *column, prefix, name string, raw []byte) error {
	if key := w.target.key; len(key) == 1 && key[0].anywhere && key[0].param == name {
		return nil // it names the row
	}
	if raw[0] == '{' && (col == nil || col.class != classJSON && !w.target.keepsJSON(col)) && prefix == "" && w.object(name, raw) {
		return nil
	}
	if prefix != "" {
		name = prefix + "." + name
	}
	switch j := w.target.rules.joinOf(name); {
	case col == nil && j != nil, col == nil && w.once != nil && string(raw) == string(canon.AppendString(nil, *w.once)), col != nil && col.generated:
		w.ignored = append(w.ignored, name)
		return nil
	case col == nil && w.target.extras() != nil && prefix == "":
		w.extras = append(w.extras, canon.Member{Key: name, Value: mustParse(raw)})
		return nil
	case col == nil:
		return w.unknown(name)
	}
	v, err := w.target.take(col, raw)
	if err != nil {
		return err
	}
	if v == nil && col.auto && w.verb == createRow {
		return nil // the table gives the next one
	}
	if v == nil && slices.Contains(w.table.key, col) {
		return invalid("%q of %s is part of the key and must have a value", col.name, w.table.name)
	}
	return w.set(col, v)
}

// bodyField is a top-level field of a body, nil without one.
func bodyField(body []byte, name string) []byte {
	compact, err := canon.AppendCompact(nil, body, canon.Lenient)
	if err != nil {
		return nil
	}
	val, _ := canon.Lookup(compact, name)
	return val
}

// mustParse reads JSON that was compacted before.
func mustParse(raw []byte) *canon.Value {
	v, err := canon.Parse(raw, canon.Lenient)
	if err != nil {
		return canon.NewNull()
	}
	return v
}

func (w *change) column(prefix, name string) *column {
	full := name
	if prefix != "" {
		full = prefix + "." + name
	}
	if col := w.target.rules.inColumn(full); col != nil {
		return col
	}
	if prefix == "" {
		if col := w.table.col(name); col != nil && !col.hidden {
			return col
		}
	}
	if col := w.target.column(normal(full)); col != nil {
		return col
	}
	if prefix != "" {
		return nil
	}
	if col := w.target.shape.source(name); col != nil {
		return col
	}
	if j := w.target.rules.joinOf(name); j.refers() {
		return j.own
	}
	// A foreign key goes by its parent's name: assignee is assignee_gid.
	if w.schema == nil {
		return nil
	}
	if col, _ := w.schema.foreignKey(w.table, normal(name)); col != nil && !col.hidden {
		return col
	}
	return nil
}

// object reads an object that is no JSON column's value, and tells whether it was
// understood. Of one that was, each field counts as one of the body does.
func (w *change) object(name string, raw []byte) (done bool) {
	faults, ignored := len(w.faults.texts), len(w.ignored)
	var rest []canon.Member
	canon.Members(raw, func(key, val []byte) bool {
		field := canon.Unquote(key)
		if w.column(name, field) != nil {
			w.field(name, field, val)
			done = true
			return true
		}
		named, taken, err := w.parent(name, field, val)
		switch full := name + "." + field; {
		case taken:
			done = true
		case err != nil:
			w.faults.add(full, nil, err)
		case named || w.target.rules.joinOf(full) != nil:
			w.ignored = append(w.ignored, full)
		case w.target.extras() != nil:
			rest = append(rest, canon.Member{Key: field, Value: mustParse(val)})
		default:
			w.faults.add(full, nil, w.unknownIn(name, field))
		}
		return true
	})
	if !done {
		w.faults.cut(faults)
		w.ignored = w.ignored[:ignored]
	} else if rest != nil {
		w.extras = append(w.extras, canon.Member{Key: name, Value: canon.NewObject(rest...)})
	}
	return done
}

// parent notes that a foreign key is given by a unique column of its parent. named
// tells that the parent has such a field at all, an error why its value is none.
func (w *change) parent(name, field string, raw []byte) (named, taken bool, err error) {
	for _, p := range w.parentsOf(name) {
		col := p.column(field)
		if col == nil {
			if via, _ := w.schema.foreignKey(p.ref.table, normal(field)); via == nil || p.join != nil {
				continue
			}
			named = true // a row that the parent's row shows
			continue
		}
		if col.hidden {
			continue
		}
		named = true
		if taken, err = w.byColumn(p.own, p.ref, col, name+"."+field, raw); taken {
			return true, true, nil
		}
	}
	return named, false, err
}

// A parentRow is the row of another table that a body's object may name.
type parentRow struct {
	own, ref *column // the foreign key, and what it holds of the parent
	join     *joinRule
}

// column is the parent's column for a field, nil without one.
func (p *parentRow) column(field string) *column {
	if p.join != nil {
		return p.join.column(field)
	}
	return p.ref.table.outColumn([]string{field})
}

func (w *change) parentsOf(name string) (list []parentRow) {
	if w.schema == nil {
		return nil
	}
	if j := w.target.rules.joinOf(name); j.refers() {
		return []parentRow{{own: j.own, ref: j.other, join: j}}
	}
	own, _ := w.schema.foreignKey(w.table, normal(name))
	for _, fk := range w.table.fks {
		p := w.schema.table(fk.parent)
		if p == nil || own == nil || len(fk.cols) != 1 || fk.cols[0] != own {
			continue
		}
		if refs := fk.targets(p); len(refs) == 1 {
			list = append(list, parentRow{own: own, ref: refs[0]})
		}
	}
	return list
}

// byColumn notes that a column is given by another one of the row that it names.
func (w *change) byColumn(own, ref, col *column, name string, raw []byte) (bool, error) {
	if !ref.table.pins([]filter{{col: col, vals: make([]driver.Value, 1)}}) {
		return false, nil
	}
	by, err := filterOf(col, name, raw)
	if err != nil || len(by.vals) == 0 {
		return false, err
	}
	w.lookups = append(w.lookups, lookup{own: own, ref: ref, by: by})
	return true, nil
}

// lookUp finds the values of foreign keys that were given by another column.
func (w *change) lookUp(ctx context.Context, c *conn) error {
	for _, l := range w.lookups {
		var where where
		where.count(c)
		where.add(l.by)
		p := l.ref.table
		var found driver.Value
		sql := "SELECT +t." + fixture.Quote(l.ref.name) + " FROM " + fixture.Quote(p.name) + " AS t" + where.sql + " LIMIT 1"
		err := c.query(ctx, sql, where.args, 1, func(v []driver.Value) error {
			found = v[0]
			return nil
		})
		if err != nil {
			return err
		}
		if found == nil && l.path {
			return parentless(ctx, c, p, l.by.parts)
		}
		if found == nil {
			why := refusal{by: byForeignKey, columns: columnNames(l.own), parent: p.name}
			if why.nearest, err = p.nearestKey(ctx, c, []filter{l.by}); err != nil {
				return err
			}
			return because(invalid("%q of %s: there is no %s with %s", l.own.name, w.table.name, p.name, filterText([]filter{l.by})), why)
		}
		w.put(l.own, found)
	}
	return nil
}

// mergeExtras writes the fields without a column into the extras: a PATCH over
// those that are there, where null takes one away.
func (w *change) mergeExtras(ctx context.Context, c *conn) error {
	if len(w.extras) == 0 {
		return nil
	}
	col := w.target.extras()
	all := canon.NewObject()
	if w.verb == patchRow {
		var where where
		where.add(w.match...)
		sql := "SELECT +t." + fixture.Quote(col.name) + " FROM " + fixture.Quote(w.table.name) + " AS t" + where.sql + " LIMIT 1"
		err := c.query(ctx, sql, where.args, 1, func(v []driver.Value) error {
			if old, err := canon.Parse([]byte(fixture.Text(v[0])), canon.Lenient); err == nil && old.Is(canon.Object) {
				all = old
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, m := range w.extras {
		val := m.Value
		if val.Is(canon.Null) {
			val = nil
		}
		all = all.With(m.Key, val)
	}
	w.put(col, string(all.AppendJSON(nil)))
	return nil
}

func (w *change) unknown(name string) error {
	return w.noColumn(name, w.table.names())
}

// unknownIn is unknown for a field of an object, which may mean one of a parent.
func (w *change) unknownIn(name, field string) error {
	names := w.table.names()
	for _, p := range w.parentsOf(name) {
		if p.join != nil {
			for _, c := range p.join.columns {
				names = append(names, name+"."+c.name)
			}
			continue
		}
		for _, other := range p.ref.table.names() {
			names = append(names, name+"."+other)
		}
	}
	return w.noColumn(name+"."+field, names)
}

func (w *change) noColumn(name string, names []string) error {
	hint := "its columns are " + strings.Join(names, ", ")
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return invalid("%s has no column %q; %s", w.table.name, clip(name), hint)
}
