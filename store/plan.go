package store

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
)

// How SQLite finds the rows of a statement stands in the answer's meta, in
// SQLite's own words. The driver does not pass on how many rows a statement went
// over (sqlite3_stmt_status); what it does tell is whether that was the whole table
// or what an index leaves of it.

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
