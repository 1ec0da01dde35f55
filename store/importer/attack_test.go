package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/hostile"
)

// A name in a header, a key, a file's name or an option names a column or a table,
// or is refused: it never is SQL.
func TestHostileHeaders(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	taken := 0
	for i, text := range hostile.Texts() {
		key, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			file, content string
			opts          Options
			column        string // that the import has to have, "" where none is asked
		}{
			{"t.csv", "id,\"" + strings.ReplaceAll(text, `"`, `""`) + "\"\n1,x\n", Options{}, text},
			{"t.json", `[{"id":1,` + string(key) + `:"x"}]`, Options{}, text},
			{"t.jsonl", `{"id":1,` + string(key) + `:"x"}`, Options{}, text},
			{"t.yaml", "- {id: 1, " + string(key) + ": x}\n", Options{}, text},
			{"t.json", `{` + string(key) + `:[{"id":1,"a":"x"}]}`, Options{}, "a"},
			{"t.csv", "id,a\n1,x\n", Options{Table: text}, "a"},
			{"t.csv", "id,a\n1,x\n", Options{Types: map[string]string{"a": text}}, ""},
			{"t.csv", "id,a\n1,x\n", Options{Keys: map[string][]string{"": {text}}}, ""},
			{"t.csv", "id,a\n1,x\n", Options{Keys: map[string][]string{text: {"id"}}}, ""},
			{"t.sql", "CREATE TABLE `" + strings.ReplaceAll(text, "`", "``") + "` (`id` int, `" + strings.ReplaceAll(text, "`", "``") + "` text) ENGINE=InnoDB;\n", Options{}, ""},
			{"t.sql", "CREATE TABLE public.t (id integer, " + fixture.Quote(text) + " text);\nCOPY public.t (id, " + fixture.Quote(text) + ") FROM stdin;\n1\tx\n\\.\n", Options{}, ""},
		} {
			out := filepath.Join(dir, fmt.Sprint("out", i, ".db"))
			opts := c.opts
			file := write(t, dir, c.file, c.content)
			opts.Mode = fixture.Replace
			if _, err := Import(ctx, out, []string{file}, &opts); err != nil {
				continue
			}
			taken++
			checkHostile(t, out, c.column)
		}
	}
	if taken < 6*len(hostile.Texts())-20 {
		t.Errorf("%d of the imports were taken", taken)
	}
}

// checkHostile looks whether an import made one table with the column.
func checkHostile(t *testing.T, path, column string) {
	t.Helper()
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := db.Schema(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tables) != 1 || len(s.Triggers)+len(s.Views) > 0 || column != "" && s.Tables[0].Column(column) < 0 {
		t.Errorf("%q: %q with %v", column, s.Names(), s.Tables[0].Columns)
	}
}
