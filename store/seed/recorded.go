package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// A Recorded is what one answer of the real API said of a resource.
type Recorded struct {
	Operation *air.Operation
	Path      map[string]string // values of the path's parameters
	Values    []*canon.Value    // the items of a list, else the body
}

// FromRecorded makes the database file at path from a contract and recorded answers,
// in their order: the tables that [Make] makes, with the rows that were seen. What
// one answer says of a row is added to what others said of it, the last one counts;
// a row that was deleted is gone. Members that the contract does not declare become
// columns too. Mode and Capability of the options count.
//
// A row is known by the table's key; what has none is left out and told in the
// report's notes. A foreign key is declared where every row keeps it.
func FromRecorded(ctx context.Context, path string, doc *air.Document, recorded []Recorded, opts *Options) (*Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	ops, err := doc.Served(opts.Capability)
	if err != nil {
		return nil, err
	}
	all, left, names := entities(doc, ops)
	g := &gathering{notes: map[string]int{}, names: names}
	for _, e := range all {
		g.tables = append(g.tables, &rowTable{entity: e, byKey: map[string]*rowOf{}})
	}
	for _, r := range recorded {
		g.take(r)
	}
	if len(g.tables) == 0 {
		return nil, errors.New("the recordings hold no object with an id, and the contract declares none: there is no table to make")
	}
	slices.SortFunc(g.tables, func(a, b *rowTable) int { return strings.Compare(a.noun, b.noun) })
	report := &Report{}
	for _, noun := range left {
		if g.table(noun) == nil {
			report.Left = append(report.Left, noun)
		}
	}
	g.connect()
	err = fixture.Build(ctx, path, opts.Mode, func(db *fixture.DB) error { return g.build(ctx, db, report) })
	if err != nil {
		return nil, err
	}
	report.Notes = g.said()
	return report, nil
}

// A gathering is the rows of all tables.
type gathering struct {
	tables []*rowTable
	names  *nouns
	notes  map[string]int
	order  []string // of the notes
}

// A rowTable is one table with the rows that were seen.
type rowTable struct {
	*entity
	rows  []*rowOf
	byKey map[string]*rowOf
}

// A rowOf is what is known of one row: values by column name in lower case.
type rowOf struct {
	values map[string]*canon.Value
	gone   bool
}

func (g *gathering) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if g.notes[text]++; g.notes[text] == 1 {
		g.order = append(g.order, text)
	}
}

func (g *gathering) said() (list []string) {
	for _, text := range g.order {
		if n := g.notes[text]; n > 1 {
			text += fmt.Sprintf(" (%d times)", n)
		}
		list = append(list, text)
	}
	return list
}

func (g *gathering) table(noun string) *rowTable {
	for _, t := range g.tables {
		if naming.Thing(t.noun) == naming.Thing(noun) {
			return t
		}
	}
	return nil
}

// take adds what one answer says.
func (g *gathering) take(r Recorded) {
	noun := g.names.of(r.Operation)
	t := g.table(noun)
	if r.Operation.Action == "delete" || strings.EqualFold(r.Operation.Method, "DELETE") {
		if t != nil {
			t.remove(r)
		}
		return
	}
	for _, v := range r.Values {
		for _, row := range objectsFor(t, r.Operation, v) {
			if t == nil {
				t = newRowTable(noun, r.Operation, row)
				g.tables = append(g.tables, t)
			}
			if !t.add(row, r.Path) {
				g.note("%s: a row without %q was left out", t.noun, t.key.name)
			}
		}
	}
}

// objectsFor finds the rows in a value: itself, its elements, or what stands under
// the resource's name or data.
func objectsFor(t *rowTable, op *air.Operation, v *canon.Value) []*canon.Value {
	if v.Is(canon.Array) {
		return slices.DeleteFunc(slices.Clone(v.Elems()), func(e *canon.Value) bool { return !e.Is(canon.Object) })
	}
	if !v.Is(canon.Object) {
		return nil
	}
	if t != nil && t.key != nil && v.Get(t.key.name) != nil || t == nil && keyOf(propsOf(v), op.ResourceNoun(), lastParam(op.Path)) != "" {
		return []*canon.Value{v}
	}
	n := naming.Plain(op.ResourceNoun())
	for _, m := range v.Members() {
		key := naming.Plain(m.Key)
		if inner := m.Value; (key == n || naming.Singular(key) == n || key == "data" || key == "result" || key == "item") && (inner.Is(canon.Object) || inner.Is(canon.Array)) {
			if inner.Is(canon.Array) || t == nil || inner.Get(t.key.name) != nil {
				return objectsFor(t, op, inner)
			}
		}
	}
	if t != nil && (op.Action == "get" || op.Action == "create" || op.Action == "update") {
		return []*canon.Value{v} // it has no key: that is told
	}
	return nil
}

// propsOf describes an object as a schema would.
func propsOf(v *canon.Value) []canon.Member {
	var props []canon.Member
	for _, m := range v.Members() {
		props = append(props, canon.Member{Key: m.Key, Value: canon.NewObject(canon.Member{Key: "type", Value: canon.NewString(kindOf(m.Value))})})
	}
	return props
}

// kindOf is the schema type of a value.
func kindOf(v *canon.Value) string {
	switch v.Kind() {
	case canon.String:
		return "string"
	case canon.Bool:
		return "boolean"
	case canon.Number:
		if _, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
			return "integer"
		}
		return "number"
	case canon.Array, canon.Object:
		return "array"
	}
	return "null"
}

// newRowTable is the table of a resource that the contract does not describe.
func newRowTable(noun string, op *air.Operation, first *canon.Value) *rowTable {
	e := &entity{noun: noun, path: op.Path, params: op.Params}
	name := keyOf(propsOf(first), noun, lastParam(op.Path))
	if name == "" {
		name = "id"
	}
	e.key = &column{name: name, decl: declOf(canon.NewObject(canon.Member{Key: "type", Value: canon.NewString(kindOf(first.Get(name)))}))}
	e.columns = []*column{e.key}
	return &rowTable{entity: e, byKey: map[string]*rowOf{}}
}

// add takes a row; false when it has no key.
func (t *rowTable) add(v *canon.Value, path map[string]string) bool {
	key := v.Get(t.key.name)
	if !key.Is(canon.String) && !key.Is(canon.Number) {
		return false
	}
	row := t.byKey[key.Text()]
	if row == nil {
		row = &rowOf{values: map[string]*canon.Value{}}
		t.byKey[key.Text()] = row
		t.rows = append(t.rows, row)
	}
	row.gone = false
	for name, text := range path {
		if low := strings.ToLower(name); row.values[low] == nil {
			row.values[low] = canon.NewString(text)
		}
	}
	for _, m := range v.Members() {
		if c := t.of(m); c != nil {
			c.widen(t, m.Value)
			row.values[strings.ToLower(c.name)] = m.Value
		}
	}
	return true
}

// of is the column of a member, made when there is none; nil for what can be none.
func (t *rowTable) of(m canon.Member) *column {
	c := t.column(m.Key)
	if c == nil && m.Key != "" && !strings.ContainsRune(m.Key, 0) && len(t.columns) < maxProps {
		c = &column{name: m.Key}
		t.columns = append(t.columns, c)
	}
	return c
}

// widen gives a column a type that holds a value too. The type that a contract
// declares stays, unless a value is an object where none is declared.
func (c *column) widen(t *rowTable, v *canon.Value) {
	kind := kindOf(v)
	if kind == "null" {
		return
	}
	seen := declOf(canon.NewObject(canon.Member{Key: "type", Value: canon.NewString(kind)}))
	switch {
	case c.decl == "":
		c.decl = seen
	case c == t.key && c.decl == "INTEGER" && seen != "INTEGER":
		c.decl = "TEXT"
	case c.decl == seen || c.decl == "JSON":
	case seen == "JSON" && c != t.key:
		c.decl = "JSON"
	case c.schema == nil && c.decl == "INTEGER" && seen == "REAL":
		c.decl = "REAL"
	case c.schema == nil && c != t.key && !(c.decl == "REAL" && seen == "INTEGER"):
		c.decl = "JSON" // texts and numbers side by side, each as it is
	}
}

// remove takes out the row that a path names by its key or its other name.
func (t *rowTable) remove(r Recorded) {
	named, ok := r.Path[lastParam(r.Operation.Path)]
	if !ok {
		return
	}
	for _, row := range t.rows {
		for _, c := range []*column{t.key, t.lookup} {
			if c != nil && row.values[strings.ToLower(c.name)].Text() == named {
				row.gone = true
			}
		}
	}
}

// connect finds foreign keys, and keeps those that the rows keep.
func (g *gathering) connect() {
	var all []*entity
	for _, t := range g.tables {
		t.rows = slices.DeleteFunc(t.rows, func(r *rowOf) bool { return r.gone })
		for _, c := range t.columns {
			if c.decl == "" {
				c.decl = "TEXT"
			}
		}
		all = append(all, t.entity)
	}
	connect(all, g.names.rows, true)
	for _, t := range g.tables {
		if !t.keepsUnique() {
			t.lookup, t.within = nil, nil
		}
		for _, c := range t.columns {
			if c.parent != nil && !t.keeps(c, g.table(c.parent.noun)) {
				g.note("%s.%s: no foreign key to %s, since not every row it names was recorded", t.noun, c.name, c.parent.noun)
				c.parent = nil
			}
		}
	}
}

// keepsUnique reports whether no two rows have the same lookup within the same
// parents.
func (t *rowTable) keepsUnique() bool {
	if t.lookup == nil {
		return true
	}
	seen := map[string]bool{}
	for _, row := range t.rows {
		id := ""
		for _, c := range append(slices.Clone(t.within), t.lookup) {
			id += row.values[strings.ToLower(c.name)].Text() + "\x00"
		}
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// keeps reports whether every value of a column is a key of the parent.
func (t *rowTable) keeps(c *column, parent *rowTable) bool {
	for _, row := range t.rows {
		v := row.values[strings.ToLower(c.name)]
		if v == nil || v.Is(canon.Null) {
			continue
		}
		if p := parent.byKey[v.Text()]; p == nil || p.gone {
			return false
		}
	}
	return true
}

func (g *gathering) build(ctx context.Context, db *fixture.DB, report *Report) error {
	for _, t := range g.tables {
		if err := db.Exec(t.sql()); err != nil {
			return fmt.Errorf("table %q: %w", t.noun, err)
		}
	}
	for _, t := range g.tables {
		if err := t.fillRows(ctx, db); err != nil {
			return fmt.Errorf("table %q: %w", t.noun, err)
		}
		report.Tables = append(report.Tables, t.report(len(t.rows)))
	}
	return nil
}

func (t *rowTable) fillRows(ctx context.Context, db *fixture.DB) error {
	insert := t.insert()
	vals := make([]fixture.Value, len(t.columns))
	for i, row := range t.rows {
		for j, c := range t.columns {
			vals[j] = fitted(c, row.values[strings.ToLower(c.name)])
		}
		if err := db.Insert(insert, vals); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// fitted is a value as its column holds it. A path's text becomes the number that
// the column is of.
func fitted(c *column, v *canon.Value) fixture.Value {
	if c.decl == "INTEGER" && v.Is(canon.String) {
		if n, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
			return n
		}
	}
	if c.decl == "TEXT" && v.Is(canon.Number) {
		return v.Text()
	}
	return shape(c, v)
}
