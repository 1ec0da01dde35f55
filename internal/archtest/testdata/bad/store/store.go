// Package store knows SQLite.
package store

import _ "github.com/mattn/go-sqlite3"
