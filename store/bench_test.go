package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

const benchRows = 100_000

var benchSQL = fmt.Sprintf(`CREATE TABLE tickets (id INTEGER PRIMARY KEY, subject TEXT, status TEXT, priority INTEGER, score REAL, created_at DATETIME, body TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
INSERT INTO tickets SELECT i, 'Ticket number ' || i, CASE i %% 4 WHEN 0 THEN 'open' WHEN 1 THEN 'pending' WHEN 2 THEN 'solved' ELSE 'closed' END,
  i %% 5, i / 7.0, '2026-01-01T00:00:00Z', 'A body of some length, as tickets have, with "quotes" in it: ' || i FROM n;
CREATE INDEX by_status ON tickets (status, id);`, benchRows)

// bare opens the same rows with database/sql, the limit that the store is
// measured against in the same run.
func bare(b *testing.B, query string) *sql.Stmt {
	path := filepath.Join(b.TempDir(), "bare.db")
	db, err := sql.Open("sqlite3", dsn(path, accessCopy))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if _, err := db.Exec(benchSQL); err != nil {
		b.Fatal(err)
	}
	st, err := db.Prepare(query)
	if err != nil {
		b.Fatal(err)
	}
	return st
}

// scan reads every row of a query as a program would.
func scan(b *testing.B, st *sql.Stmt, args ...any) {
	rows, err := st.Query(args...)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, priority int64
		var subject, status, created, body string
		var score float64
		if err := rows.Scan(&id, &subject, &status, &priority, &score, &created, &body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		st := bare(b, "SELECT * FROM tickets WHERE id = ?")
		n := 0
		for b.Loop() {
			n = n%benchRows + 1
			scan(b, st, n)
		}
	})
	b.Run("store", func(b *testing.B) {
		db := openSQL(b, benchSQL, nil)
		req := call{id: "tickets.get", path: "id=1"}.request(b, db)
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			n = n%benchRows + 1
			req.Params.Path[0].Value = fmt.Append(nil, n)
			invokeBench(b, db, req)
		}
	})
}

func BenchmarkPage(b *testing.B) {
	const all = "SELECT * FROM tickets WHERE id > ? ORDER BY id LIMIT 50"
	const open = "SELECT * FROM tickets WHERE status = 'open' AND id > ? ORDER BY id LIMIT 50"
	for _, c := range []struct {
		name, bare, query string
		after             int64
	}{
		{"first", all, "", 0}, {"last", all, "", benchRows - 60},
		{"filtered-first", open, `status=["open"]`, 0}, {"filtered-last", open, `status=["open"]`, benchRows - 250},
	} {
		b.Run(c.name+"/bare", func(b *testing.B) {
			st := bare(b, c.bare)
			for b.Loop() {
				scan(b, st, c.after)
			}
		})
		b.Run(c.name+"/store", func(b *testing.B) {
			db := openSQL(b, benchSQL, nil)
			one := call{id: "tickets.list", query: c.query, size: 50}
			if c.after > 0 {
				one.cursor = position{key: keyValues(c.after)}.cursor(db.schema.tables[0], db.schema.tables[0].natural())
			}
			req := one.request(b, db)
			b.ReportAllocs()
			for b.Loop() {
				invokeBench(b, db, req)
			}
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		st := bare(b, "INSERT INTO tickets (subject, status) VALUES (?, ?)")
		for b.Loop() {
			if _, err := st.Exec("A subject", "open"); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, log := range []bool{false, true} {
		b.Run(map[bool]string{false: "store", true: "store-logged"}[log], func(b *testing.B) {
			db := openSQL(b, benchSQL, &Options{Log: log})
			req := call{id: "tickets.create", body: `{"subject":"A subject","status":"open"}`}.request(b, db)
			for b.Loop() {
				invokeBench(b, db, req)
			}
		})
	}
}

// BenchmarkUpdate changes rows of some size, which the log keeps as they were.
func BenchmarkUpdate(b *testing.B) {
	for _, log := range []bool{false, true} {
		b.Run(map[bool]string{false: "store", true: "store-logged"}[log], func(b *testing.B) {
			db := openSQL(b, benchSQL, &Options{Log: log})
			req := call{id: "tickets.update", path: "id=1", body: `{"subject":"Another subject"}`}.request(b, db)
			n := 0
			for b.Loop() {
				n = n%benchRows + 1
				req.Params.Path[0].Value = fmt.Append(nil, n)
				invokeBench(b, db, req)
			}
		})
	}
}

// BenchmarkOpen is the whole way from a path to a database that answers.
func BenchmarkOpen(b *testing.B) {
	for _, log := range []bool{false, true} {
		b.Run(map[bool]string{false: "store", true: "store-logged"}[log], func(b *testing.B) {
			for b.Loop() {
				db, err := Open(context.Background(), chinook, &Options{Log: log})
				if err != nil {
					b.Fatal(err)
				}
				closeDB(b, db)
			}
		})
	}
}

func invokeBench(b *testing.B, db *DB, req *provider.Request) {
	res, err := db.Invoke(context.Background(), req)
	if err != nil || !res.OK {
		b.Fatal(err, res)
	}
}

func keyValues(n int64) []driver.Value { return []driver.Value{n} }
