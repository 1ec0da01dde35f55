//go:build cgo

package native

import (
	"context"
	"database/sql/driver"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// The driver's version that this module asks for lets rows be counted: its handles are
// where they are looked for.
func TestDriver(t *testing.T) {
	raw, err := (&sqlite3.SQLiteDriver{}).Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	c := raw.(*sqlite3.SQLiteConn)
	own := Install(c)
	if own == nil {
		t.Fatal("the driver's handle of a connection was not found; look at the fields of SQLiteConn")
	}
	if _, err := c.Exec("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3); CREATE VIEW v AS SELECT * FROM t WHERE "+Visit, nil); err != nil {
		t.Fatal(err)
	}
	st, err := c.Prepare("SELECT a FROM t WHERE " + Visit + " AND a > 2")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := st.(driver.StmtQueryContext).QueryContext(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	val := make([]driver.Value, 1)
	for rows.Next(val) == nil {
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if n := own.Visits(); n != 3 || own.Visits() != 0 {
		t.Errorf("counted %d rows, want 3 once", n)
	}
	if n, ok := StatementOf(st.(*sqlite3.SQLiteStmt)).Scanned(); !ok || n != 2 {
		t.Errorf("scanned %d rows, %v; want 2 steps forward; look at the fields of SQLiteStmt", n, ok)
	}
	if _, err := c.Prepare("SELECT * FROM v"); err == nil {
		t.Error("a view of the fixture called the counter")
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
