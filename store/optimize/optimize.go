// Package optimize adds the indexes that a fixture database is asked for: those
// of foreign keys, and of the columns that a contract's list operations filter and
// sort by. Content and digest stay as they are.
package optimize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// An Index is an index that was added, or would be.
type Index struct {
	Table  string
	Column string
	Why    string // "foreign key to Artist", "GET /albums filters by it"
}

// Plan finds the indexes that are missing. doc may be nil: then only foreign
// keys count. minRows leaves out tables with fewer rows, which are read as
// quickly without an index.
func Plan(ctx context.Context, db *fixture.DB, doc *air.Document, minRows int) ([]Index, error) {
	schema, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	p := planner{ctx: ctx, db: db, have: map[string]bool{}}
	for _, t := range schema.Tables {
		if t.Virtual {
			continue
		}
		if ok, err := p.large(t, minRows); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := p.read(t); err != nil {
			return nil, err
		}
		for _, f := range t.Foreign {
			p.add(t, f.Columns[0], "foreign key to "+f.Parent)
		}
		if doc != nil {
			p.contract(t, doc)
		}
	}
	return p.found, nil
}

// Apply adds indexes to the database file at path and gathers what SQLite's
// planner wants to know. The file is as it was or as it shall be, never between.
func Apply(ctx context.Context, path string, indexes []Index) error {
	return fixture.Build(ctx, path, fixture.Into, func(db *fixture.DB) error {
		for _, x := range indexes {
			name, err := freeName(ctx, db, "anvil_"+x.Table+"_"+x.Column)
			if err != nil {
				return err
			}
			if err := db.Exec("CREATE INDEX " + fixture.Quote(name) + " ON " + fixture.Quote(x.Table) + " (" + fixture.Quote(x.Column) + ")"); err != nil {
				return fmt.Errorf("index on %s.%s: %w", x.Table, x.Column, err)
			}
		}
		return db.Exec("ANALYZE")
	})
}

func freeName(ctx context.Context, db *fixture.DB, name string) (string, error) {
	for i := 1; ; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s_%d", name, i)
		}
		n, err := db.Int(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = ? COLLATE NOCASE", try)
		if err != nil || n == 0 {
			return try, err
		}
	}
}

type planner struct {
	ctx   context.Context
	db    *fixture.DB
	have  map[string]bool // table and first column of an index, in lower case
	found []Index
}

func (p *planner) large(t *fixture.Table, minRows int) (bool, error) {
	n, err := p.db.Int(p.ctx, "SELECT count(*) FROM (SELECT 1 FROM "+fixture.Quote(t.Name)+" LIMIT ?)", int64(minRows))
	return n >= int64(minRows), err
}

// read learns what is indexed already: the first column of each index.
func (p *planner) read(t *fixture.Table) error {
	if len(t.Key) > 0 {
		p.have[keyOf(t.Name, t.Columns[t.Key[0]].Name)] = true
	}
	const first = `SELECT i.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i
		WHERE i.seqno = 0 AND l.partial = 0 AND i.name IS NOT NULL ORDER BY i.name`
	return p.db.Query(p.ctx, first, []fixture.Value{t.Name}, 1, func(v []fixture.Value) error {
		name, _ := v[0].(string)
		p.have[keyOf(t.Name, name)] = true
		return nil
	})
}

func keyOf(table, column string) string { return strings.ToLower(table + "\x00" + column) }

func (p *planner) add(t *fixture.Table, column, why string) {
	k := keyOf(t.Name, column)
	i := t.Column(column)
	if i < 0 || p.have[k] || t.Columns[i].Generated {
		return
	}
	switch decl := strings.ToUpper(t.Columns[i].Type); {
	case strings.HasPrefix(decl, "JSON"), strings.HasPrefix(decl, "BOOL"), strings.HasPrefix(decl, "BLOB"):
		return // no value of these picks few rows
	}
	p.have[k] = true
	p.found = append(p.found, Index{Table: t.Name, Column: t.Columns[i].Name, Why: why})
}

// contract adds the columns that the operations on the table's resource filter
// by: parameters in path and query that are named like them. What a list is
// usually sorted by is a time.
func (p *planner) contract(t *fixture.Table, doc *air.Document) {
	ops, err := doc.Served("")
	if err != nil {
		return
	}
	for _, o := range ops {
		if o.EffectKind != "read" || !naming.SameThing(t.Name, o.ResourceNoun()) {
			continue
		}
		for _, param := range o.Params {
			if param.In != "path" && param.In != "query" {
				continue
			}
			for _, c := range t.Columns {
				if n := naming.Plain(param.Name); n == naming.Plain(c.Name) || n == naming.Plain(t.Name)+naming.Plain(c.Name) || n == naming.Singular(naming.Plain(t.Name))+naming.Plain(c.Name) {
					p.add(t, c.Name, strings.ToUpper(o.Method)+" "+o.Path+" asks by it")
				}
			}
		}
		if o.Paged() {
			p.sorts(t, o)
		}
	}
}

// sorts adds the times that a list with a sort parameter is sorted by.
func (p *planner) sorts(t *fixture.Table, o *air.Operation) {
	sortable := slices.ContainsFunc(o.Params, func(x *air.Param) bool {
		n := naming.Plain(x.Name)
		return x.In == "query" && (strings.Contains(n, "sort") || strings.Contains(n, "order"))
	})
	for _, c := range t.Columns {
		if n := naming.Plain(c.Name); sortable && (strings.HasPrefix(n, "created") || strings.HasPrefix(n, "updated")) {
			p.add(t, c.Name, strings.ToUpper(o.Method)+" "+o.Path+" sorts by it")
		}
	}
}
