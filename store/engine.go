package store

import (
	"database/sql/driver"

	"github.com/anvil-sim/anvil/store/internal/native"
)

// An engine is one connection to SQLite. This is the seam to the driver: what
// stands behind it is chosen when the program is built.
type engine interface {
	Prepare(sql string) (stmt, error)
	Exec(sql string, args []driver.Value) (driver.Result, error)
	// AutoCommit tells whether no transaction is open.
	AutoCommit() bool
	// RegisterFunc puts a Go function in the place of an SQL function.
	RegisterFunc(name string, fn any, pure bool) error
	// Guard refuses, from now on, what a call has no use for: schema changes, other
	// databases, pragmas, code from files; or no longer.
	Guard(on bool)
	// SaveTo writes a whole database of the connection, "main" or an attached one, to
	// a new file.
	SaveTo(file, schema string) error
	// Visits tells whether [native.Visit] can stand in statements: it counts the rows
	// that they look at.
	Visits() bool
	// Visited is that count since the last time.
	Visited() int64
	// Interrupt ends the statement that is read in blocks with an error.
	Interrupt()
	Close() error
}

// A stmt is a prepared statement of an engine.
type stmt interface {
	driver.Stmt
	driver.StmtQueryContext
	// Scanned is how many rows it stepped over in full scans since the last time; ok
	// is false where that cannot be known.
	Scanned() (n int64, ok bool)
	// Prepared changes when its plan may have; ok as for Scanned.
	Prepared() (n int64, ok bool)
	// Known tells whether it can be read in blocks.
	Known() bool
	// Run, Read and Reset are those of [native.Statement].
	Run(b *native.Block, args []cell, cols int) (more bool, err error)
	Read(b *native.Block, cols int) (more bool, err error)
	Reset()
}

// A fault is why SQLite refused a write, as far as it is the caller's doing.
type fault uint8

const (
	faultOther fault = iota // not the caller's doing
	faultNotNull
	faultUnique
	faultCheck
	faultForeignKey
	faultType  // a value of the wrong type
	faultLarge // a value too large
	faultRule  // any other rule of the schema, a trigger's too
	faultLack  // the statement, or a trigger that it starts, names what is not there
	faultFull  // no room: on the disk, or after the largest AUTOINCREMENT key
)
