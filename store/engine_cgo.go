//go:build cgo

package store

import (
	"errors"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/anvil-sim/anvil/store/internal/dbfile"
	"github.com/anvil-sim/anvil/store/internal/native"
)

// openEngine opens a connection. The driver is used without database/sql: a
// page's rows go from SQLite to bytes with no conversion between.
func openEngine(dsn string) (engine, error) {
	c, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
	if err != nil {
		return nil, err
	}
	raw := c.(*sqlite3.SQLiteConn)
	return sqliteConn{raw, native.Install(raw)}, nil
}

// A sqliteConn is a connection of the driver as an engine.
type sqliteConn struct {
	*sqlite3.SQLiteConn
	own *native.Conn // nil where the driver's version does not tell it
}

// Visits implements engine.
func (c sqliteConn) Visits() bool { return c.own != nil }

// Visited implements engine.
func (c sqliteConn) Visited() int64 {
	if c.own == nil {
		return 0
	}
	return c.own.Visits()
}

// Interrupt implements engine.
func (c sqliteConn) Interrupt() {
	if c.own != nil {
		c.own.Interrupt()
	}
}

// Prepare implements engine.
func (c sqliteConn) Prepare(sql string) (stmt, error) {
	s, err := c.SQLiteConn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	raw := s.(*sqlite3.SQLiteStmt)
	own := native.StatementOf(raw)
	if c.own == nil {
		own = native.Statement{} // nothing could interrupt it
	}
	return sqliteStmt{raw, own}, nil
}

// Guard implements engine.
func (c sqliteConn) Guard(on bool) {
	if !on {
		c.RegisterAuthorizer(nil)
		return
	}
	c.RegisterAuthorizer(func(action int, arg1, arg2, _ string) int {
		if allowed(action, arg2) {
			return sqlite3.SQLITE_OK
		}
		return sqlite3.SQLITE_DENY
	})
}

// allowed tells what a call may do: read, write rows, begin and end transactions
// and call functions, but for the one that loads code.
func allowed(action int, function string) bool {
	switch action {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE,
		sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT, sqliteRecursive:
		return true
	case sqlite3.SQLITE_FUNCTION:
		name := strings.ToLower(function)
		return name != "load_extension" && name != "fts3_tokenizer"
	case sqlite3.SQLITE_PRAGMA:
		// Full-text tables ask for it when they write.
		return function == ""
	}
	return false
}

// sqliteRecursive is SQLITE_RECURSIVE, which the driver has no name for.
const sqliteRecursive = 33

// SaveTo implements engine. The file is a plain database: no write-ahead log
// stands beside it. It is for the caller to have it reach the disk.
func (c sqliteConn) SaveTo(file, schema string) error {
	to, err := (&sqlite3.SQLiteDriver{}).Open("file:" + dbfile.EscapeURI(file) + "?_synchronous=OFF")
	if err != nil {
		return err
	}
	dest := to.(*sqlite3.SQLiteConn)
	b, err := dest.Backup("main", c.SQLiteConn, schema)
	if err == nil {
		_, err = b.Step(-1)
		// Finishing repeats the error of the last step.
		if finishErr := b.Finish(); err == nil {
			err = finishErr
		}
	}
	if err == nil {
		_, err = dest.Exec("PRAGMA journal_mode=DELETE", nil)
	}
	return errors.Join(err, dest.Close())
}

// A sqliteStmt is a statement of the driver as a stmt.
type sqliteStmt struct {
	*sqlite3.SQLiteStmt
	native.Statement
}

// faultOf classifies an error of the engine.
func faultOf(err error) fault {
	var e sqlite3.Error
	var own native.Error
	msg := ""
	switch {
	case errors.As(err, &own):
		e.Code, e.ExtendedCode, msg = sqlite3.ErrNo(own.Code&0xff), sqlite3.ErrNoExtended(own.Code), own.Text
	case errors.As(err, &e):
		msg = e.Error()
	default:
		return faultOther
	}
	switch e.Code {
	case sqlite3.ErrMismatch:
		return faultType
	case sqlite3.ErrError:
		switch {
		case lacking(msg):
			return faultLack
		case strings.HasPrefix(msg, "malformed JSON"):
			return faultRule
		}
		return faultOther
	case sqlite3.ErrFull:
		return faultFull
	case sqlite3.ErrTooBig:
		return faultLarge
	case sqlite3.ErrConstraint:
	default:
		return faultOther
	}
	switch e.ExtendedCode {
	case sqlite3.ErrConstraintNotNull:
		return faultNotNull
	case sqlite3.ErrConstraintUnique, sqlite3.ErrConstraintPrimaryKey, sqlite3.ErrConstraintRowID:
		return faultUnique
	case sqlite3.ErrConstraintCheck:
		return faultCheck
	case sqlite3.ErrConstraintForeignKey:
		return faultForeignKey
	}
	return faultRule
}
