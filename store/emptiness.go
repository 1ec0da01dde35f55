package store

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// An emptiness says why a list has no rows.
type emptiness struct {
	last  int     // the filter that removed the last row, -1 when none did or it is not known
	alone []int64 // rows that each filter alone would leave, unknown where it was not counted
}

const (
	// maxReasons bounds the filters whose effect alone is counted.
	maxReasons = 16
	// passRows is the size of a table, in rows, up to which reasons are found by
	// reading it once. In a larger one only what an index finds is counted, and at
	// most so many rows of it. The bound is in rows, not in time, so that equal
	// calls have equal answers.
	passRows = 100_000
	unknown  = -1
)

// explainEmpty finds the filter that removed the last row, in the order of the
// filters, and how many rows each filter alone would leave.
func (db *DB) explainEmpty(ctx context.Context, c *conn, r *reading) (*emptiness, error) {
	if len(r.filters) == 0 || len(r.filters) > maxReasons {
		return nil, nil
	}
	small, err := db.isSmall(ctx, c, r.g.table)
	if err != nil {
		return nil, err
	}
	if small {
		return onePass(ctx, c, r.g.table, r.filters)
	}
	return byIndex(ctx, c, r.g.table, r.filters)
}

// isSmall tells whether a table has no more rows than a pass may read.
func (db *DB) isSmall(ctx context.Context, c *conn, t *table) (bool, error) {
	n, known, at := db.totals.get(t, nil)
	if !known {
		n, known, at = db.totals.size(t)
	}
	if known {
		return n <= passRows, nil
	}
	err := c.query(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+fixture.Quote(t.name)+" LIMIT ?)", []driver.Value{int64(passRows + 1)}, 1, func(v []driver.Value) error {
		n = number(v[0])
		return nil
	})
	if err == nil {
		db.totals.putSize(t, at, n)
	}
	return n <= passRows, err
}

// onePass counts for every filter, and for every first few of them together, in
// one reading of the table.
func onePass(ctx context.Context, c *conn, t *table, filters []filter) (*emptiness, error) {
	var list []string
	var args []driver.Value
	for i, f := range filters {
		sql, vals := f.term()
		list = append(list, "count(CASE WHEN "+sql+" THEN 1 END)")
		args = append(args, vals...)
		both, vals := joinTerms(filters[:i+1], " AND ", "1")
		list = append(list, "count(CASE WHEN "+both+" THEN 1 END)")
		args = append(args, vals...)
	}
	if len(args) > maxChoices {
		return byIndex(ctx, c, t, filters)
	}
	why := &emptiness{last: -1}
	sql := "SELECT " + strings.Join(list, ",") + " FROM " + fixture.Quote(t.name) + " AS t"
	return why, c.query(ctx, sql, args, len(list), func(v []driver.Value) error {
		for i := 0; i < len(v); i += 2 {
			why.alone = append(why.alone, number(v[i]))
			if why.last < 0 && number(v[i+1]) == 0 {
				why.last = i / 2
			}
		}
		return nil
	})
}

// byIndex counts what an index finds.
func byIndex(ctx context.Context, c *conn, t *table, filters []filter) (*emptiness, error) {
	why := &emptiness{last: -1}
	for _, f := range filters {
		n, err := t.countByIndex(ctx, c, f)
		if err != nil {
			return nil, err
		}
		why.alone = append(why.alone, n)
	}
	found := false // an index finds few rows for one of the filters so far
	for i := range filters {
		if why.alone[i] == 0 {
			why.last = i
			break
		}
		found = found || why.alone[i] != unknown
		if !found {
			break // which filter it was, only a reading of the table tells
		}
		if i == 0 {
			continue
		}
		var w where
		w.add(filters[:i+1]...)
		left, err := exists(ctx, c, "SELECT 1 FROM "+fixture.Quote(t.name)+" AS t"+w.sql+" LIMIT 1", w.args)
		if err != nil {
			return nil, err
		}
		if !left {
			why.last = i
			break
		}
	}
	return why, nil
}

// countByIndex counts the rows of one filter where an index finds them, and they
// are not too many.
func (t *table) countByIndex(ctx context.Context, c *conn, f filter) (n int64, err error) {
	var w where
	w.add(f)
	rows := "SELECT 1 FROM " + fixture.Quote(t.name) + " AS t" + w.sql
	scans := false
	err = c.query(ctx, "EXPLAIN QUERY PLAN "+rows, w.args, 4, func(v []driver.Value) error {
		// A full-text index is a table that is "scanned" by its own index.
		step := fixture.Text(v[3])
		scans = scans || strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, " VIRTUAL TABLE INDEX ")
		return nil
	})
	if err != nil || scans {
		return unknown, err
	}
	err = c.query(ctx, "SELECT count(*) FROM ("+rows+" LIMIT ?)", append(w.args, int64(passRows+1)), 1, func(v []driver.Value) error {
		n = number(v[0])
		return nil
	})
	if n > passRows {
		n = unknown
	}
	return n, err
}

// write adds {"empty":{"by":"status","alone":[0,3]}}. In a large table a count
// can be null, and "by" be missing: there is no index to tell.
func (e *emptiness) write(m *metaWriter, r *reading) {
	switch {
	case e.last >= 0:
		m.key("empty")
		m.dst = canon.AppendString(append(m.dst, `{"by":`...), r.filters[e.last].label())
		m.dst = append(m.dst, ',')
	case e.counted():
		return // the page is beyond the last row
	default:
		m.key("empty")
		m.dst = append(m.dst, '{')
	}
	m.dst = append(m.dst, `"alone":[`...)
	for i, n := range e.alone {
		if i > 0 {
			m.dst = append(m.dst, ',')
		}
		if n == unknown {
			m.dst = append(m.dst, "null"...)
		} else {
			m.dst = strconv.AppendInt(m.dst, n, 10)
		}
	}
	m.dst = append(m.dst, ']', '}')
}

// counted tells whether every filter was counted.
func (e *emptiness) counted() bool {
	for _, n := range e.alone {
		if n == unknown {
			return false
		}
	}
	return true
}
