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
func (f *finding) add(c *conn, t *table, sql string, args []driver.Value) (err error) {
	f.rows, f.counted = f.rows+c.raw.Visited(), c.raw.Visits()
	f.plan, err = c.plan(f.plan, t, sql, args)
	return err
}

// plan adds to a list how a statement finds its rows, each step once: "SEARCH Track
// USING INDEX byAlbum (AlbumId=?)", "SCAN Track". It is asked for with the values,
// since SQLite looks at them: a pattern's beginning may be found in an index, and a
// value may be among those that a partial index has.
func (c *conn) plan(list []string, t *table, sql string, args []driver.Value) ([]string, error) {
	// Too short to be interrupted, as in [conn.first].
	err := c.query(context.Background(), "EXPLAIN QUERY PLAN "+sql, args, 4, func(v []driver.Value) error {
		if step := planStep(t, fixture.Text(v[3])); !slices.Contains(list, step) {
			list = append(list, step)
		}
		return nil
	})
	return list, err
}

// planStep puts the table's name in the place of the alias.
func planStep(t *table, step string) string {
	verb, rest, _ := strings.Cut(step, " ")
	if name, how, _ := strings.Cut(rest, " "); (verb == "SCAN" || verb == "SEARCH") && name == "t" {
		return strings.TrimSuffix(verb+" "+t.name+" "+how, " ")
	}
	return step
}

// keyPlan is the plan of the statement that [table.getDirect] left in c.text. The
// values are those of a key and change nothing: it is asked for once.
func (c *conn) keyPlan(t *table, filters []filter) (list []string, err error) {
	if list = c.plans[string(c.text)]; list != nil {
		return list, nil
	}
	sql := string(c.text)
	args := make([]driver.Value, len(filters))
	for i, f := range filters {
		args[i] = f.vals[0]
	}
	if list, err = c.plan(nil, t, sql, args); err == nil {
		if len(c.plans) >= stmtLimit {
			clear(c.plans)
		}
		c.plans[sql] = list
	}
	return list, err
}
