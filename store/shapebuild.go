package store

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A shaper builds the shape of a table's rows from a declared schema, from the
// table's part of the map, or from both.
type shaper struct {
	schema *schema
	table  *table
	sh     *shape
	rules  *tableRules // nil without a map
	from   declared
	joined int
}

// newShape is the shape of rows as declared; nil where the declaration and the
// map say nothing about any column, so that rows are served as they are.
func newShape(s *schema, t *table, from declared, rules *tableRules) *shape {
	b := &shaper{schema: s, table: t, rules: rules, from: from, sh: &shape{extras: rules.extrasOf(t)}}
	props := from.properties()
	if len(props) == 0 {
		if rules == nil {
			return nil
		}
		b.sh.open = true
		b.sh.fields = b.mapped()
		return b.sh
	}
	b.sh.open = from.schema.Get("additionalProperties").True() && rules != nil
	filled := 0
	required := from.required()
	for _, m := range props {
		f, ok := b.field(m, nil, required[m.Key])
		if ok {
			b.sh.fields = append(b.sh.fields, f)
		}
		if ok && (f.at >= 0 || f.group != nil) {
			filled++
		} else if f.extra == "" {
			b.sh.absent = append(b.sh.absent, m.Key)
		}
	}
	if b.rest(props) {
		filled++
	}
	if filled == 0 {
		return nil
	}
	return b.sh
}

// rest fills a declared object of free form that is named fields or attributes
// with the columns that no declared field shows.
func (b *shaper) rest(props []canon.Member) bool {
	for i, name := range b.sh.absent {
		n := normal(name)
		inner := b.from.with(canon.NewObject(props...).Get(name))
		if n != "fields" && n != "attributes" || len(inner.properties()) > 0 || inner.schema.Get("type").Text() != "object" {
			continue
		}
		f := outField{name: string(canon.AppendString(nil, name)), at: -1, unless: -1}
		for _, col := range b.table.cols {
			shown := slices.ContainsFunc(b.sh.fields, func(f outField) bool { return f.col == col })
			if !shown && !col.hidden && col != b.sh.extras {
				f.group = append(f.group, outField{name: string(canon.AppendString(nil, col.name)), col: col, at: col.pos, unless: -1})
			}
		}
		if f.group == nil {
			return false
		}
		b.sh.absent = slices.Delete(b.sh.absent, i, i+1)
		b.insert(f, props)
		return true
	}
	return false
}

// insert puts a field at its declared place.
func (b *shaper) insert(f outField, props []canon.Member) {
	at := 0
	for _, m := range props {
		name := string(canon.AppendString(nil, m.Key))
		if name == f.name {
			break
		}
		if at < len(b.sh.fields) && b.sh.fields[at].name == name {
			at++
		}
	}
	b.sh.fields = slices.Insert(b.sh.fields, at, f)
}

// field finds what fills a declared field: what the map says, a column of its
// name, the parent row that a foreign key of its name points to, columns whose
// names begin with its own, a member of the extras.
func (b *shaper) field(m canon.Member, path []string, required bool) (outField, bool) {
	path = append(slices.Clone(path), m.Key)
	f := outField{name: string(canon.AppendString(nil, m.Key)), at: -1, unless: -1, omit: !required && !nullable(m.Value)}
	dotted := strings.Join(path, ".")
	if j := b.rules.joinOf(dotted); j != nil {
		b.joinRows(&f, j, b.from.with(m.Value))
		return f, true
	}
	col := b.rules.columnOf(b.table, dotted)
	mapped := col != nil
	if col == nil && !b.rules.isHidden(dotted) {
		if col = b.table.outColumn(path); col == nil && dotted == "id" && b.rules.names() {
			col = b.rules.id
		}
	}
	inner := b.from.with(m.Value)
	props := inner.properties()
	object := len(props) > 0 || inner.schema.Get("type").Text() == "object"
	if object && !mapped && (col == nil || col.class != classJSON) {
		if b.parent(&f, m, path, col) || b.group(&f, props, inner, path) {
			return f, true
		}
	}
	switch {
	case col != nil && !col.hidden:
		f.col, f.at, f.typ = col, col.pos, outTypeOf(inner.schema)
		return f, true
	case b.sh.extras != nil && len(path) == 1:
		f.extra = m.Key
		return f, true
	case required && nullable(m.Value):
		return f, true
	}
	return f, false
}

// nullable tells whether a schema takes null.
func nullable(schema *canon.Value) bool {
	if schema.Get("nullable").True() {
		return true
	}
	for _, e := range schema.Get("type").Elems() {
		if e.Text() == "null" {
			return true
		}
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		for _, part := range schema.Get(word).Elems() {
			if part.Get("type").Text() == "null" || part.Get("nullable").True() {
				return true
			}
		}
	}
	return false
}

// outTypeOf is the type of a field as far as it matters here.
func outTypeOf(schema *canon.Value) outType {
	types := schema.Get("type").Elems()
	if types == nil {
		types = []*canon.Value{schema.Get("type")}
	}
	for _, t := range types {
		switch t.Text() {
		case "boolean":
			return outBoolean
		case "integer", "number":
			return outNumber
		case "array", "object":
			return outJSON
		case "string":
			switch schema.Get("format").Text() {
			case "date-time":
				return outTime
			case "date":
				return outDate
			}
			return outString
		}
	}
	return outStored
}

// outColumn finds the column of a declared field by name.
func (t *table) outColumn(path []string) *column {
	n := normal(strings.Join(path, ""))
	if col := t.named(n); col != nil {
		return col
	}
	if len(path) > 1 {
		return nil
	}
	noun := singular(normal(t.name))
	if rest, ok := strings.CutPrefix(n, noun); ok && rest != "" {
		if col := t.named(rest); col != nil {
			return col
		}
	}
	return t.named(noun + n) // id is AlbumId
}

// group fills an object from columns whose names begin with the field's.
func (b *shaper) group(f *outField, props []canon.Member, from declared, path []string) bool {
	if len(path) > 3 || !b.table.hasPrefix(normal(strings.Join(path, ""))) && b.rules == nil {
		return false
	}
	if len(props) == 0 {
		for _, name := range b.rules.under(strings.Join(path, ".")) {
			props = append(props, canon.Member{Key: name, Value: canon.NewObject()})
		}
	}
	required := from.required()
	for _, m := range props {
		if inner, ok := b.field(m, path, required[m.Key]); ok && (inner.at >= 0 || inner.group != nil) {
			f.group = append(f.group, inner)
		}
	}
	return f.group != nil
}

// hasPrefix tells whether a column's name begins with a normal name and goes on.
func (t *table) hasPrefix(norm string) bool {
	return slices.ContainsFunc(t.cols, func(c *column) bool { return len(c.norm) > len(norm) && strings.HasPrefix(c.norm, norm) })
}

// wrapper finds the one object property in which a response or a body keeps the
// row: {"data": {...}}, {"ok": true, "channel": {...}}. Nil where the row is not
// wrapped.
func (s *schema) wrapper(t *table, from declared) *canon.Member {
	props := from.properties()
	outside := 0
	for _, m := range props {
		if t.outColumn([]string{m.Key}) != nil {
			outside++
		}
	}
	var best *canon.Member
	most := outside
	for i, m := range props {
		inside := 0
		for _, p := range from.with(m.Value).properties() {
			if t.outColumn([]string{p.Key}) != nil {
				inside++
			}
		}
		n := normal(m.Key)
		if inside < 2 && !envelopes[n] && n != singular(normal(t.name)) {
			continue // a part that happens to have an id
		}
		// A part of the row, as its owner is, has columns of its own name.
		if own, _ := s.foreignKey(t, n); own != nil && !envelopes[n] {
			continue
		}
		if 2*outside >= inside && !envelopes[n] && n != singular(normal(t.name)) {
			continue // a row that shows another one, as a fork its source
		}
		if inside > most && t.outColumn([]string{m.Key}) == nil && t.named(n+"id") == nil {
			best, most = &props[i], inside
		}
	}
	return best
}
