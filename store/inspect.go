package store

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// A Mapping is what one operation of the contract does with the tables.
type Mapping struct {
	OperationID, Method, Path string

	// Does is list, read, create, update, replace, delete or sql; "" where nothing
	// is mapped, and Reason says why.
	Does   string
	Reason string
	Table  string // "" for sql

	Key     []Bound // path parameters that name the row
	Parents []Bound // path parameters that filter, and fill new rows
	Filters []Bound // query parameters
	Body    []Bound // body fields
	Fields  []Bound // response fields that are not the table's own columns in order
	Sort    []string
	Ignored []string // parameters and body fields that no column takes
	Absent  []string // declared response fields that nothing fills
}

// A Bound is an API name with the column that it means, or what else it does:
// (sort), (search), (odata), (jql), (paging), (joined), (group).
type Bound struct{ Name, Column string }

// Inspect says what each operation does: of [Options.Contract] those that a
// simulator serves, in document order, or those of the derived contract.
func (db *DB) Inspect() ([]Mapping, error) {
	doc := db.opts.Contract
	if doc == nil {
		text, err := db.Contract()
		if err != nil {
			return nil, err
		}
		if doc, err = air.Parse(db.name, text); err != nil {
			return nil, err
		}
	}
	db.tellMap(operations(doc), doc)
	ops, err := doc.Served("")
	if err != nil {
		return nil, err
	}
	var out []Mapping
	for _, o := range ops {
		out = append(out, db.inspect(doc.Schemas, o))
	}
	return out, nil
}

func (db *DB) inspect(schemas *canon.Value, o *air.Operation) Mapping {
	resource := o.ResourceNoun()
	op := provider.Operation{OperationID: o.ID, ToolName: o.ToolName, Kind: provider.Kind(o.Kind()), Action: o.Action,
		Method: upperCase(o.Method), PathTemplate: o.Path, Paged: o.Paged()}
	if resource != "" {
		op.Resource = &resource
	}
	g := db.target(&op)
	m := Mapping{OperationID: o.ID, Method: op.Method, Path: o.Path, Reason: g.reason}
	switch {
	case g.custom != nil:
		m.Does = "sql"
		return m
	case g.reason != "" || g.table == nil:
		return m
	}
	for word, v := range verbs {
		if v == g.verb {
			m.Does = word
		}
	}
	m.Table, m.Key, m.Parents, m.Ignored = g.table.name, bounds(g.key), bounds(g.parents), append(m.Ignored, g.ignored...)
	for _, k := range g.table.natural().keys {
		if k.col != nil {
			m.Sort = append(m.Sort, k.col.name)
		} else {
			m.Sort = append(m.Sort, g.table.rowid)
		}
	}
	g.inspectQuery(&m, o)
	if g.verb != deleteRow && g.verb != getRow {
		g.inspectBody(&m, db.schema, schemas, o)
	}
	if sh := g.answers(); sh != nil && g.verb != deleteRow { // whose answer shows no row
		m.Absent = sh.absent
		for _, f := range sh.fields {
			m.Fields = append(m.Fields, f.bound())
		}
	}
	return m
}

func upperCase(method string) string {
	out := []byte(method)
	for i, c := range out {
		if c >= 'a' && c <= 'z' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}

func bounds(list []binding) (out []Bound) {
	for _, b := range list {
		out = append(out, Bound{b.param, b.text("")})
	}
	return out
}

// text spells what a binding names: owner_id by user.login.
func (b binding) text(prefix string) string {
	name := prefix + b.col.name
	if b.alt != nil {
		name += "|" + b.alt.name
	}
	for i, part := range b.of {
		name += [...]string{" by ", " and "}[min(i, 1)] + part.text(part.col.table.name+".")
	}
	return name
}

func (f outField) bound() Bound {
	b := Bound{Name: canon.Unquote([]byte(f.name))}
	switch {
	case f.extra != "":
		b.Column = "(extras)"
	case f.unless >= 0:
		b.Column = "(joined)"
	case f.group != nil:
		b.Column = "(group)"
	case f.col != nil:
		b.Column = f.col.name
	case f.at >= 0:
		b.Column = "(joined)"
	default:
		b.Column = "null"
	}
	return b
}

func (g *target) inspectQuery(m *Mapping, o *air.Operation) {
	for _, p := range o.Params {
		if p.In != "query" || len(g.key) == 1 && g.key[0].anywhere && g.key[0].param == p.Name {
			continue
		}
		if g.verb != listRows && g.verb != getRow {
			m.Ignored = append(m.Ignored, p.Name)
			continue
		}
		column := g.means(p.Name)
		if column == "" {
			m.Ignored = append(m.Ignored, p.Name)
			continue
		}
		m.Filters = append(m.Filters, Bound{p.Name, column})
	}
}

// means is the column that a list's parameter filters, with the comparison, or
// what else it does; "" for nothing.
func (g *target) means(name string) string {
	r := &reading{g: g}
	n := normal(name)
	col, word := g.queryColumn(name), ""
	if col == nil {
		col, word = r.suffixed(name)
	}
	switch {
	case g.pages(name):
		return "(paging)"
	case col != nil:
		return strings.TrimSpace(col.name + " " + word)
	case directionNames[n] || sortNames[n] || n == "orderby":
		return "(sort)"
	case n == "jql":
		return "(jql)"
	case textNames[n]:
		return "(search)"
	case len(name) > 1 && name[0] == '$' && (n == "filter" || n == "select" || n == "count" || n == "search"):
		return "(odata)"
	case moments[n] != "" && g.table.changed() != nil:
		return g.table.changed().name + " " + moments[n]
	}
	return ""
}

func (g *target) inspectBody(m *Mapping, s *schema, schemas *canon.Value, o *air.Operation) {
	if o.Body == nil {
		return
	}
	var names []canon.Member
	if schema := o.Body.Schema; schema != nil {
		from := declared{schemas, schema}.follow()
		if w := s.wrapper(g.table, from); w != nil {
			from = from.with(w.Value)
		}
		names = from.properties()
	}
	if names == nil {
		for _, f := range o.Body.Fields {
			names = append(names, canon.Member{Key: f.Name, Value: f.Schema})
		}
	}
	w := &change{target: g, schema: s, table: g.table, verb: g.verb}
	for _, f := range names {
		if g.verb == listRows {
			if column := g.means(f.Key); column != "" {
				m.Filters = append(m.Filters, Bound{f.Key, column})
			} else {
				m.Ignored = append(m.Ignored, f.Key)
			}
			continue
		}
		switch col := w.column("", f.Key); {
		case col != nil:
			m.Body = append(m.Body, Bound{f.Key, col.name})
		case w.target.rules.joinOf(f.Key) != nil:
			m.Ignored = append(m.Ignored, f.Key)
		case envelopes[normal(f.Key)]:
			m.Body = append(m.Body, Bound{f.Key, "(columns)"})
		case g.extras() != nil:
			m.Body = append(m.Body, Bound{f.Key, "(extras)"})
		default:
			m.Ignored = append(m.Ignored, f.Key)
		}
	}
}
