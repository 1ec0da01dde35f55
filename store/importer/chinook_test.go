package importer_test

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/store/compare"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/importer"
)

// The MySQL script of Chinook gives the tables and rows of its SQLite file. Four
// names differ, since the script does not escape their backslashes.
func TestChinookOfTwoVendors(t *testing.T) {
	f, err := os.Open("testdata/chinook_mysql.sql.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script, made := filepath.Join(dir, "chinook.sql"), filepath.Join(dir, "chinook.db")
	if err := os.WriteFile(script, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := importer.Import(context.Background(), made, []string{script}, nil); err != nil {
		t.Fatal(err)
	}
	want, err := fixture.Open("../testdata/chinook.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	got, err := fixture.Open(made)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	var out strings.Builder
	v := compare.NewText(&out, 1)
	if _, err := compare.Diff(context.Background(), want, got, v, nil); err != nil {
		t.Fatal(err)
	}
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
	said := `Track: 0 added, 0 removed, 4 changed of 3503 rows
  ~ 3435  Name: "Cavalleria Rusticana \\ Act \\ Intermezzo Sinfonico" -> "Cavalleria Rusticana  Act  Intermezzo Sinfonico"
  ... and 3 more; --limit 0 shows all
`
	if diff := cmp.Diff(said, out.String()); diff != "" {
		t.Error(diff)
	}
}
