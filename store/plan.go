package store

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
)

// A finding is how SQLite found the rows of an answer: its plan, in SQLite's own
// words, and how many rows of the table it looked at for that.
type finding struct {
	plan    []string
	rows    int64
	counted bool // rows is known
}

// add adds a statement that was run, with [where.count] in it.
func (f *finding) add(c *conn, t *table, sql string, args []driver.Value) error {
	f.rows, f.counted = f.rows+c.raw.Visited(), c.raw.Visits()
	plan, err := c.plan(t, sql, args)
	if len(f.plan) == 0 {
		f.plan = plan
		return err
	}
	for _, step := range plan {
		if !slices.Contains(f.plan, step) {
			f.plan = append(slices.Clip(f.plan), step)
		}
	}
	return err
}

// plan is how a statement that was just run with args finds its rows, each step once:
// "SEARCH Track USING INDEX byAlbum (AlbumId=?)", "SCAN Track". It is asked for with
// the values, since SQLite looks at them: a pattern's beginning may be found in an
// index, and a value may be among those that a partial index has. Where it does so, it
// prepares the statement anew, and so an old plan holds until it did.
func (c *conn) plan(t *table, sql string, args []driver.Value) ([]string, error) {
	s, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	if s.planKnown() {
		return s.plan, nil
	}
	at, ok := s.Prepared() // now: room for the next statement may cost this one
	var list []string
	// Too short to be interrupted, as in [conn.first].
	err = c.query(context.Background(), "EXPLAIN QUERY PLAN "+sql, args, 4, func(v []driver.Value) error {
		if step := planStep(t, fixture.Text(v[3])); !slices.Contains(list, step) {
			list = append(list, step)
		}
		return nil
	})
	s.plan, s.at, s.planned = list, at, ok && err == nil
	return list, err
}

// planKnown tells whether the plan is as it was when it was asked for.
func (s *prepared) planKnown() bool {
	if !s.planned {
		return false
	}
	at, _ := s.Prepared()
	return at == s.at
}

// planStep puts the table's name in the place of the alias.
func planStep(t *table, step string) string {
	verb, rest, _ := strings.Cut(step, " ")
	if name, how, _ := strings.Cut(rest, " "); (verb == "SCAN" || verb == "SEARCH") && name == "t" {
		return strings.TrimSuffix(verb+" "+t.name+" "+how, " ")
	}
	return step
}

// keyPlan is the plan of the statement that [table.getDirect] left in c.text.
func (c *conn) keyPlan(t *table, filters []filter) ([]string, error) {
	if s := c.stmts[string(c.text)]; s != nil && s.planKnown() { // without a copy of the text
		return s.plan, nil
	}
	args := make([]driver.Value, len(filters))
	for i, f := range filters {
		args[i] = f.vals[0]
	}
	return c.plan(t, string(c.text), args)
}
