package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/changelog"
	content "github.com/anvil-sim/anvil/store/compare"
	"github.com/anvil-sim/anvil/store/fixture"
)

// oddSQL is a schema with all that changes rows behind a statement's back.
const oddSQL = `CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT, n REAL, blob BLOB, twice INT GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, "odd ""name" TEXT UNIQUE ON CONFLICT REPLACE);
CREATE TABLE bare (a, b);
CREATE TABLE texts (k TEXT COLLATE NOCASE, part INT, v, PRIMARY KEY (k, part)) WITHOUT ROWID;
CREATE TABLE hidden (rowid TEXT, v UNIQUE);
CREATE TABLE "with space" (id INTEGER PRIMARY KEY, plain INT REFERENCES plain ON DELETE CASCADE ON UPDATE SET NULL) STRICT;
CREATE TABLE audit (what TEXT, id INT);
CREATE VIRTUAL TABLE words USING fts4(name);
CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
CREATE VIEW names AS SELECT id, name FROM plain;
CREATE TRIGGER touch AFTER UPDATE OF name ON plain BEGIN UPDATE plain SET n = coalesce(n, 0) + 1 WHERE id = NEW.id; END;
CREATE TRIGGER add_words AFTER INSERT ON plain BEGIN INSERT INTO words (rowid, name) VALUES (NEW.id, NEW.name);
  UPDATE plain SET name = name || '!' WHERE id = NEW.id; INSERT INTO audit VALUES ('new', NEW.id); SELECT RAISE(IGNORE); END;
CREATE TRIGGER rename INSTEAD OF UPDATE ON names BEGIN UPDATE plain SET name = NEW.name WHERE id = OLD.id; END;
CREATE TRIGGER forget AFTER DELETE ON plain BEGIN DELETE FROM words WHERE rowid = OLD.id; END;
INSERT INTO plain (id, name, n) VALUES (1, 'one', 1.5), (2, 'two', NULL), (5, 'five', 9e99);
INSERT INTO counted (id, "odd ""name") VALUES (1, 'a'), (7, 'b');
INSERT INTO bare VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
INSERT INTO texts VALUES ('a', 1, 1), ('b', 1, 2), ('B', 2, 3);
INSERT INTO hidden VALUES ('r', 1);
INSERT INTO "with space" VALUES (1, 1), (2, 2);
INSERT INTO boxes VALUES (1, 0, 1);`

// oddWrites are statements that write it; ? is a small number.
var oddWrites = []string{
	"INSERT INTO plain (name, n, blob) VALUES ('new ' || ?1, ?1, randomblob(40))",
	"INSERT OR REPLACE INTO plain (id, name) VALUES (?1, 'replaced')",
	"INSERT OR IGNORE INTO plain (id, name) VALUES (?1, 'ignored')",
	"INSERT INTO plain (id, name) VALUES (?1, 'up') ON CONFLICT (id) DO UPDATE SET name = 'upserted'",
	"UPDATE plain SET name = 'changed', blob = zeroblob(5000) WHERE id % 4 = ?1 % 4",
	"UPDATE OR REPLACE plain SET id = ?1 WHERE id = (SELECT min(id) FROM plain)",
	"UPDATE plain SET id = -id WHERE id = ?1",
	"UPDATE names SET name = char(0) || 'view' WHERE id = ?1",
	"DELETE FROM plain WHERE id = ?1",
	"DELETE FROM plain",
	`INSERT INTO counted ("odd ""name") VALUES ('c' || ?1 % 5)`,
	`UPDATE counted SET "odd ""name" = 'd' WHERE id % 3 = ?1 % 3`,
	"DELETE FROM counted WHERE id > ?1",
	"INSERT INTO bare VALUES (?1, 'x'), (?1, 'y')",
	"UPDATE bare SET rowid = rowid + 100 WHERE a = ?1",
	"DELETE FROM bare WHERE rowid = (SELECT min(rowid) FROM bare)",
	"INSERT OR REPLACE INTO texts VALUES (CASE ?1 % 2 WHEN 0 THEN 'B' ELSE 'b' END, ?1 % 3, ?1)",
	"UPDATE texts SET k = upper(k) WHERE part = ?1 % 3",
	"UPDATE texts SET k = lower(k), part = part + 1.0 WHERE part = 1 AND NOT EXISTS (SELECT 1 FROM texts WHERE part = 2)",
	"DELETE FROM texts WHERE part = ?1 % 3",
	"REPLACE INTO hidden VALUES ('r' || ?1, ?1 % 4)",
	"UPDATE OR REPLACE hidden SET v = ?1 % 4",
	`INSERT OR IGNORE INTO "with space" (plain) SELECT id FROM plain WHERE id > ?1`,
	"DELETE FROM audit WHERE id < ?1",
	"INSERT INTO boxes VALUES (NULL, ?1, ?1 + 1)",
	"REPLACE INTO boxes VALUES (?1, ?1, ?1 + 2)",
	"DELETE FROM boxes WHERE id = ?1",
	"UPDATE words SET name = 'word ' || ?1 WHERE rowid = ?1",
	"DELETE FROM bare",
}

// Whatever statements, triggers, foreign keys and modules do: the state at a call
// is what it was when the call had ended, and a saved state leads to the same.
func TestStateAtEveryCall(t *testing.T) {
	const calls = 24
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 11))
			checkCalls(t, oddSQL, calls, func(db *DB, n int64) { writeOddly(t, db, rnd, n) })
		})
	}
}

// What is easily overlooked, each in its smallest form.
func TestStateAtCallOf(t *testing.T) {
	for _, c := range []struct{ name, schema, calls string }{
		{"a key in another letter case", "CREATE TABLE t (k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO t VALUES ('a', 1)",
			"UPDATE t SET k = 'A'; DELETE FROM t; INSERT INTO t VALUES ('a', 2); UPDATE t SET k = 'A', v = 3"},
		{"keys that change places", "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'x'), (2, 'y')",
			"UPDATE t SET id = -id; UPDATE t SET id = 3 + id"},
		{"a key that is not the rowid", "CREATE TABLE t (id INTEGER PRIMARY KEY DESC, v); INSERT INTO t VALUES (5, 'x'), (NULL, 'y')",
			"UPDATE t SET id = 9 WHERE v = 'x'; DELETE FROM t; INSERT INTO t VALUES (5, 'z')"},
		{"a key alone", "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2); DELETE FROM t"},
		{"names of the rowid", "CREATE TABLE t (rowid, oid, v); INSERT INTO t VALUES ('a', 'b', 'c')", "UPDATE t SET rowid = 1; DELETE FROM t"},
		{"conflicts by partial indexes", "CREATE VIEW says AS SELECT replace('a', 'b', 'c'); CREATE TABLE t (id INTEGER PRIMARY KEY, v); CREATE UNIQUE INDEX u ON t (v COLLATE NOCASE) WHERE id > 1; INSERT INTO t VALUES (1, 'a'), (2, 'b')",
			"REPLACE INTO t VALUES (3, 'B'); REPLACE INTO t VALUES (1, 'b'); UPDATE OR REPLACE t SET v = 'b'"},
		{"conflicts that the table decides", "CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, v UNIQUE ON CONFLICT REPLACE, w NOT NULL ON CONFLICT REPLACE DEFAULT 7); INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)",
			"INSERT INTO t VALUES (1, 'b', NULL); UPDATE t SET id = 5; INSERT INTO t VALUES (5, 'b', 1)"},
		{"a value that is checked", "CREATE TABLE t (id INTEGER PRIMARY KEY, v CHECK (v > 0)); PRAGMA ignore_check_constraints=ON; INSERT INTO t VALUES (1, -1)", "DELETE FROM t; INSERT INTO t VALUES (1, 1)"},
		{"a counter that was not there", "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v)", "INSERT INTO t (v) VALUES (1); DELETE FROM t; INSERT INTO t (v) VALUES (2)"},
		{"rows of many bytes", "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, zeroblob(3000000))", "UPDATE t SET v = CAST(v AS TEXT) || 'x'; UPDATE t SET v = NULL"},
		{"types as they are", "CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL, n NUMERIC, x, s TEXT); INSERT INTO t VALUES (1, 1, '1e3', 1.0, 5), (2, 9e999, '', X'00', char(0)), (3, -0.0, 9007199254740993, '1', NULL)", "DELETE FROM t"},
		{"references that are broken meanwhile", "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE SET NULL ON UPDATE CASCADE); INSERT INTO p VALUES (1), (2); INSERT INTO t VALUES (1, 1), (2, 2)",
			"DELETE FROM p WHERE id = 1; UPDATE p SET id = 9; DELETE FROM p"},
		{"a trigger that refuses", "CREATE TABLE t (v); CREATE TRIGGER g BEFORE INSERT ON t BEGIN DELETE FROM t; SELECT RAISE(IGNORE); END; INSERT INTO t (v) SELECT 1 WHERE 0; CREATE TABLE u AS SELECT 1 AS x", "INSERT INTO t VALUES (1); DELETE FROM u"},
		{"what a write leads to", `CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE "b ""c" (x); CREATE TABLE d (y); CREATE VIRTUAL TABLE f USING fts4(z); CREATE TABLE e (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE);
			CREATE VIEW v AS SELECT x FROM "b ""c"; CREATE TRIGGER ga AFTER INSERT ON a BEGIN INSERT INTO v VALUES (NEW.id); INSERT INTO e VALUES (NEW.id, NEW.id); END;
			CREATE TRIGGER gv INSTEAD OF INSERT ON v BEGIN INSERT INTO "b ""c" VALUES (NEW.x); END; CREATE TRIGGER gb AFTER INSERT ON "b ""c" BEGIN INSERT INTO f VALUES ('word'); END;
			CREATE TRIGGER ge AFTER DELETE ON e BEGIN INSERT INTO d VALUES (OLD.id); END`, "INSERT INTO A VALUES (1); DELETE FROM a"},
		{"triggers in their order", "CREATE TABLE t (v); CREATE TABLE l (x); CREATE TRIGGER z AFTER INSERT ON t BEGIN INSERT INTO l VALUES ('z'); END; CREATE TRIGGER a AFTER INSERT ON t BEGIN INSERT INTO l VALUES ('a'); END", "INSERT INTO t VALUES (1); DELETE FROM l"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			calls := strings.Split(c.calls, "; ")
			checkCalls(t, c.schema, int64(len(calls)), func(db *DB, n int64) {
				w, err := db.writer(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				defer db.unwrite(w)
				if err := db.change(context.Background(), w, n, calls[n-1], func() error { return w.exec(calls[n-1]) }); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// checkCalls makes calls and compares the state at each with what it was, after
// some that a reset has undone: nothing of those is left in the log.
func checkCalls(t *testing.T, schema string, calls int64, call func(db *DB, n int64)) {
	t.Helper()
	ctx := context.Background()
	db := openSQL(t, schema, &Options{Log: true})
	dir := t.TempDir()
	for n := int64(1); n <= calls; n++ {
		call(db, n)
	}
	if err := db.Reset(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if n := loggedCalls(t, db); n != 0 {
		t.Fatalf("%d calls are in the log after a reset", n)
	}
	want := []string{rowsNow(t, db, dir)}
	for n := int64(1); n <= calls; n++ {
		call(db, n)
		want = append(want, rowsNow(t, db, dir))
	}
	state := filepath.Join(dir, "final.db")
	if err := db.SaveState(ctx, state); err != nil {
		t.Fatal(err)
	}
	if last, err := changelog.Last(ctx, state); err != nil || last > calls {
		t.Fatal(last, err)
	}
	for n := range want {
		call := int64(n)
		if n%4 == 0 { // what is written for good takes its time
			if diff := cmp.Diff(want[n], allRows(t, snapshotOf(t, db, dir, &call))); diff != "" {
				t.Fatalf("state at call %d, of the running database:\n%s", n, diff)
			}
		}
		at, err := changelog.Open(ctx, state, "at", call)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[n], dumpRows(t, at)); diff != "" {
			t.Fatalf("state at call %d, of the saved one:\n%s", n, diff)
		}
		if err := at.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// loggedCalls counts the calls of the running log.
func loggedCalls(t *testing.T, db *DB) (n int64) {
	t.Helper()
	c, err := db.writer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer db.unwrite(c)
	if !c.log.Begun() {
		return 0
	}
	if n, err = c.number("SELECT count(*) FROM " + changelog.Schema + ".anvil_live_calls"); err != nil {
		t.Fatal(err)
	}
	return n
}

// writeOddly is a call: a few statements in one transaction, some of which fail,
// and some transactions too.
func writeOddly(t *testing.T, db *DB, rnd *rand.Rand, n int64) {
	t.Helper()
	ctx := context.Background()
	c, err := db.writer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer db.unwrite(c)
	given := errors.New("given up")
	err = db.change(ctx, c, n, strings.Join(oddWrites, ";"), func() error {
		for range 1 + rnd.IntN(3) {
			sql := oddWrites[rnd.IntN(len(oddWrites))]
			args := []driver.Value{int64(rnd.IntN(12))}
			if !strings.Contains(sql, "?1") {
				args = nil
			}
			if err := c.query(ctx, sql, args, 0, nil); err != nil && faultOf(err) == faultOther {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		if rnd.IntN(8) == 0 {
			return given
		}
		return nil
	})
	if err != nil && err != given {
		t.Fatal(err)
	}
}

// snapshotOf writes the state after a call to a new file.
func snapshotOf(t *testing.T, db *DB, dir string, call *int64) (path string) {
	t.Helper()
	path = filepath.Join(dir, "snapshot.db")
	if err := db.Snapshot(context.Background(), &provider.SnapshotParams{Path: path, Call: call}); err != nil {
		t.Fatal(err)
	}
	return path
}

// rowsNow are the rows of the running database.
func rowsNow(t *testing.T, db *DB, dir string) string {
	t.Helper()
	c, err := db.writer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer db.unwrite(c)
	path := filepath.Join(dir, "now.db")
	if err := errors.Join(os.RemoveAll(path), c.raw.SaveTo(path, "main")); err != nil {
		t.Fatal(err)
	}
	return allRows(t, path)
}

func allRows(t *testing.T, path string) string {
	t.Helper()
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return dumpRows(t, db)
}

// dumpRows is every row of every table, also of those that SQLite and modules keep
// for themselves, with its rowid, and the schema.
func dumpRows(t *testing.T, db *fixture.DB) string {
	t.Helper()
	ctx := context.Background()
	var lines []string
	keep := func(prefix string) func(v []driver.Value) error {
		return func(v []driver.Value) error {
			line := []byte(prefix)
			for _, val := range v {
				line = fixture.AppendLiteral(append(line, '|'), val)
			}
			lines = append(lines, string(line))
			return nil
		}
	}
	var tables []string
	err := db.Query(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'anvil\\_log%' ESCAPE '\\'", nil, 1,
		func(v []driver.Value) error { tables = append(tables, v[0].(string)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Query(ctx, "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'anvil\\_log%' ESCAPE '\\'", nil, 3, keep("schema")); err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		n, err := db.Int(ctx, "SELECT count(*) FROM pragma_table_xinfo(?)", name)
		if err != nil {
			t.Fatal(err)
		}
		row := "_rowid_, "
		if wr, err := db.Int(ctx, "SELECT wr FROM pragma_table_list WHERE name = ?", name); err != nil || wr == 1 {
			row, n = "", n-1
		}
		if err := db.Query(ctx, "SELECT "+row+"* FROM "+fixture.Quote(name), nil, int(n+1), keep(name)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	if err := db.Query(ctx, "PRAGMA integrity_check", nil, 1, keep("integrity")); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// The log is no content: a state with it has the digest of one without.
func TestLogIsNoContent(t *testing.T) {
	ctx := context.Background()
	var sums []string
	for _, log := range []bool{false, true} {
		db := openSQL(t, oddSQL, &Options{Log: log})
		writeOddly(t, db, rand.New(rand.NewPCG(1, 1)), 1)
		f, err := fixture.Open(snapshotOf(t, db, t.TempDir(), nil))
		if err != nil {
			t.Fatal(err)
		}
		if has, err := f.HasLog(ctx); err != nil || has != log {
			t.Error(has, err)
		}
		d, err := content.Sum(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, d.Sum)
	}
	if sums[0] != sums[1] {
		t.Error(sums)
	}
}
