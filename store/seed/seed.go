package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// Options change what is made. The zero value and nil are the defaults.
type Options struct {
	// Mode says what happens where the file exists.
	Mode fixture.Mode
	// Seed decides the values.
	Seed uint32
	// Rows is how many rows a table gets; 0 is none, only the tables.
	Rows int
	// Capability limits the resources to those of a capability; "" is all.
	Capability string
	// Resources limits them by name; none is all.
	Resources []string
}

// A Report says what was made.
type Report struct {
	Tables []TableReport // by name
	Left   []string      // resources without a table: the contract declares no object that a row could be
	Notes  []string      // what of recorded answers is not in the tables
}

// A TableReport is one table.
type TableReport struct {
	Name    string
	Rows    int
	Columns int
	Key     string
	Parents []string // "column -> table"
}

// Make makes the database file at path from a contract.
func Make(ctx context.Context, path string, doc *air.Document, opts *Options) (*Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	ops, err := doc.Served(opts.Capability)
	if err != nil {
		return nil, err
	}
	all, left, names := entities(doc, ops)
	connect(all, names.rows, false)
	if all, err = choose(all, opts.Resources); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("the contract declares no resource that a table could be made of: no answer is an object with an id")
	}
	for _, e := range all {
		e.giveIDs(opts)
	}
	report := &Report{Left: left}
	err = fixture.Build(ctx, path, opts.Mode, func(db *fixture.DB) error {
		for _, e := range all {
			if err := db.Exec(e.sql()); err != nil {
				return fmt.Errorf("table %q: %w", e.noun, err)
			}
		}
		for _, e := range all {
			if err := e.fill(ctx, db, opts); err != nil {
				return fmt.Errorf("table %q: %w", e.noun, err)
			}
			report.Tables = append(report.Tables, e.report(opts.Rows))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// choose keeps the resources that were asked for and what they point to.
func choose(all []*entity, names []string) ([]*entity, error) {
	if len(names) == 0 {
		return all, nil
	}
	keep := map[*entity]bool{}
	var add func(e *entity)
	add = func(e *entity) {
		if keep[e] {
			return
		}
		keep[e] = true
		for _, c := range e.columns {
			if c.parent != nil {
				add(c.parent)
			}
		}
	}
	for _, n := range names {
		i := slices.IndexFunc(all, func(e *entity) bool { return naming.Thing(e.noun) == naming.Thing(n) })
		if i < 0 {
			var have []string
			for _, e := range all {
				have = append(have, e.noun)
			}
			return nil, fmt.Errorf("--resource %s: the contract has no such resource with rows; it has %s", n, strings.Join(have, ", "))
		}
		add(all[i])
	}
	return slices.DeleteFunc(slices.Clone(all), func(e *entity) bool { return !keep[e] }), nil
}

func (e *entity) sql() string {
	var parts, foreign []string
	for _, c := range e.columns {
		def := fixture.Quote(c.name) + " " + c.decl
		if c == e.key {
			def += " PRIMARY KEY"
			if c.decl != "INTEGER" {
				def += " NOT NULL"
			}
		}
		parts = append(parts, def)
		if c.parent != nil {
			foreign = append(foreign, "FOREIGN KEY ("+fixture.Quote(c.name)+") REFERENCES "+fixture.Quote(c.parent.noun)+" ("+fixture.Quote(c.parent.key.name)+")")
		}
	}
	if e.lookup != nil {
		names := make([]string, 0, len(e.within)+1)
		for _, c := range e.within {
			names = append(names, c.name)
		}
		foreign = append(foreign, "UNIQUE ("+fixture.QuoteAll(append(names, e.lookup.name))+")")
	}
	sql := "CREATE TABLE " + fixture.Quote(e.noun) + " (\n  " + strings.Join(append(parts, foreign...), ",\n  ") + "\n)"
	for _, c := range e.columns {
		if c.parent != nil && (e.lookup == nil || len(e.within) == 0 || c != e.within[0]) {
			sql += ";\nCREATE INDEX " + fixture.Quote(e.noun+"_"+c.name) + " ON " + fixture.Quote(e.noun) + " (" + fixture.Quote(c.name) + ")"
		}
	}
	return sql
}

func (e *entity) report(rows int) TableReport {
	r := TableReport{Name: e.noun, Rows: rows, Columns: len(e.columns), Key: e.key.name}
	for _, c := range e.columns {
		if c.parent != nil {
			r.Parents = append(r.Parents, c.name+" -> "+c.parent.noun)
		}
	}
	return r
}
