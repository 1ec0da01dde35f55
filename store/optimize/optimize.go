// Package optimize adds the indexes that a fixture database is asked for: those
// of foreign keys, and of the columns that operations filter and sort by. Content
// and digest stay as they are.
package optimize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// An Index is an index that was added, or would be.
type Index struct {
	Table  string
	Column string
	Why    string // "foreign key to Artist", "GET /albums filters by it"
}

// Plan finds the indexes that are missing: of foreign keys, and of what the
// operations ask by, as [store.DB.Inspect] tells it of a contract and a map.
// minRows leaves out tables with fewer rows, which are read as quickly without an
// index.
func Plan(ctx context.Context, db *fixture.DB, operations []store.Mapping, minRows int) ([]Index, error) {
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
		for _, m := range operations {
			p.operation(t, m)
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

// operation adds the columns that an operation which reads asks by: what its
// path and its parameters name. What a list is usually sorted by is a time.
func (p *planner) operation(t *fixture.Table, m store.Mapping) {
	if m.Does != "list" && m.Does != "read" {
		return
	}
	own := strings.EqualFold(m.Table, t.Name)
	sorts := false
	for _, b := range slices.Concat(m.Key, m.Parents, m.Filters) {
		sorts = sorts || b.Column == "(sort)"
		for _, c := range asked(b.Column) {
			if table, column, ok := strings.Cut(c, "."); ok && strings.EqualFold(table, t.Name) {
				p.add(t, column, m.Method+" "+m.Path+" asks by it")
			}
			if own {
				p.add(t, c, m.Method+" "+m.Path+" asks by it")
			}
		}
	}
	for _, c := range t.Columns {
		if n := naming.Plain(c.Name); own && sorts && (strings.HasPrefix(n, "created") || strings.HasPrefix(n, "updated")) {
			p.add(t, c.Name, m.Method+" "+m.Path+" sorts by it")
		}
	}
}

// asked are the columns in what a mapping says of a name: "name", "name gte",
// "name|other", "name by table.column". A column that has one of these in its own
// name is there as well: what is no column is passed over.
func asked(text string) []string {
	list := []string{text}
	own, via, _ := strings.Cut(text, " by ")
	for _, c := range append(strings.Split(own, "|"), strings.Split(via, "|")...) {
		name, _, _ := strings.Cut(c, " ")
		list = append(list, c, name)
	}
	return list
}
