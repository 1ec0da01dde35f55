//go:build cgo

package store

import (
	"errors"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// openEngine opens a connection. The driver is used without database/sql: a
// page's rows go from SQLite to bytes with no conversion between.
func openEngine(dsn string) (engine, error) {
	c, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
	if err != nil {
		return nil, err
	}
	return c.(*sqlite3.SQLiteConn), nil
}

var _ stmt = (*sqlite3.SQLiteStmt)(nil)

// faultOf classifies an error of the engine.
func faultOf(err error) fault {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return faultOther
	}
	switch e.Code {
	case sqlite3.ErrMismatch:
		return faultType
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
