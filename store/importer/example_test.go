package importer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/anvil-sim/anvil/store/compare"
	"github.com/anvil-sim/anvil/store/export"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/importer"
)

// A CSV file becomes a table, which is written as JSON Lines.
func ExampleImport() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "users.csv"), filepath.Join(dir, "fixtures.db")
	if err := os.WriteFile(in, []byte("id,name,born\n2,Grace,1906-12-09\n1,Ada,1815-12-10\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	report, err := importer.Import(context.Background(), out, []string{in}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	t := report.Tables[0]
	fmt.Println(t.Name, t.Rows, "rows, key", t.Key, strings.Join(t.Columns, ", "))
	db, err := fixture.Open(out)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	if err := export.Write(context.Background(), db, os.Stdout, &export.Options{Format: export.JSONL}); err != nil {
		fmt.Println(err)
	}
	digest, err := compare.Sum(context.Background(), db)
	fmt.Println(len(digest.Sum), err)
	// Output:
	// users 2 rows, key [id] id INTEGER, name TEXT, born DATE
	// {"id":1,"name":"Ada","born":"1815-12-10"}
	// {"id":2,"name":"Grace","born":"1906-12-09"}
	// 64 <nil>
}
