package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/provider"
)

// rules are a map, checked against the tables that it speaks of.
type rules struct {
	tables     map[*table]*tableRules
	operations map[string]*operationRules // by id, or by "GET /path"
}

// operationRules are what a map says about one operation.
type operationRules struct {
	table   *table // nil: by rule
	do      string // "" by rule
	keys    map[string]*column
	queries map[string]*column // parameter to column, nil to ignore it
	set     []assignment
	custom  *customSQL
}

// sql are the statements of the map's own.
func (r *rules) sql() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(r.operations)) {
		if c := r.operations[name].custom; c != nil {
			list = append(list, c.text)
		}
	}
	return list
}

// of are the rules of a table, nil without any.
func (r *rules) of(t *table) *tableRules {
	if r == nil {
		return nil
	}
	return r.tables[t]
}

func (r *rules) operation(op *provider.Operation) *operationRules {
	if r == nil {
		return nil
	}
	if o := r.operations[op.OperationID]; o != nil {
		return o
	}
	return r.operations[strings.ToUpper(op.Method)+" "+op.PathTemplate]
}

// overrides tells whether the map says itself what an operation does.
func (r *rules) overrides(op *provider.Operation) bool {
	o := r.operation(op)
	return o != nil && (o.custom != nil || o.table != nil)
}

// compile checks a map against the tables.
func (m *Map) compile(s *schema) (*rules, error) {
	if m == nil {
		return nil, nil
	}
	b := &mapCompiler{schema: s}
	out := &rules{tables: map[*table]*tableRules{}, operations: map[string]*operationRules{}}
	for _, name := range slices.Sorted(maps.Keys(m.file.Tables)) {
		t := b.table("tables."+name, name)
		if t != nil && m.file.Tables[name] != nil {
			out.tables[t] = b.tableRules(t, "tables."+name, m.file.Tables[name])
		}
	}
	for _, j := range b.whole {
		for _, col := range j.table.shown() {
			j.columns = append(j.columns, joinColumn{col.name, col})
		}
		b.bounded(j)
	}
	for _, name := range slices.Sorted(maps.Keys(m.file.Operations)) {
		if m.file.Operations[name] != nil {
			out.operations[name] = b.operationRules("operations."+name, m.file.Operations[name])
		}
	}
	if b.faults != nil {
		return nil, fmt.Errorf("map %s: %s", m.name, strings.Join(b.faults, "; "))
	}
	return out, nil
}

// A mapCompiler collects every fault of a map.
type mapCompiler struct {
	schema *schema
	faults []string
	whole  []*joinRule // that show every column which no table hides
}

func (b *mapCompiler) fail(at, format string, args ...any) {
	b.faults = append(b.faults, at+": "+fmt.Sprintf(format, args...))
}

func (b *mapCompiler) table(at, name string) *table {
	t := b.schema.table(name)
	if t == nil {
		names := make([]string, len(b.schema.tables))
		for i, t := range b.schema.tables {
			names[i] = t.name
		}
		b.fail(at, "there is no table %q; the tables are %s%s", name, strings.Join(names, ", "), meant(name, names))
	}
	return t
}

func meant(name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

func (b *mapCompiler) column(t *table, at, name string) *column {
	if t == nil {
		return nil
	}
	col := t.col(name)
	if col == nil {
		names := make([]string, len(t.cols))
		for i, c := range t.cols {
			names[i] = c.name
		}
		b.fail(at, "%s has no column %q; its columns are %s%s", t.name, name, strings.Join(names, ", "), meant(name, names))
	}
	return col
}

// columnAt reads a node that names a column; null is none.
func (b *mapCompiler) columnAt(t *table, at string, node *yaml.Node) *column {
	if node.Tag == "!!null" {
		return nil
	}
	if node.Kind != yaml.ScalarNode {
		b.fail(at, "line %d: want a column's name", node.Line)
		return nil
	}
	return b.column(t, at, node.Value)
}

func (b *mapCompiler) tableRules(t *table, at string, m *tableMap) *tableRules {
	r := &tableRules{columns: map[string]*column{}, joins: map[string]*joinRule{}}
	if m.ID != "" {
		r.id = b.column(t, at+".id", m.ID)
	}
	for _, n := range m.Columns {
		r.columns[n.name] = b.columnAt(t, at+".columns."+n.name, n.node)
		r.order = append(r.order, n.name)
	}
	for _, name := range m.Hidden {
		if col := b.column(t, at+".hidden", name); col != nil {
			col.hidden = true
		}
	}
	for _, name := range m.JSON {
		if col := b.column(t, at+".json", name); col != nil {
			col.class = classJSON
		}
	}
	for _, name := range m.Booleans {
		if col := b.column(t, at+".booleans", name); col != nil {
			col.class = classBoolean
		}
	}
	if m.Extras != "" {
		r.extras = b.column(t, at+".extras", m.Extras)
	}
	r.dflts = b.assignments(t, at+".defaults", m.Defaults)
	for _, name := range slices.Sorted(maps.Keys(m.Join)) {
		r.joins[name] = b.join(t, at+".join."+name, name, m.Join[name])
	}
	return r
}

func (b *mapCompiler) assignments(t *table, at string, nodes namedNodes) (out []assignment) {
	for _, n := range nodes {
		col := b.column(t, at+"."+n.name, n.name)
		ref, raw, err := constant(n.node)
		switch {
		case err != nil:
			b.fail(at+"."+n.name, "%v", err)
		case col == nil:
		case col.generated:
			b.fail(at+"."+n.name, "%q is generated and cannot be written", col.name)
		default:
			if ref == nil {
				if _, err := col.take(raw); err != nil {
					b.fail(at+"."+n.name, "%v", err)
				}
			}
			out = append(out, assignment{col: col, ref: ref, raw: raw})
		}
	}
	return out
}

// join reads {table: comments, on: {issue_id: id}, many: true, columns: [id, body]}.
func (b *mapCompiler) join(t *table, at, name string, m *joinSpec) *joinRule {
	j := &joinRule{name: name}
	if m == nil {
		b.fail(at, "want table and on")
		return j
	}
	j.many = m.Many
	if m.Limit != nil {
		if j.limit = *m.Limit; j.limit < 1 {
			b.fail(at+".limit", "found %d, want at least 1", j.limit)
		}
	}
	if j.table = b.table(at+".table", m.Table); j.table == nil {
		return j
	}
	if len(m.On) != 1 {
		b.fail(at+".on", "want one pair: a column of %s and the column of %s that it equals", j.table.name, t.name)
		return j
	}
	j.other, j.own = b.column(j.table, at+".on", m.On[0].name), b.columnAt(t, at+".on", m.On[0].node)
	if j.own == nil && b.faults == nil {
		b.fail(at+".on", "want a column of %s after %q", t.name, m.On[0].name)
	}
	for _, n := range m.Columns {
		if col := b.columnAt(j.table, at+".columns."+n.name, n.node); col != nil {
			j.columns = append(j.columns, joinColumn{n.name, col})
		}
	}
	if j.at = at; len(m.Columns) == 0 {
		b.whole = append(b.whole, j)
	}
	if !j.many && j.other != nil && !j.table.pins([]filter{{col: j.other, vals: oneValue()}}) {
		b.fail(at+".on", "more than one row of %s may have the same %q; add many: true, or a unique index", j.table.name, j.other.name)
	}
	b.bounded(j)
	return j
}

// bounded holds the columns of many joined rows under what SQLite's functions take.
func (b *mapCompiler) bounded(j *joinRule) {
	const most = 100
	if j.many && len(j.columns) > most {
		b.fail(j.at+".columns", "found %d columns, want at most %d", len(j.columns), most)
	}
}

var verbs = map[string]verb{"list": listRows, "read": getRow, "create": createRow, "update": patchRow, "replace": replaceRow, "delete": deleteRow}

func (b *mapCompiler) operationRules(at string, m *operationMap) *operationRules {
	r := &operationRules{do: m.Do, keys: map[string]*column{}, queries: map[string]*column{}}
	if _, ok := verbs[m.Do]; m.Do != "" && !ok {
		b.fail(at+".do", "found %q, want list, read, create, update, replace or delete", m.Do)
	}
	if m.SQL != "" {
		r.custom = b.custom(at, m)
		if m.Table != "" || len(m.Key)+len(m.Filters)+len(m.Set) > 0 {
			b.fail(at, "sql stands alone, without table, key, filters and set")
		}
		return r
	}
	if m.Result != "" || m.Errors.NoRow != "" || m.Errors.Constraint != "" {
		b.fail(at, "result and errors belong to sql")
	}
	if m.Table == "" {
		if len(m.Key)+len(m.Filters)+len(m.Set) > 0 || m.Do != "" {
			b.fail(at, "want a table")
		}
		return r
	}
	if r.table = b.table(at+".table", m.Table); r.table == nil {
		return r
	}
	for _, n := range m.Key {
		if col := b.columnAt(r.table, at+".key."+n.name, n.node); col != nil {
			r.keys[n.name] = col
		}
	}
	for _, n := range m.Filters {
		r.queries[n.name] = b.columnAt(r.table, at+".filters."+n.name, n.node)
	}
	r.set = b.assignments(r.table, at+".set", m.Set)
	return r
}
