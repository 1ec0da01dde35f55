//go:build cgo

package native

import "unsafe"

/*
#include <stdint.h>
#include <string.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

extern int sqlite3_step(sqlite3_stmt*);
extern int sqlite3_reset(sqlite3_stmt*);
extern int sqlite3_bind_null(sqlite3_stmt*, int);
extern int sqlite3_bind_int64(sqlite3_stmt*, int, int64_t);
extern int sqlite3_bind_double(sqlite3_stmt*, int, double);
extern int sqlite3_bind_text64(sqlite3_stmt*, int, const char*, uint64_t, void (*)(void*), unsigned char);
extern int sqlite3_bind_blob64(sqlite3_stmt*, int, const void*, uint64_t, void (*)(void*));
extern sqlite3 *sqlite3_db_handle(sqlite3_stmt*);
extern const char *sqlite3_errmsg(sqlite3*);
extern int sqlite3_extended_errcode(sqlite3*);
extern int sqlite3_data_count(sqlite3_stmt*);
extern int sqlite3_column_type(sqlite3_stmt*, int);
extern int sqlite3_column_bytes(sqlite3_stmt*, int);
extern int64_t sqlite3_column_int64(sqlite3_stmt*, int);
extern double sqlite3_column_double(sqlite3_stmt*, int);
extern const void *sqlite3_column_blob(sqlite3_stmt*, int);
extern const unsigned char *sqlite3_column_text(sqlite3_stmt*, int);

// One value; the bytes of a row's texts follow its values, each padded to whole units.
typedef struct { int64_t num; int32_t kind, n; } anvil_unit;

typedef struct { int64_t used, rows, want; } anvil_filled;

enum { ANVIL_ROW = 100, ANVIL_DONE = 101, ANVIL_OK = 0, ANVIL_NOMEM = 7 }; // SQLITE_ROW and so on

static int64_t anvil_units(int32_t n) { return ((int64_t)n + sizeof(anvil_unit) - 1) / sizeof(anvil_unit); }

// Reads one value, and returns how many units its bytes take.
static int64_t anvil_value(sqlite3_stmt *s, int i, anvil_unit *u, const void **bytes) {
	double d;
	u->num = 0; u->n = 0; *bytes = 0;
	switch (u->kind = sqlite3_column_type(s, i)) {
	case 1: u->num = sqlite3_column_int64(s, i); return 0;
	case 2: d = sqlite3_column_double(s, i); memcpy(&u->num, &d, sizeof d); return 0;
	case 3: *bytes = sqlite3_column_text(s, i); break;
	case 4: *bytes = sqlite3_column_blob(s, i); break;
	default: return 0;
	}
	u->n = *bytes ? sqlite3_column_bytes(s, i) : 0;
	return anvil_units(u->n);
}

// Writes the row that the statement stands on: ANVIL_OK. Where there is no room for it,
// ANVIL_ROW, and want is how much it takes.
static int anvil_row(sqlite3_stmt *s, int cols, anvil_unit *buf, int64_t cap, anvil_filled *f) {
	int i;
	f->want = cols;
	for (i = 0; i < cols; i++) {
		anvil_unit u;
		const void *bytes;
		int64_t at = f->used + f->want;
		f->want += anvil_value(s, i, &u, &bytes);
		if (u.kind == 3 && !bytes) return ANVIL_NOMEM;
		if (f->used + f->want > cap) continue;
		buf[f->used + i] = u;
		if (u.n) memcpy(buf + at, bytes, u.n);
	}
	if (f->used + f->want > cap) return ANVIL_ROW;
	f->used += f->want;
	f->rows++;
	return ANVIL_OK;
}

// Binds values of the same form. SQLite copies the bytes (SQLITE_TRANSIENT): they are
// Go's. Bindings are not cleared first, since SQLite then forgets that an equal value
// leaves its plan as it is.
static int anvil_bind(sqlite3_stmt *s, int n, const anvil_unit *args) {
	const anvil_unit *bytes = args + n;
	int i, rc = ANVIL_OK;
	for (i = 0; i < n && rc == ANVIL_OK; i++) {
		const anvil_unit *u = args + i;
		double d;
		switch (u->kind) {
		case 1: rc = sqlite3_bind_int64(s, i + 1, u->num); break;
		case 2: memcpy(&d, &u->num, sizeof d); rc = sqlite3_bind_double(s, i + 1, d); break;
		case 3: rc = sqlite3_bind_text64(s, i + 1, (const char*)bytes, u->n, (void (*)(void*))-1, 1); break;
		case 4: rc = sqlite3_bind_blob64(s, i + 1, bytes, u->n, (void (*)(void*))-1); break;
		default: rc = sqlite3_bind_null(s, i + 1);
		}
		bytes += anvil_units(u->n);
	}
	return rc;
}

// Writes rows from the one that the statement stands on until there is no room
// (ANVIL_ROW), none is left (ANVIL_DONE) or a step fails. But for the first, the
// statement is over.
static int anvil_rows(sqlite3_stmt *s, int rc, int cols, anvil_unit *buf, int64_t cap, anvil_filled *f) {
	f->used = f->rows = f->want = 0;
	while (rc == ANVIL_ROW) {
		if ((rc = anvil_row(s, cols, buf, cap, f)) == ANVIL_OK) rc = sqlite3_step(s);
		else if (rc == ANVIL_ROW) return rc;
	}
	if (rc == ANVIL_DONE) sqlite3_reset(s);
	return rc;
}

static int anvil_run(void *s, int n, void *args, int cols, void *buf, int64_t cap, anvil_filled *f) {
	int rc;
	sqlite3_reset(s);
	rc = anvil_bind(s, n, args);
	return anvil_rows(s, rc == ANVIL_OK ? sqlite3_step(s) : rc, cols, buf, cap, f);
}

static int anvil_read(void *s, int cols, void *buf, int64_t cap, anvil_filled *f) {
	return anvil_rows(s, sqlite3_data_count(s) ? ANVIL_ROW : ANVIL_DONE, cols, buf, cap, f);
}

// The last error of a statement's connection.
static const char *anvil_error(void *s, int *code) {
	sqlite3 *db = sqlite3_db_handle(s);
	*code = sqlite3_extended_errcode(db);
	return sqlite3_errmsg(db);
}

static void anvil_reset(void *s) { sqlite3_reset(s); }
*/
import "C"

// The two sides agree on what a unit is.
var _ = [1]struct{}{}[unsafe.Sizeof(unit{})-unsafe.Sizeof(C.anvil_unit{})]

// Run begins a statement anew with values for its parameters, and fills a block with its
// first rows of cols columns each. more tells whether others follow, for [Statement.Read];
// without them the statement is over. The error is an [Error]; the rows before it are in
// the block.
func (s Statement) Run(b *Block, args []Cell, cols int) (more bool, err error) {
	b.bind(args)
	b.room()
	var f C.anvil_filled
	rc := C.anvil_run(s.ptr, C.int(len(args)), unsafe.Pointer(&b.args[0]), C.int(cols), unsafe.Pointer(&b.units[0]), C.int64_t(len(b.units)), &f)
	return s.filled(b, cols, rc, &f)
}

// Read fills a block with the next rows of a statement that runs, as [Statement.Run] does.
func (s Statement) Read(b *Block, cols int) (more bool, err error) {
	b.room()
	var f C.anvil_filled
	rc := C.anvil_read(s.ptr, C.int(cols), unsafe.Pointer(&b.units[0]), C.int64_t(len(b.units)), &f)
	return s.filled(b, cols, rc, &f)
}

// Reset ends a statement of which no more rows are wanted.
func (s Statement) Reset() { C.anvil_reset(s.ptr) }

// filled takes what a run left in a block.
func (s Statement) filled(b *Block, cols int, rc C.int, f *C.anvil_filled) (more bool, err error) {
	b.next, b.rows, b.full = 0, int(f.rows), rc == C.ANVIL_ROW
	switch {
	case b.full && b.rows == 0:
		b.units = make([]unit, f.want)
		return s.Read(b, cols)
	case b.full || rc == C.ANVIL_DONE:
		return b.full, nil
	}
	var code C.int
	text := C.GoString(C.anvil_error(s.ptr, &code))
	s.Reset()
	return false, Error{int(code), text}
}
