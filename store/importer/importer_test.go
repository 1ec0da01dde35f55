package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/store/fixture"
)

// write makes a file and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func importText(t *testing.T, name, text string, opts *Options) (string, *Report, error) {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out.db")
	report, err := Import(context.Background(), out, []string{write(t, dir, name, text)}, opts)
	return out, report, err
}

// look runs a query on a database file and spells its rows one a line.
func look(t *testing.T, path, sql string, cols int) string {
	t.Helper()
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out []byte
	err = db.Query(context.Background(), sql, nil, cols, func(vals []fixture.Value) error {
		for i, v := range vals {
			if i > 0 {
				out = append(out, '|')
			}
			out = fixture.AppendLiteral(out, v)
		}
		out = append(out, '\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestInference(t *testing.T) {
	tests := []struct {
		name, file, text string
		columns          string
		key              string
	}{
		{"types of CSV", "t.csv", "id,n,r,b,d,w,s,z,big,empty\n1,1,1.5,true,2026-01-02,2026-01-02T03:04:05Z,x,007,12345678901234567890,\n2,,2,FALSE,2026-01-03,2026-01-03 00:00:00,y,12,3,\n",
			"id INTEGER, n INTEGER, r REAL, b BOOLEAN, d DATE, w DATETIME, s TEXT, z TEXT, big TEXT, empty TEXT", "id"},
		{"a real that a double does not hold is text", "t.csv", "id,a,b\n1,0.1234567890123456789,1.10\n2,2,2.20\n", "id INTEGER, a TEXT, b REAL", "id"},
		{"an infinity, a hex number and an underscore are text", "t.csv", "a,b,c\ninf,0x10,1_000\nNaN,0x11,2_000\n", "a TEXT, b TEXT, c TEXT", "a"},
		{"a first column that tells rows apart is the key", "t.csv", "code,n\nx,1\ny,1\n", "code TEXT, n INTEGER", "code"},
		{"a first column of measures is none", "t.csv", "n,m\n1,1\n2,1\n", "n INTEGER, m INTEGER", ""},
		{"a repeated id is none", "t.csv", "id,n\n1,1\n1,2\n", "id INTEGER, n INTEGER", ""},
		{"a missing id is none", "t.csv", "id,n\n1,1\n,2\n", "id INTEGER, n INTEGER", ""},
		{"the table's own id", "users.csv", "name,user_id\na,1\nb,2\n", "name TEXT, user_id INTEGER", "user_id"},
		{"semicolons", "t.csv", "id;a\n1;x\n2;y\n", "id INTEGER, a TEXT", "id"},
		{"TSV", "t.tsv", "id\ta\n1\tx,y\n", "id INTEGER, a TEXT", "id"},
		{"a byte order mark and CRLF", "t.csv", "\xEF\xBB\xBFid,a\r\n1,x\r\n", "id INTEGER, a TEXT", "id"},
		{"JSON", "t.json", `[{"id":1,"s":"x","b":true,"o":{"a":[1]},"n":null},{"id":2,"s":"y","b":false,"o":[],"later":1.5}]`,
			"id INTEGER, s TEXT, b BOOLEAN, o JSON, n TEXT, later REAL", "id"},
		{"texts and numbers mixed keep their types", "t.json", `[{"id":"a","v":1},{"id":"b","v":"x"}]`, "id TEXT, v", "id"},
		{"numbers in strings are texts", "t.json", `[{"id":"1"},{"id":"2"}]`, "id TEXT", "id"},
		{"JSON Lines", "t.jsonl", "{\"id\":1}\n\n{\"id\":2,\"x\":\"y\"}", "id INTEGER, x TEXT", "id"},
		{"YAML", "t.yaml", "- {id: 1, on: yes, d: 2026-01-02, o: 0o17, f: .5}\n- {id: 2, on: no, d: 2026-01-03, o: 1, f: 1}\n",
			"id INTEGER, on TEXT, d DATE, o INTEGER, f REAL", "id"},
		{"an object of alike objects", "t.json", `{"a":{"x":1,"y":1},"b":{"x":2,"y":2}}`, "key TEXT, x INTEGER, y INTEGER", "key"},
		{"a wrapper", "t.json", `{"people":{"a":{"x":1},"b":{"x":2}}}`, "key TEXT, x INTEGER", "key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, report, err := importText(t, tt.file, tt.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := report.Tables[0]
			if s := strings.Join(got.Columns, ", "); s != tt.columns {
				t.Errorf("columns %s\nwant    %s", s, tt.columns)
			}
			if s := strings.Join(got.Key, ","); s != tt.key {
				t.Errorf("key %q, want %q", s, tt.key)
			}
		})
	}
}

func TestValues(t *testing.T) {
	out, _, err := importText(t, "t.csv", "id,a,b,c\n1,,\"\",\"x \"\"y\"\"\nz\"\n2,\"2\",007,é\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "1|NULL|''|'x \"y\"\nz'\n2|2|'007'|'é'\n"
	if got := look(t, out, "SELECT id, a, b, c FROM t", 4); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	out, _, err = importText(t, "t.json", `[{"id":1,"o":{"b": 1, "a":[1.10,"é"]},"ok":true,"v":1.0,"raw":{"$base64":"AP8="}}]`, nil)
	if err != nil {
		t.Fatal(err)
	}
	want = `1|'{"b":1,"a":[1.10,"é"]}'|1|1.0|X'00FF'` + "\n"
	if got := look(t, out, "SELECT id, o, +ok, v, raw FROM t", 5); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestAskedKeysAndTypes(t *testing.T) {
	opts := &Options{
		Types: map[string]string{"zip": "TEXT", "t.amount": "numeric(10,2)"},
		Keys:  map[string][]string{"t": {"year", "zip"}},
	}
	out, report, err := importText(t, "t.csv", "id,zip,year,amount\n1,8001,2025,1.10\n2,8001,2026,2\n", opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(report.Tables[0].Columns, ", "), "id INTEGER, zip TEXT, year INTEGER, amount NUMERIC(10,2)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := look(t, out, "SELECT zip, amount FROM t ORDER BY id", 2), "'8001'|1.1\n'8001'|2\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"year", "zip"}, report.Tables[0].Key); diff != "" {
		t.Error(diff)
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name, file, text string
		opts             *Options
		want             string // part of the error, %s is the file
	}{
		{"too few fields", "t.csv", "a,b\n1,2\n3\n", nil, "%s:3: found 1 field(s), want 2"},
		{"no closing quote", "t.csv", "a,b\n1,\"2\n3,4\n", nil, "%s: line 2: a quoted field has no closing quote"},
		{"text behind a quote", "t.csv", "a\n\"1\"2\n", nil, `%s: line 2: found "2" behind a closing quote`},
		{"bytes that are no text", "t.csv", "a\n\xff\n", nil, "%s: line 2: found bytes that are no UTF-8"},
		{"a column twice", "t.csv", "a,A\n1,2\n", nil, `columns 1 and 2 are both named "A"`},
		{"a column without a name", "t.csv", "a,,b\n1,2,3\n", nil, "column 2 has no name"},
		{"an empty file", "t.csv", "", nil, "the file is empty"},
		{"UTF-16", "t.csv", "\xFF\xFEa\x00", nil, "iconv"},
		{"no JSON", "t.json", "[{]", nil, "%s: line 1, column 3"},
		{"no objects", "t.json", "[1,2]", nil, "element 1 of the array is 1, want an object"},
		{"a scalar", "t.json", "12", nil, "want an array of objects"},
		{"a value beside tables", "t.json", `{"a":[{"x":1}],"b":1}`, nil, `key "b": it is 1`},
		{"a bad line", "t.jsonl", "{\"a\":1}\n{\"a\":\n", nil, "%s:2: column"},
		{"a line of another kind", "t.jsonl", "{\"a\":1}\n[1]\n", nil, "%s:2: found [1], want an object"},
		{"a bad YAML", "t.yaml", "a: [", nil, "%s: line 1"},
		{"a type that does not fit", "t.csv", "id,n\n1,2\n2,x\n", &Options{Types: map[string]string{"n": "INTEGER"}}, "%s:3: column \"n\": found `x`, want an integer"},
		{"a type that does not fit, in JSON", "t.json", "[\n {\"id\":1,\"n\":2},\n {\"id\":2,\"n\":\"x\"}\n]", &Options{Types: map[string]string{"n": "INTEGER"}}, "%s:3: column \"n\": found \"x\", want an integer"},
		{"a type that does not fit, in YAML", "t.yaml", "rows:\n- {id: 1, n: 1}\n- {id: 2, n: x}\n- {id: 3, n: 1}\n", &Options{Types: map[string]string{"n": "INTEGER"}}, "%s:3: column \"n\""},
		{"a repeated key", "t.csv", "id,n\n1,1\n1,2\n", &Options{Keys: map[string][]string{"": {"id"}}}, "%s:3: UNIQUE constraint failed: t.id"},
		{"a key that is not there", "t.csv", "id\n1\n", &Options{Keys: map[string][]string{"t": {"x"}}}, `has no column "x", it has id`},
		{"a key that no table has", "t.csv", "id\n1\n", &Options{Keys: map[string][]string{"": {"x"}}}, "--pk x: no imported table has these columns"},
		{"a type of no column", "t.csv", "id\n1\n", &Options{Types: map[string]string{"x": "TEXT"}}, "--types x: no imported table has this column"},
		{"a type that is SQL", "t.csv", "id\n1\n", &Options{Types: map[string]string{"id": "TEXT); DROP TABLE t; --"}}, "want a type such as"},
		{"an unknown format", "t.bin", "x", nil, "say it with --format"},
		{"SQLite's own name", "sqlite_x.csv", "id\n1\n", nil, "SQLite's own"},
		{"SQL that attaches", "t.sql", "CREATE TABLE t(a); ATTACH 'x.db' AS x;", nil, "line 1: found ATTACH"},
		{"a command of the shell", "t.sql", ".import x y\n", nil, "line 1, column 1: found a command of the sqlite3 shell"},
		{"a bad statement", "t.sql", "CREATE TABLE t(a);\n\nINSERT INTO u VALUES (1);", nil, "line 3: no such table: u"},
		{"MySQL's wrong number of values", "t.sql", "CREATE TABLE `t` (`a` int) ENGINE=InnoDB;\nINSERT INTO `t` VALUES (1),\n(2,3);", nil, "%s:3: found 2 value(s) for 1 columns"},
		{"MySQL's expression", "t.sql", "CREATE TABLE `t` (`a` int) ENGINE=InnoDB;\nINSERT INTO `t` VALUES (now());", nil, "line 2, column 25: found the expression \"now\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file, out := write(t, dir, tt.file, tt.text), filepath.Join(dir, "out.db")
			_, err := Import(context.Background(), out, []string{file}, tt.opts)
			want := strings.ReplaceAll(tt.want, "%s", file)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got  %v\nwant ...%s...", err, want)
			}
			left, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(left) != 1 {
				t.Errorf("left behind: %q %v", left, err)
			}
		})
	}
}

func TestBadRowsAreCollected(t *testing.T) {
	text := "id,n\n"
	for i := range 30 {
		text += fmt.Sprintf("%d,x\n", i)
	}
	_, _, err := importText(t, "t.csv", text, &Options{Types: map[string]string{"n": "INTEGER"}})
	var bad *BadRowsError
	if !errors.As(err, &bad) || len(bad.Rows) != 10 || !bad.More {
		t.Fatalf("got %v", err)
	}
	_, report, err := importText(t, "t.csv", "id,n\n1,1\n2,x\n3,3\n1,4\n", &Options{Types: map[string]string{"n": "INTEGER"}, Keys: map[string][]string{"": {"id"}}, SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Tables[0]; got.Rows != 2 || got.Skipped != 2 || len(report.Notes) != 2 {
		t.Errorf("got %+v %q", got, report.Notes)
	}
}

func TestModes(t *testing.T) {
	dir := t.TempDir()
	out, ctx := filepath.Join(dir, "out.db"), context.Background()
	one, two := write(t, dir, "one.csv", "id,a\n1,x\n"), write(t, dir, "two.csv", "id,b\n1,y\n")
	if _, err := Import(ctx, out, []string{one}, nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(ctx, out, []string{one}, nil); !errors.Is(err, fixture.ErrExists) {
		t.Errorf("a second import: %v", err)
	}
	if _, err := Import(ctx, out, []string{one}, &Options{Mode: fixture.Into}); err == nil {
		t.Error("the same rows were taken twice")
	}
	after, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a failed import changed the file (%v)", err)
	}
	if _, err := Import(ctx, out, []string{two}, &Options{Mode: fixture.Into}); err != nil {
		t.Fatal(err)
	}
	more := write(t, dir, "more.jsonl", `{"id":2,"a":"z"}`+"\n")
	if _, err := Import(ctx, out, []string{more}, &Options{Mode: fixture.Into, Table: "one"}); err != nil {
		t.Fatal(err)
	}
	if got, want := look(t, out, "SELECT o.a, t.b FROM one AS o LEFT JOIN two AS t USING (id)", 2), "'x'|'y'\n'z'|NULL\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := Import(ctx, out, []string{one}, &Options{Mode: fixture.Replace}); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(before, again) {
		t.Errorf("two imports of the same rows differ (%v)", err)
	}
}

func TestFolderLinksTables(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, in, "authors.csv", "id,name\n1,a\n2,b\n")
	write(t, in, "books.json", `[{"id":7,"author_id":1},{"id":8,"author_id":null}]`)
	write(t, in, "notes.csv", "id,author_id\n1,9\n")
	write(t, in, "README.md", "not a table")
	out := filepath.Join(dir, "out.db")
	if _, err := Import(context.Background(), out, []string{in}, nil); err != nil {
		t.Fatal(err)
	}
	want := "'books'|'authors'|'author_id'\n" // the note's author is not there
	if got := look(t, out, `SELECT m.name, f."table", f."from" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f`, 3); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func unzip(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
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
	return string(text)
}

func TestRealFiles(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	tests := []struct {
		name, file, text string
		tables           int
		query, want      string
	}{
		{"weather", "weather.csv", read("vega-seattle-weather.csv"), 1,
			"SELECT count(*), sum(weather = 'sun'), max(date), typeof(max(temp_max)) FROM weather", "1461|640|'2015-12-31'|'real'\n"},
		{"penguins", "penguins.json", read("vega-penguins.json"), 1,
			`SELECT count(*), count("Beak Length (mm)"), sum("Body Mass (g)"), count(Sex) FROM penguins`, "344|342|1437000|334\n"},
		{"stripe", "stripe.json", unzip(t, "testdata/stripe_fixtures3.json.gz"), 176,
			"SELECT count(*), min(id), json_extract(min(settings), '$.dashboard.timezone'), typeof(min(charges_enabled)) FROM account", ""},
		{"sakila for SQLite", "sakila.sql", read("sakila_sqlite_schema.sql"), 16,
			"SELECT sum(type = 'table'), sum(type = 'view'), sum(type = 'trigger'), sum(type = 'index' AND sql IS NOT NULL) FROM sqlite_schema", "16|5|30|24\n"},
		{"sakila for PostgreSQL", "sakila.sql", read("sakila_pg_schema.sql"), 21,
			"SELECT count(*), (SELECT count(*) FROM pragma_foreign_key_list('film')), (SELECT count(*) FROM pragma_table_xinfo('payment_p2007_01')), (SELECT pk FROM pragma_table_xinfo('customer') WHERE name = 'customer_id') FROM sqlite_schema WHERE type = 'table'", "21|2|6|1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, report, err := importText(t, tt.file, tt.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Tables) != tt.tables {
				t.Errorf("got %d tables, want %d", len(report.Tables), tt.tables)
			}
			if got := look(t, out, tt.query, 4); tt.want != "" && got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
