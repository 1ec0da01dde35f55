//go:build cgo

package native

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
)

func open(t testing.TB, setup string) *sqlite3.SQLiteConn {
	t.Helper()
	raw, err := (&sqlite3.SQLiteDriver{}).Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	c := raw.(*sqlite3.SQLiteConn)
	t.Cleanup(func() { c.Close() })
	if _, err := c.Exec(setup, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

func prepare(t testing.TB, c *sqlite3.SQLiteConn, query string) Statement {
	t.Helper()
	st, err := c.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s := StatementOf(st.(*sqlite3.SQLiteStmt))
	if !s.Known() {
		t.Fatal("the driver's handle of a statement was not found; look at the fields of SQLiteStmt")
	}
	return s
}

// all reads every row as text.
func all(s Statement, b *Block, args []Cell, cols int) (rows []string, blocks int, err error) {
	more, err := s.Run(b, args, cols)
	cells := make([]Cell, cols)
	for {
		blocks++
		for b.Next(cells) {
			rows = append(rows, fmt.Sprint(cells))
		}
		if !more {
			return rows, blocks, err
		}
		more, err = s.Read(b, cols)
	}
}

// Values of every kind come back as they were bound, whatever their size and whatever
// was read before.
func TestValues(t *testing.T) {
	c := open(t, "CREATE TABLE t (a)")
	s := prepare(t, c, "SELECT ?, ?, ?, ?, ?, ?, 1")
	var b Block
	for _, n := range []int{0, 1, 15, 16, 17, 1000, 16 * blockUnits, 16*keptUnits + 1, 3} {
		text := strings.Repeat("é\x00", n)[:n]
		want := []Cell{{Kind: Integer, Num: math.MinInt64}, {Kind: Real, Num: int64(math.Float64bits(math.Inf(-1)))}, {Kind: Text, Text: text},
			{Kind: Blob, Text: text}, {Kind: Null}, {Kind: Text, Text: "last"}}
		more, err := s.Run(&b, want, 7)
		if more || err != nil {
			t.Fatalf("%d bytes: %v, %v; want one row", n, more, err)
		}
		got := make([]Cell, 7)
		if !b.Next(got) || b.Next(make([]Cell, 7)) {
			t.Fatalf("%d bytes: not one row", n)
		}
		for i, cell := range want {
			if got[i] != cell {
				t.Errorf("%d bytes, column %d: got another %v (%d bytes)", n, i, got[i].Kind, len(got[i].Text))
			}
		}
		if got[6] != (Cell{Kind: Integer, Num: 1}) || got[1].Real() != math.Inf(-1) {
			t.Errorf("%d bytes: the last column is %v, the real %v", n, got[6], got[1].Real())
		}
		if b.Trim(); len(b.units) > keptUnits || len(b.args) > keptUnits {
			t.Errorf("%d bytes: a block keeps %d and %d units", n, len(b.units), len(b.args))
		}
	}
}

// Rows are the same however many fit into a block, also where single ones do not.
func TestBlocks(t *testing.T) {
	c := open(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, a);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i, replace(hex(zeroblob(i % 97 * CASE i % 1000 WHEN 0 THEN 5000 ELSE 1 END)), '00', 'x') FROM n`)
	s := prepare(t, c, "SELECT id, a FROM t WHERE id > ? ORDER BY id")
	var b Block
	rows, blocks, err := all(s, &b, []Cell{{Kind: Integer}}, 2)
	if err != nil || len(rows) != 5000 || blocks < 5 {
		t.Fatalf("%d rows in %d blocks, %v; want 5000 in some", len(rows), blocks, err)
	}
	for i, row := range rows {
		n := (i + 1) % 97
		if (i+1)%1000 == 0 {
			n *= 5000
		}
		if want := fmt.Sprint([]Cell{{Kind: Integer, Num: int64(i + 1)}, {Kind: Text, Text: strings.Repeat("x", n)}}); row != want {
			t.Fatalf("row %d is %.80s, want %.80s", i, row, want)
		}
	}
	// A statement that was left may be run again.
	if more, err := s.Run(&b, []Cell{{Kind: Integer}}, 2); !more || err != nil {
		t.Fatal(more, err)
	}
	s.Reset()
	if rows, _, err := all(s, &b, []Cell{{Kind: Integer, Num: 4998}}, 2); len(rows) != 2 || err != nil {
		t.Errorf("after a reset: %d rows, %v; want 2", len(rows), err)
	}
	if rows, _, err := all(s, &b, []Cell{{Kind: Integer, Num: 9999}}, 2); len(rows) != 0 || err != nil {
		t.Errorf("beyond the end: %d rows, %v", len(rows), err)
	}
}

// A step that fails says why, after the rows before it; a statement is usable again.
func TestError(t *testing.T) {
	c := open(t, "CREATE TABLE t (a); INSERT INTO t VALUES ('{}'), ('[1]'), ('no')")
	s := prepare(t, c, "SELECT json(a) FROM t WHERE a <> ?")
	for range 2 {
		rows, _, err := all(s, &Block{}, []Cell{{Kind: Null, Num: 1}}, 1)
		if err != nil || len(rows) != 0 {
			t.Fatalf("%v, %v; NULL is unlike nothing", rows, err)
		}
		rows, _, err = all(s, &Block{}, []Cell{{Kind: Text, Text: "x"}}, 1)
		var own Error
		if len(rows) != 2 || !errors.As(err, &own) || own.Code != 1 || own.Text != "malformed JSON" {
			t.Errorf("%d rows, %#v; want two and SQLite's error 1", len(rows), err)
		}
	}
}

// What runs can be interrupted from elsewhere.
func TestInterrupt(t *testing.T) {
	c := open(t, "CREATE TABLE t (a)")
	own := Install(c)
	s := prepare(t, c, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0")
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for { // it may not run yet
			select {
			case <-done:
				return
			default:
				own.Interrupt()
			}
		}
	}()
	_, _, err := all(s, &Block{}, nil, 1)
	close(done)
	<-over
	var why Error
	if !errors.As(err, &why) || why.Code != 9 {
		t.Errorf("got %v, want SQLITE_INTERRUPT", err)
	}
}

// An equal value leaves the plan as it is; one that SQLite plans for does not.
func TestPrepared(t *testing.T) {
	c := open(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT, n); CREATE INDEX by_n ON t (n) WHERE state = 'open'; CREATE TABLE u (id INTEGER PRIMARY KEY, state TEXT); CREATE INDEX by_state ON u (state, id)")
	plain := prepare(t, c, "SELECT id FROM u WHERE state = ? ORDER BY id LIMIT +?")
	partial := prepare(t, c, "SELECT id FROM t WHERE state = ? AND n = 1")
	count := func(s Statement, text string, more ...Cell) int64 {
		if _, _, err := all(s, &Block{}, append([]Cell{{Kind: Text, Text: text}}, more...), 1); err != nil {
			t.Fatal(err)
		}
		n, ok := s.Prepared()
		if !ok {
			t.Fatal("SQLite does not tell")
		}
		return n
	}
	first := count(plain, "a", Cell{Kind: Integer, Num: 1})
	for i := range int64(10) {
		if n := count(plain, "ab"[i%2:], Cell{Kind: Integer, Num: i}); n != first {
			t.Fatalf("prepared %d times, then %d", first, n)
		}
	}
	first = count(partial, "open")
	if n := count(partial, "done"); n == first {
		t.Error("a value that decides about an index did not have the statement prepared anew")
	}
}
