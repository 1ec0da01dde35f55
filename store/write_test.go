package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL DEFAULT 'n/a', age INTEGER CHECK (age >= 0), team TEXT, rank INTEGER,
  UNIQUE (team, rank));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), note TEXT DEFAULT "none",
  code TEXT NOT NULL DEFAULT (lower(hex(randomblob(4)))), at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, day TEXT DEFAULT (date('now', '+1 day')), n INTEGER DEFAULT (abs(random()) % 1000));
CREATE TABLE lines (order_id INTEGER, pos INTEGER, sku TEXT NOT NULL, late INTEGER REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (order_id, pos), FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE) WITHOUT ROWID;
CREATE TABLE locked (id INTEGER PRIMARY KEY, v TEXT);
CREATE TRIGGER no_change BEFORE UPDATE ON locked BEGIN SELECT RAISE(ABORT, 'locked rows stay'); END;
CREATE TABLE exact (id INTEGER PRIMARY KEY, n INT) STRICT;
INSERT INTO customers (id, email, team, rank) VALUES (1, 'a@x', 'red', 1), (2, 'b@x', 'red', 2);
INSERT INTO orders (id, customer_id, code, at, day, n) VALUES (10, 1, 'c', '2020', '2020', 1);
INSERT INTO lines VALUES (10, 1, 's', NULL), (10, 2, 't', NULL);
INSERT INTO locked VALUES (1, 'v');
INSERT INTO exact VALUES (1, 1);
`

func TestWrites(t *testing.T) {
	db := openSQL(t, shop, &Options{Seed: 3})
	do := func(c call, text string) { t.Helper(); want(t, db, c, text) }
	do(call{id: "customers.create", body: `{"email":"c@x"}`}, `{"id":3,"email":"c@x","name":"n/a","age":null,"team":null,"rank":null}`)
	do(call{id: "customers.create", body: `{"email":"d@x","id":9}`}, `{"id":9,"email":"d@x","name":"n/a","age":null,"team":null,"rank":null}`)
	do(call{id: "customers.create"}, `validation_error: "email" must have a value in customers`)
	do(call{id: "customers.create", body: `{"email":null}`}, `validation_error: "email" must have a value in customers`)
	do(call{id: "customers.create", body: `{"email":"a@x"}`}, `conflict: customers already has a row with "email" "a@x"`)
	do(call{id: "customers.create", body: `{"email":"z@x","id":1}`}, `conflict: customers already has a row with "id" 1`)
	do(call{id: "customers.update", path: "id=3", body: `{"team":"red","rank":2}`}, `conflict: customers already has a row with "team" "red", "rank" 2`)
	do(call{id: "customers.update", path: "id=3", body: `{"age":-1}`}, `validation_error: customers: a value breaks the rule CHECK (age >= 0)`)
	do(call{id: "customers.update", path: "id=3", body: `{"e_mail":"q@x"}`}, `{"id":3,"email":"q@x","name":"n/a","age":null,"team":null,"rank":null}`)
	do(call{id: "customers.update", path: "id=3", body: `{"emial":"q@x"}`}, `validation_error: customers has no column "emial"; did you mean "email"?`)
	do(call{id: "customers.update", path: "id=3"}, `{"id":3,"email":"q@x","name":"n/a","age":null,"team":null,"rank":null}`)
	do(call{id: "customers.update", path: "id=33", body: `{"age":1}`}, `not_found: no customers with "id" 33`)
	do(call{id: "customers.update", path: "id=33", body: `{}`}, `not_found: no customers with "id" 33`)
	do(call{id: "customers.replace", path: "id=2", body: `{"email":"b2@x","age":4}`}, `{"id":2,"email":"b2@x","name":"n/a","age":4,"team":null,"rank":null}`)
	do(call{id: "customers.replace", path: "id=2", body: `{"age":4}`}, `validation_error: "email" must have a value in customers`)
	do(call{id: "customers.replace", path: "id=3", body: `{"email":"q@x","id":4}`}, `{"id":4,"email":"q@x","name":"n/a","age":null,"team":null,"rank":null}`)
	do(call{id: "customers.delete", path: "id=1"}, `conflict: customers with "id" 1 is still used by orders ("customer_id")`)
	do(call{id: "customers.delete", path: "id=9"}, `null`)
	do(call{id: "customers.delete", path: "id=9"}, `not_found: no customers with "id" 9`)
	do(call{id: "customers.list", size: 1}, `1 of 3 more {"id":1,"email":"a@x","name":"n/a","age":null,"team":"red","rank":1}`)

	do(call{id: "orders.create", body: `{"customer_id":77}`}, `validation_error: "customer_id" of orders: there is no customers with "id" 77`)
	do(call{id: "orders.create", body: `{"customer_id":1}`, n: 5}, `{"id":11,"customer_id":1,"note":"none","code":"88239606","at":"2026-01-01 00:00:05","day":"2026-01-02","n":624}`)
	do(call{id: "orders.replace", path: "id=10", body: `{"customer_id":2,"code":"k","n":2}`, n: 6}, `{"id":10,"customer_id":2,"note":"none","code":"k","at":"2026-01-01 00:00:06","day":"2026-01-02","n":2}`)

	do(call{id: "lines.update", path: "order_id=10&pos=1", body: `{"late":99}`}, `validation_error: "late" of lines: there is no orders with "id" 99`)
	do(call{id: "lines.update", path: "order_id=10&pos=1", body: `{"pos":2}`}, `conflict: lines already has a row with "order_id", "pos" 2`)
	do(call{id: "lines.create", body: `{"order_id":10,"pos":1,"sku":"x"}`}, `conflict: lines already has a row with "order_id" 10, "pos" 1`)
	do(call{id: "lines.create", body: `{"pos":1}`}, `validation_error: "order_id", "sku" must have a value in lines`)
	do(call{id: "lines.list", size: 1}, `1 of 2 more {"order_id":10,"pos":1,"sku":"s","late":null}`)
	do(call{id: "orders.delete", path: "id=10"}, `null`)
	do(call{id: "lines.list", size: 1}, `0 of 0 `)

	do(call{id: "locked.update", path: "id=1", body: `{"v":"w"}`}, `validation_error: locked: locked rows stay`)
	do(call{id: "exact.update", path: "id=1", body: `{"n":12345678901234567890}`}, `validation_error: "n" of exact: the number 12345678901234567890 is too large`)
	do(call{id: "exact.create", body: `{"id":"one"}`}, `validation_error: "id" of exact wants an integer, got the string "one"`)
}

func TestIdempotencyKeyInBody(t *testing.T) {
	db := openSQL(t, shop, nil)
	req := call{id: "customers.create", body: `{"email":"e@x","request_key":"k-1"}`}.request(t, db)
	res, err := db.Invoke(context.Background(), req)
	if err != nil || res.OK {
		t.Fatalf("an unknown field was taken (%v)", err)
	}
	key := "k-1"
	req.IdempotencyKey = &key
	res, err = db.Invoke(context.Background(), req)
	if err != nil || !res.OK || string(res.Meta) != `{"table":"customers","ignored":["request_key"],"rows_scanned":0,"rows":1}` {
		t.Errorf("%s %s (%v)", show(res), res.Meta, err)
	}
}

// The same calls give the same bytes, also where the schema asks for the time
// and for chance.
func TestRunsAreEqual(t *testing.T) {
	trace := func() string {
		db := openSQL(t, shop, &Options{Seed: 42})
		var out strings.Builder
		for n := 1; n <= 20; n++ {
			res := call{id: "orders.create", body: `{"customer_id":1}`, n: n}.do(t, db)
			out.WriteString(show(res) + string(res.Meta) + "\n")
		}
		return out.String()
	}
	if a, b := trace(), trace(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

// Readers see whole states and no call is turned away while others write.
func TestConcurrentCalls(t *testing.T) {
	db := openSQL(t, `CREATE TABLE acc (id INTEGER PRIMARY KEY, v INTEGER NOT NULL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 200) INSERT INTO acc SELECT i, 0 FROM n`, nil)
	const writers, each = 8, 50
	var wg sync.WaitGroup
	fail := make(chan string, 100)
	ask := func(c call, req *provider.Request) *provider.Response {
		res, err := db.Invoke(context.Background(), req)
		if err != nil {
			fail <- err.Error()
			return nil
		}
		if !res.OK {
			fail <- show(res)
			return nil
		}
		return res
	}
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				create := call{id: "acc.create", body: fmt.Sprintf(`{"v":%d}`, w)}
				if ask(create, create.request(t, db)) == nil {
					return
				}
				patch := call{id: "acc.update", path: fmt.Sprintf("id=%d", i+1), body: `{"v":1}`}
				if ask(patch, patch.request(t, db)) == nil {
					return
				}
			}
		})
		wg.Go(func() {
			cursor := ""
			for range each {
				list := call{id: "acc.list", size: 20, cursor: cursor}
				res := ask(list, list.request(t, db))
				if res == nil {
					return
				}
				if cursor = ""; res.NextCursor != nil {
					cursor = *res.NextCursor
				}
				if *res.Total < 200 || *res.Total > 200+writers*each {
					fail <- fmt.Sprintf("total %d", *res.Total)
					return
				}
			}
		})
	}
	wg.Wait()
	close(fail)
	for f := range fail {
		t.Error(f)
	}
	res := call{id: "acc.list", size: 1000}.do(t, db)
	if n := len(res.Items); n != 200+writers*each || *res.Total != int64(n) {
		t.Errorf("%d rows, total %d, want %d", n, *res.Total, 200+writers*each)
	}
}

// A call whose caller gives up ends soon, and its connection serves the next.
func TestCancelledCall(t *testing.T) {
	db := openSQL(t, `CREATE TABLE t (id INTEGER PRIMARY KEY);
		CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n WHERE i < 0`, nil)
	for range 3 * readerCount() {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		req := call{id: "endless.list", size: 1}.request(t, db)
		go func() {
			_, err := db.Invoke(ctx, req)
			done <- err
		}()
		cancel()
		if err := <-done; err == nil {
			t.Fatal("an endless query ended by itself")
		}
	}
	want(t, db, call{id: "t.list", size: 1}, "0 of 0 ")
	want(t, db, call{id: "t.create"}, `{"id":1}`)
}

// Totals are remembered, and follow every write.
func TestTotals(t *testing.T) {
	db := openSQL(t, `CREATE TABLE a (id INTEGER PRIMARY KEY, v INTEGER UNIQUE); CREATE VIEW even AS SELECT * FROM a WHERE v % 2 = 0`, nil)
	check := func(when string, all, two, even int64) {
		t.Helper()
		for range 2 { // counted, then remembered
			got := []int64{*call{id: "a.list", size: 1}.do(t, db).Total, *call{id: "a.list", query: "v=[2]", size: 1}.do(t, db).Total,
				*call{id: "even.list", size: 1}.do(t, db).Total}
			if got[0] != all || got[1] != two || got[2] != even {
				t.Errorf("%s: totals %v, want %d %d %d", when, got, all, two, even)
			}
		}
	}
	check("empty", 0, 0, 0)
	for v := 1; v <= 4; v++ {
		call{id: "a.create", body: fmt.Sprintf(`{"v":%d}`, v)}.do(t, db)
	}
	check("four rows", 4, 1, 2)
	call{id: "a.update", path: "id=2", body: `{"v":7}`}.do(t, db)
	check("no two", 4, 0, 1)
	if res := (call{id: "a.create", body: `{"v":7}`}).do(t, db); res.OK {
		t.Error("7 is there twice")
	}
	check("after a conflict", 4, 0, 1)
	call{id: "a.delete", path: "id=1"}.do(t, db)
	check("after a delete", 3, 0, 1)
	call{id: "a.delete", path: "id=1"}.do(t, db)
	check("after a delete of nothing", 3, 0, 1)
}

func TestClosedAnswersNothing(t *testing.T) {
	db, err := OpenSQL(context.Background(), shop, nil)
	if err != nil {
		t.Fatal(err)
	}
	req := call{id: "orders.list", size: 1}.request(t, db)
	for range 2 {
		if err := db.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	_, err = db.Invoke(context.Background(), req)
	if err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a call after Close: %v", err)
	}
}
