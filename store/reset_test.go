package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/store/fixture"
)

const resetSQL = `CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, at TEXT DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE tag (name TEXT PRIMARY KEY, n) WITHOUT ROWID;
CREATE INDEX by_text ON note (text);
CREATE VIRTUAL TABLE words USING fts4(content="note", text);
CREATE VIRTUAL TABLE spots USING rtree(id, x0, x1, y0, y1);
CREATE TRIGGER note_ai AFTER INSERT ON note BEGIN
  INSERT INTO words(docid, text) VALUES (new.id, new.text);
  INSERT INTO spots VALUES (new.id, new.id, new.id + 1, 0, 1);
END;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO note (text) SELECT 'word ' || i FROM n;
INSERT INTO tag VALUES ('a', 1), ('b', 2);`

// dump is everything that a connection sees, table by table.
func dump(t *testing.T, c *conn) string {
	t.Helper()
	var b strings.Builder
	for _, sql := range []string{"SELECT * FROM note ORDER BY id", "SELECT text FROM note ORDER BY text", "SELECT * FROM tag ORDER BY name", "SELECT docid, text FROM words ORDER BY docid",
		"SELECT docid FROM words WHERE words MATCH 'word' ORDER BY docid", "SELECT * FROM spots ORDER BY id", "SELECT * FROM sqlite_sequence"} {
		fmt.Fprintln(&b, sql)
		cols := strings.Count(sql[:strings.Index(sql, "FROM")], ",") + 1
		if strings.Contains(sql, "*") {
			cols = 2
		}
		if err := c.query(context.Background(), sql, nil, cols, func(v []driver.Value) error {
			fmt.Fprintln(&b, v)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// dumps is what every connection of a pool sees, each of which must see the same.
func dumps(t *testing.T, db *DB) string {
	t.Helper()
	held, release, err := db.pool.Load().hold(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	first := dump(t, held[0])
	for i, c := range held[1:] {
		if got := dump(t, c); got != first {
			t.Fatalf("reader %d sees another state than the writer", i)
		}
	}
	return first
}

// mess changes the state in many ways, by the answers of which two runs can be
// told apart.
func mess(t *testing.T, db *DB, rnd *rand.Rand, calls int) string {
	t.Helper()
	var b strings.Builder
	for i := range calls {
		c := call{n: i + 1}
		switch id := rnd.IntN(300) + 1; rnd.IntN(7) {
		case 0, 1:
			c.id, c.body = "note.create", fmt.Sprintf(`{"text":"word new %d"}`, i)
		case 2:
			c.id, c.path, c.body = "note.update", fmt.Sprint("id=", id), fmt.Sprintf(`{"text":"word %d changed"}`, id)
		case 3:
			c.id, c.path = "note.delete", fmt.Sprint("id=", id)
		case 4:
			c.id, c.body = "tag.create", fmt.Sprintf(`{"name":"t%d","n":%d}`, i, i)
		case 5:
			c.id, c.size, c.query = "note.list", 5, `q="word"`
		case 6:
			c.id, c.path = "note.get", fmt.Sprint("id=", id)
		}
		b.WriteString(show(c.do(t, db)) + "\n")
	}
	return b.String()
}

// A reset without a copy brings back every table, index and counter on every
// connection, as often as it is asked for, and the same calls give the same
// answers afterwards.
func TestResetWithoutCopy(t *testing.T) {
	ctx := context.Background()
	db := openSQL(t, resetSQL, nil)
	pool := db.pool.Load()
	if pool.origin == nil {
		t.Fatal("this system cannot go back to the origin")
	}
	fresh := dumps(t, db)
	for round := range 8 {
		first := mess(t, db, rand.New(rand.NewPCG(7, uint64(round))), 10*(round+1))
		if dumps(t, db) == fresh {
			t.Fatal("nothing was changed")
		}
		if err := db.Reset(ctx, 0); err != nil {
			t.Fatal(err)
		}
		if got := dumps(t, db); got != fresh {
			t.Fatalf("round %d: the state after a reset differs", round)
		}
		if again := mess(t, db, rand.New(rand.NewPCG(7, uint64(round))), 10*(round+1)); again != first {
			t.Fatalf("round %d: the same calls gave other answers after a reset:\n%s\nbefore\n%s", round, again, first)
		}
		if err := db.Reset(ctx, 0); err != nil {
			t.Fatal(err)
		}
	}
	if db.pool.Load() != pool {
		t.Error("a reset made a new copy")
	}
	saved := t.TempDir() + "/state.db"
	if err := db.SaveState(ctx, saved); err != nil {
		t.Fatal(err)
	}
	c, err := openConn(saved, accessRead)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.query(ctx, "PRAGMA integrity_check", nil, 1, func(v []driver.Value) error {
		if fixture.Text(v[0]) != "ok" {
			t.Error(v[0])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Once the log was folded into the file, a reset makes a new copy.
func TestResetAfterFolding(t *testing.T) {
	ctx := context.Background()
	db := openSQL(t, resetSQL, &Options{logLimit: 1 << 20})
	fresh := dumps(t, db)
	pool := db.pool.Load()
	for n := 0; pool.origin.intact(); n++ {
		if n > 20 {
			t.Fatal("the log never comes to its limit")
		}
		update := call{id: "tag.update", path: `name="a"`, body: `{"n":"` + strings.Repeat(string(rune('a'+n)), 1<<17) + `"}`, n: n + 1}
		if res := update.do(t, db); !res.OK {
			t.Fatal(show(res))
		}
	}
	if err := db.Reset(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if db.pool.Load() == pool || dumps(t, db) != fresh {
		t.Errorf("new copy: %v, as at first: %v", db.pool.Load() != pool, dumps(t, db) == fresh)
	}
	mess(t, db, rand.New(rand.NewPCG(1, 1)), 20)
	pool = db.pool.Load()
	if err := db.Reset(ctx, 0); err != nil || db.pool.Load() != pool || dumps(t, db) != fresh {
		t.Errorf("the next reset: %v, new copy: %v", err, db.pool.Load() != pool)
	}
}

// What a connection keeps from call to call is new after a reset too.
func TestResetForgetsConnections(t *testing.T) {
	const sql = `CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER);
CREATE TRIGGER u AFTER UPDATE ON t BEGIN UPDATE t SET v = last_insert_rowid() WHERE id = new.id; END;
INSERT INTO t VALUES (1, 0);`
	db := openSQL(t, sql, nil)
	update := call{id: "t.update", path: "id=1", body: `{"v":5}`}
	want(t, db, update, `{"id":1,"v":0}`)
	call{id: "t.create", body: `{"id":77}`}.do(t, db)
	want(t, db, update, `{"id":1,"v":77}`)
	if err := db.Reset(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	want(t, db, update, `{"id":1,"v":0}`)
}

// A reset waits for the calls that run; each call sees the fixture whole or the
// changed state whole.
func TestResetUnderCalls(t *testing.T) {
	ctx := context.Background()
	db := openSQL(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t VALUES (1, 1), (2, 1), (3, 1);`, nil)
	var all sync.WaitGroup
	stop := make(chan struct{})
	for w := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				c := call{id: "t.list", size: 5, n: n + 1}
				if w == 0 {
					c = call{id: "t.create", n: n + 1, body: `{"v":2}`}
				}
				res, err := db.Invoke(ctx, c.request(t, db))
				if err != nil || !res.OK {
					t.Errorf("%v %+v", err, res)
					return
				}
				if w > 0 && (*res.Total < 3 || !strings.HasPrefix(show(res), fmt.Sprint(min(*res.Total, 5), " of "))) {
					t.Errorf("a torn state: %s", show(res))
				}
			}
		})
	}
	for range 50 {
		if err := db.Reset(ctx, 0); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	all.Wait()
	if err := db.Reset(ctx, 0); err != nil {
		t.Fatal(err)
	}
	want(t, db, call{id: "t.list", size: 5}, `3 of 3 {"id":1,"v":1} {"id":2,"v":1} {"id":3,"v":1}`)
}

// A reset gives up with its context while a call holds a connection, and leaves
// every other one in its place.
func TestResetGivesUp(t *testing.T) {
	db := openSQL(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)", nil)
	c, err := db.writer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := db.Reset(ctx, 0); err == nil {
		t.Error("a reset went past a running call")
	}
	want(t, db, call{id: "t.list", size: 1}, "0 of 0 ")
	db.unwrite(c)
	if err := db.Reset(context.Background(), 0); err != nil {
		t.Error(err)
	}
}
