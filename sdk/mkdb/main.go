// Command mkdb makes a SQLite file from SQL.
package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "github.com/mattn/go-sqlite3"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "mkdb:", err)
		os.Exit(1)
	}
}

func run(script, file string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(string(text))
	return err
}
