//go:build cgo

package native

import (
	"reflect"
	"unsafe"

	sqlite3 "github.com/mattn/go-sqlite3"
)

/*
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
typedef void (*anvil_step)(sqlite3_context*, int, sqlite3_value**);

extern int sqlite3_create_function_v2(sqlite3*, const char*, int, int, void*, anvil_step, anvil_step, void (*)(sqlite3_context*), void (*)(void*));
extern void sqlite3_interrupt(sqlite3*);
extern int sqlite3_stmt_status(sqlite3_stmt*, int, int);
extern void *sqlite3_user_data(sqlite3_context*);
extern void sqlite3_result_int(sqlite3_context*, int);
extern void *sqlite3_malloc(int);
extern void sqlite3_free(void*);

static void anvil_visit(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
	(*(int64_t*)sqlite3_user_data(ctx))++;
	sqlite3_result_int(ctx, 1);
}

// SQLITE_UTF8 | SQLITE_DIRECTONLY, and not deterministic: it is called for each row,
// by no view and no trigger.
static int64_t *anvil_install(void *db) {
	int64_t *n = sqlite3_malloc(sizeof *n);
	if (n == 0) return 0;
	*n = 0;
	// Where this fails, and when the connection is closed, SQLite frees n.
	return sqlite3_create_function_v2(db, "anvil_visit", 0, 1 | 0x80000, n, anvil_visit, 0, 0, sqlite3_free) == 0 ? n : 0;
}

static void anvil_interrupt(void *db) { sqlite3_interrupt(db); }

// SQLITE_STMTSTATUS_FULLSCAN_STEP, set back to nothing.
static int64_t anvil_scanned(void *stmt) { return sqlite3_stmt_status(stmt, 1, 1); }

// SQLITE_STMTSTATUS_REPREPARE, kept.
static int64_t anvil_prepared(void *stmt) { return sqlite3_stmt_status(stmt, 5, 0); }
*/
import "C"

// A Conn is SQLite's own connection. It is good as long as the driver's is open.
type Conn struct {
	db     unsafe.Pointer
	visits *C.int64_t
}

// Install returns the connection of one of the driver's and adds [Visit] to it. It
// returns nil where that is not possible: the driver keeps the handle to itself, and
// another version may call it otherwise.
func Install(c *sqlite3.SQLiteConn) *Conn {
	db := reflect.ValueOf(c).Elem().FieldByName("db")
	if db.Kind() != reflect.Pointer || db.IsNil() {
		return nil
	}
	n := C.anvil_install(db.UnsafePointer())
	if n == nil {
		return nil
	}
	return &Conn{db.UnsafePointer(), n}
}

// Visits returns how often [Visit] was asked since the last time, and begins again.
func (c *Conn) Visits() int64 {
	n := *c.visits
	*c.visits = 0
	return int64(n)
}

// Interrupt ends the statements that are running with an error. Any goroutine may call it.
func (c *Conn) Interrupt() { C.anvil_interrupt(c.db) }

// A Statement is SQLite's own prepared statement. It is good as long as the driver's
// is open. The zero Statement knows nothing.
type Statement struct{ ptr unsafe.Pointer }

// Known tells whether a statement is not the zero one.
func (s Statement) Known() bool { return s.ptr != nil }

// StatementOf returns the statement of one of the driver's, the zero Statement where
// the driver's version keeps it elsewhere.
func StatementOf(s *sqlite3.SQLiteStmt) Statement {
	stmt := reflect.ValueOf(s).Elem().FieldByName("s")
	if stmt.Kind() != reflect.Pointer || stmt.IsNil() {
		return Statement{}
	}
	return Statement{stmt.UnsafePointer()}
}

// Scanned is how many rows the runs of a statement since the last time stepped over
// in scans of whole tables and indexes, SQLite's own count. What an index was searched
// for is not in it. ok is false for the zero Statement.
func (s Statement) Scanned() (n int64, ok bool) {
	if s.ptr == nil {
		return 0, false
	}
	return int64(C.anvil_scanned(s.ptr)), true
}

// Prepared is how often SQLite prepared a statement anew: the schema or the statistics
// changed, or a value was bound that its plan depends on. While it stays, so does the
// plan. ok is false for the zero Statement.
func (s Statement) Prepared() (n int64, ok bool) {
	if s.ptr == nil {
		return 0, false
	}
	return int64(C.anvil_prepared(s.ptr)), true
}
