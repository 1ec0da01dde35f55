package export_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/store/compare"
	"github.com/anvil-sim/anvil/store/export"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/importer"
)

const oddSchema = `CREATE TABLE "odd ""name""" (id INTEGER PRIMARY KEY, "a b" TEXT, n INTEGER, r REAL, num NUMERIC(10,2), ok BOOLEAN, doc JSON, raw BLOB, anything, at DATETIME);
	CREATE TABLE keyless (x, y TEXT);
	CREATE TABLE pair (a TEXT NOT NULL, b INTEGER NOT NULL, c REAL, PRIMARY KEY (b, a), FOREIGN KEY (b) REFERENCES "odd ""name""" (id)) WITHOUT ROWID;
	CREATE TABLE gen (id INTEGER PRIMARY KEY, v INT, w INT AS (v * 2) STORED);
	CREATE VIRTUAL TABLE words USING fts4(body); INSERT INTO words VALUES ('it''s one'), ('two');
	CREATE VIRTUAL TABLE found USING fts4(content="keyless", y); CREATE VIRTUAL TABLE box USING rtree(id, low, high); INSERT INTO box VALUES (3, 1.5, 2.5);
	CREATE INDEX by_n ON "odd ""name""" (n); CREATE UNIQUE INDEX only ON gen (v);
	CREATE VIEW seen AS SELECT y FROM keyless; CREATE TRIGGER grow AFTER INSERT ON gen BEGIN INSERT INTO keyless VALUES (new.id, 'trigger'); END;`

// randomCell is a value that may stand in any column.
func randomCell(r *rand.Rand) fixture.Value {
	texts := []string{"", "x", "it's", `"q"`, "a,b", "line\nend", "\r", "007", "12", "1.50", "true", "null", "X'00'", " ", "é\u2028", `{"a": 1}`, `{"a":1}`, "[1,2]", `"s"`, "9e999", "\\N", "a\tb", "\uFEFFx",
		"\xff", "M\xfcller", "\xe9,\"\n", "\xED\xA0\x80", "\xED\xA0\xBD\xED\xB8\x80", "a\x00\xff", "CAST(X'FF' AS TEXT)", `{"$base64":"AP8="}`, `{"$base64text":"/w=="}`}
	switch r.IntN(9) {
	case 0:
		return nil
	case 1:
		return r.Int64() - r.Int64()
	case 2:
		return int64(r.IntN(3))
	case 3:
		return r.NormFloat64() * 1e6
	case 4:
		return float64(r.IntN(5))
	case 5:
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return b
	default:
		return texts[r.IntN(len(texts))]
	}
}

// randomDatabase makes a database whose rows are put in by the order of order.
func randomDatabase(t *testing.T, path string, seed uint64, shuffled bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	type insert struct {
		sql  string
		args []fixture.Value
	}
	var inserts []insert
	for i := range 40 {
		odd := []fixture.Value{int64(i * 3)}
		for range 9 {
			odd = append(odd, randomCell(r))
		}
		inserts = append(inserts,
			insert{`INSERT INTO "odd ""name""" VALUES (?,?,?,?,?,?,?,?,?,?)`, odd},
			insert{"INSERT INTO keyless VALUES (?,?)", []fixture.Value{randomCell(r), fmt.Sprint(r.IntN(5))}},
			insert{"INSERT INTO pair VALUES (?,?,?)", []fixture.Value{fmt.Sprintf("k%d", i%7), int64(i * 3), randomCell(r)}},
			insert{"INSERT INTO gen(id, v) VALUES (?,?)", []fixture.Value{int64(i), int64(i * i)}})
	}
	if shuffled {
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(inserts), func(i, j int) { inserts[i], inserts[j] = inserts[j], inserts[i] })
	}
	tables, later, _ := strings.Cut(oddSchema, "CREATE INDEX")
	err := fixture.Build(context.Background(), path, fixture.New, func(db *fixture.DB) error {
		if err := db.Exec(tables); err != nil {
			return err
		}
		for _, x := range inserts {
			if err := db.Insert(x.sql, x.args); err != nil {
				return err
			}
		}
		return db.Exec("CREATE INDEX" + later)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func digest(t *testing.T, path string) string {
	t.Helper()
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d, err := compare.Sum(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return d.Sum
}

// differences is what a comparison says.
func differences(t *testing.T, a, b string) string {
	t.Helper()
	x, err := fixture.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	y, err := fixture.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	var out strings.Builder
	v := compare.NewText(&out, 5)
	equal, err := compare.Diff(context.Background(), x, y, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
	if equal != (out.Len() == 0) {
		t.Errorf("equal is %v and it says %q", equal, out.String())
	}
	return out.String()
}

// An export imported again is the same content, whatever the rows hold.
func TestRoundTrip(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(6) {
		dir := t.TempDir()
		first := filepath.Join(dir, "first.db")
		randomDatabase(t, first, seed, false)
		want := digest(t, first)
		db, err := fixture.Open(first)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		sql := filepath.Join(dir, "dump.sql")
		if err := export.File(ctx, db, sql, nil); err != nil {
			t.Fatal(err)
		}
		inputs := map[string]string{"sql": sql}
		for _, f := range []export.Format{export.CSV, export.JSON, export.JSONL} {
			folder := filepath.Join(dir, string(f)) + "/"
			if err := export.Folder(ctx, db, folder, &export.Options{Format: f}); err != nil {
				t.Fatal(err)
			}
			inputs[string(f)] = folder
		}
		for _, name := range []string{"sql", "csv", "json", "jsonl"} {
			again := filepath.Join(dir, name+".db")
			if _, err := importer.Import(ctx, again, []string{inputs[name]}, nil); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			if got := digest(t, again); got != want {
				t.Errorf("seed %d, %s: another digest:\n%s", seed, name, differences(t, first, again))
			}
			if d := differences(t, first, again); d != "" {
				t.Errorf("seed %d, %s:\n%s", seed, name, d)
			}
		}
	}
}

// The order of insertion, deleted rows, free pages and the names of indexes are
// no content.
func TestDigestIsOfContent(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	randomDatabase(t, first, 1, false)
	randomDatabase(t, second, 1, true)
	err := fixture.Build(context.Background(), second, fixture.Into, func(db *fixture.DB) error {
		return db.Exec(`DROP TRIGGER grow; INSERT INTO gen(id, v) VALUES (1000, 1000000); DELETE FROM gen WHERE id = 1000;
			INSERT INTO keyless SELECT x, y FROM keyless; DELETE FROM keyless WHERE rowid > (SELECT count(*) / 2 FROM keyless);
			DROP INDEX by_n; CREATE INDEX other ON "odd ""name""" (r); DROP INDEX only; CREATE UNIQUE INDEX renamed ON gen (v); ANALYZE;
			CREATE TRIGGER grow AFTER INSERT ON gen /* as before */
				BEGIN INSERT INTO keyless VALUES (new.id, 'trigger'); END`)
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := digest(t, first), digest(t, second); a != b {
		t.Errorf("another digest:\n%s", differences(t, first, second))
	}
	for _, change := range []string{"UPDATE pair SET c = 1.5 WHERE b = 3", "DELETE FROM keyless WHERE rowid = 1", "INSERT INTO keyless VALUES (1, 'new')",
		"ALTER TABLE gen ADD COLUMN extra", "DROP VIEW seen", "DROP INDEX renamed", "UPDATE gen SET v = -1 WHERE id = 1"} {
		changed := filepath.Join(t.TempDir(), "c.db")
		copyFile(t, changed, second)
		if err := fixture.Build(context.Background(), changed, fixture.Into, func(db *fixture.DB) error { return db.Exec(change) }); err != nil {
			t.Fatal(err)
		}
		if digest(t, changed) == digest(t, second) {
			t.Errorf("%s did not change the digest", change)
		}
		if differences(t, second, changed) == "" {
			t.Errorf("%s is no difference", change)
		}
	}
}

func copyFile(t *testing.T, dst, src string) {
	t.Helper()
	b, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dst, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	err := fixture.Build(context.Background(), path, fixture.New, func(db *fixture.DB) error {
		return db.Exec(`CREATE TABLE b (id INTEGER PRIMARY KEY, s TEXT, r REAL, ok BOOLEAN, doc JSON, raw BLOB);
			INSERT INTO b VALUES (2, NULL, 1, 0, '[1]', x'00ff'), (1, '', 1.5, 1, '"s"', NULL);
			CREATE TABLE a (x); CREATE TABLE "c,d" (y)`)
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	one := []string{"B"}
	tests := []struct {
		opts export.Options
		want string
	}{
		{export.Options{Format: export.CSV, Tables: one}, "id,s,r,ok,doc,raw\n1,\"\",1.5,1,\"\"\"s\"\"\",\n2,,1.0,0,\"[1]\",X'00FF'\n"},
		{export.Options{Format: export.JSONL, Tables: one},
			`{"id":1,"s":"","r":1.5,"ok":true,"doc":"\"s\"","raw":null}` + "\n" + `{"id":2,"s":null,"r":1.0,"ok":false,"doc":[1],"raw":{"$base64":"AP8="}}` + "\n"},
		{export.Options{Format: export.JSON, Tables: []string{"a"}}, "[]\n"},
		{export.Options{Format: export.JSON, Tables: []string{"a", "c,d"}}, "{\n\"a\": [],\n\"c,d\": []\n}\n"},
		{export.Options{Tables: one}, "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE b (id INTEGER PRIMARY KEY, s TEXT, r REAL, ok BOOLEAN, doc JSON, raw BLOB);\n" +
			`INSERT INTO "b" ("id", "s", "r", "ok", "doc", "raw") VALUES (1,'',1.5,1,'"s"',NULL);` + "\n" +
			`INSERT INTO "b" ("id", "s", "r", "ok", "doc", "raw") VALUES (2,NULL,1.0,0,'[1]',X'00FF');` + "\nCOMMIT;\n"},
	}
	for _, tt := range tests {
		var out strings.Builder
		if err := export.Write(context.Background(), db, &out, &tt.opts); err != nil || out.String() != tt.want {
			t.Errorf("%+v: %v\n%s\nwant\n%s", tt.opts, err, out.String(), tt.want)
		}
	}
	for want, opts := range map[string]export.Options{
		"csv holds one table and the database has 3": {Format: export.CSV},
		`no table "z", the database has a, b, c,d`:   {Tables: []string{"z"}},
		`unknown format "xml"`:                       {Format: "xml"},
	} {
		if err := export.Write(context.Background(), db, &strings.Builder{}, &opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A name that is no UTF-8 has no spelling in JSON or CSV.
func TestNamesThatAreNoUTF8(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	err := fixture.Build(context.Background(), path, fixture.New, func(db *fixture.DB) error {
		return db.Exec("CREATE TABLE d (\"caf\xe9\"); INSERT INTO d VALUES (1)")
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, f := range []export.Format{export.CSV, export.JSON, export.JSONL} {
		var out strings.Builder
		err := export.Write(context.Background(), db, &out, &export.Options{Format: f})
		want := `table "d": the name of column "caf\xe9" is no UTF-8, which ` + string(f) + " cannot hold; use --format sql"
		if err == nil || err.Error() != want || out.Len() > 0 {
			t.Errorf("got %v and %q, want %s", err, out.String(), want)
		}
	}
	var out strings.Builder
	if err := export.Write(context.Background(), db, &out, nil); err != nil || !strings.Contains(out.String(), "(\"caf\xe9\") VALUES (1)") {
		t.Errorf("%v: %q", err, out.String())
	}
}
