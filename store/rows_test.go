package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

// Rows are read the same in blocks and by the driver alone, and fail the same.
func TestRows(t *testing.T) {
	db := openSQL(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, a, at DATETIME, yes BOOLEAN, j JSON, r REAL);
INSERT INTO t VALUES (1, x'', '2026-01-01', 1, '{}', 5), (2, x'00ff', 1e12, 'x', NULL, 9e999), (3, 'it''s', 1767225600, NULL, '[1]', -0.0),
 (4, '', '', 0, 'no json', NULL), (5, 9223372036854775807, NULL, 2, 3, 0.1), (6, 'née' || char(0) || 'x', x'01', '', '"a"', 'text');
WITH RECURSIVE n(i) AS (SELECT 7 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t (id, a) SELECT i, 'row ' || i FROM n`, nil)
	c := readerOf(t, db)
	table := db.schema.table("t")
	read := func(run func(context.Context, string, []driver.Value, int, func([]cell) error) error, sql string, args ...driver.Value) (out []string, err error) {
		err = run(context.Background(), sql, args, len(table.cols), func(row []cell) error {
			if len(out) == 2990 {
				return errors.New("enough")
			}
			var vals []driver.Value
			for _, v := range row {
				vals = append(vals, valueOf(v))
			}
			out = append(out, fmt.Sprintf("%s %#v", table.appendRow(nil, row), vals))
			return nil
		})
		return out, err
	}
	base := "SELECT " + table.columns + " FROM t AS t WHERE id > ? "
	for _, q := range []struct {
		sql  string
		args []driver.Value
	}{
		{base + "ORDER BY id", []driver.Value{int64(0)}},
		{base + "ORDER BY id", []driver.Value{1.5}},
		{base + "ORDER BY id", []driver.Value{"2990"}},
		{base + "ORDER BY id", []driver.Value{nil}},
		{base + "AND a = ?", []driver.Value{true, []byte{0, 255}}},
		{base + "AND json(a) IS NOT NULL", []driver.Value{int64(0)}},
	} {
		got, err := read(c.rows, q.sql, q.args...)
		want, wantErr := read(c.slowly, q.sql, q.args...)
		if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) || faultOf(err) != faultOf(wantErr) {
			t.Errorf("%s with %v: %d rows and %v in blocks, %d and %v by the driver", q.sql, q.args, len(got), err, len(want), wantErr)
		}
	}
}

// A read ends with its context, in the middle of a step too.
func TestRowsInterrupted(t *testing.T) {
	db := openSQL(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)", nil)
	c := readerOf(t, db)
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i % ? = 0"
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := c.rows(ctx, endless, []driver.Value{int64(1)}, 1, func([]cell) error {
		if n++; n == 10_000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after %d rows: got %v", n, err)
	}
	if err := c.rows(ctx, "SELECT 1", nil, 1, func([]cell) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a read with an ended context: got %v", err)
	}
	if err := c.rows(context.Background(), "SELECT 1", nil, 1, func([]cell) error { return nil }); err != nil {
		t.Errorf("the next read: got %v", err)
	}
}

// readerOf takes a connection for the test's own use.
func readerOf(t *testing.T, db *DB) *conn {
	t.Helper()
	c, err := db.reader(context.Background(), &provider.Request{RequestID: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.release(c) })
	return c
}
