//go:build cgo

package visits

import (
	"reflect"

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

// SQLITE_STMTSTATUS_FULLSCAN_STEP and SQLITE_STMTSTATUS_AUTOINDEX, set back to nothing:
// the scan that fills a transient index is not in the first.
static int64_t anvil_scanned(void *stmt) {
	return (int64_t)sqlite3_stmt_status(stmt, 1, 1) + sqlite3_stmt_status(stmt, 3, 1);
}
*/
import "C"

// A Counter counts what [Term] is asked on one connection. It lives as long as the
// connection does.
type Counter struct{ n *C.int64_t }

// Install adds [Term] to a connection. It returns nil where that is not possible:
// the driver keeps the handle to itself, and another version may call it otherwise.
func Install(c *sqlite3.SQLiteConn) *Counter {
	db := reflect.ValueOf(c).Elem().FieldByName("db")
	if db.Kind() != reflect.Pointer || db.IsNil() {
		return nil
	}
	n := C.anvil_install(db.UnsafePointer())
	if n == nil {
		return nil
	}
	return &Counter{n}
}

// Take returns the count since the last time, and begins again.
func (c *Counter) Take() int64 {
	n := *c.n
	*c.n = 0
	return int64(n)
}

// Scanned is how many rows the runs of a statement since the last time stepped over
// in scans of whole tables and indexes, those that fill a transient index for a join
// too: SQLite's own counts. What an index was searched for is not in it. ok is false where the driver's version does not let it be asked.
func Scanned(s *sqlite3.SQLiteStmt) (n int64, ok bool) {
	stmt := reflect.ValueOf(s).Elem().FieldByName("s")
	if stmt.Kind() != reflect.Pointer || stmt.IsNil() {
		return 0, false
	}
	return int64(C.anvil_scanned(stmt.UnsafePointer())), true
}
