package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anvil-sim/anvil/store/fixture"
)

func open(t testing.TB, sql string) *fixture.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	err := fixture.Build(context.Background(), path, fixture.New, func(db *fixture.DB) error { return db.Exec(sql) })
	if err != nil {
		t.Fatal(err)
	}
	db, err := fixture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestDiff(t *testing.T) {
	const rows = "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, n REAL); INSERT INTO t VALUES (1,'a',1),(2,'b',2),(3,'c',NULL);"
	tests := []struct {
		name, a, b string
		opts       Options
		want       string
	}{
		{"equal", rows, rows, Options{}, ""},
		{"rows and cells", rows, "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, n REAL); INSERT INTO t VALUES (2,'B',NULL),(3,'c',NULL),(4,'d',0)", Options{},
			"t: 1 added, 1 removed, 1 changed of 3 rows\n  - 1 {\"id\":1,\"s\":\"a\",\"n\":1.0}\n  ~ 2  s: \"b\" -> \"B\"; n: 2.0 -> null\n  + 4 {\"id\":4,\"s\":\"d\",\"n\":0.0}\n"},
		{"an ignored column", rows, strings.ReplaceAll(rows, "'b'", "'x'"), Options{Ignore: []string{"T.S"}}, ""},
		{"columns", rows, "CREATE TABLE t (id INTEGER PRIMARY KEY, s VARCHAR(9) NOT NULL, more INT DEFAULT 3); INSERT INTO t VALUES (1,'a',1),(2,'b',1),(3,'c',1)", Options{},
			"- t: column \"s\" TEXT\n- t: column \"n\" REAL\n+ t: column \"s\" VARCHAR(9) not null\n+ t: column \"more\" INT default 3\n"},
		{"columns in another order", "CREATE TABLE t (a, b)", "CREATE TABLE t (b, a)", Options{}, "+ t: the columns in another order\n"},
		{"layout of SQL is none", "CREATE TABLE t(a CHECK(a>1)); CREATE VIEW v AS SELECT a FROM t", "CREATE TABLE t ( a  CHECK ( a > 1 ) ) -- x\n; CREATE VIEW v AS  SELECT a\nFROM t", Options{}, ""},
		{"a check", "CREATE TABLE t(a CHECK(a>1))", "CREATE TABLE t(a CHECK(a>2))", Options{}, "- t: check ( a > 1 )\n+ t: check ( a > 2 )\n"},
		{"tables, views, triggers", "CREATE TABLE t(a); CREATE TABLE u(a); CREATE VIEW v AS SELECT 1", "CREATE TABLE t(a); CREATE TABLE w(a); CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END", Options{},
			"- view v: CREATE VIEW v AS SELECT 1\n+ trigger g: CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1 ; END\n- u: table\n+ w: table\n"},
		{"one table", "CREATE TABLE t(a); CREATE TABLE u(a)", "CREATE TABLE t(a)", Options{Tables: []string{"T"}}, ""},
		{"keys and references", "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(a INT REFERENCES p, b INT UNIQUE)", "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(a INT REFERENCES p ON DELETE CASCADE, b INT)", Options{},
			"- t: foreign key (\"a\") REFERENCES \"p\"\n- t: unique (\"b\")\n+ t: foreign key (\"a\") REFERENCES \"p\" ON DELETE CASCADE\n"},
		{"rows without a key are counted", "CREATE TABLE t(a, b); INSERT INTO t VALUES (1,'x'),(1,'x'),(2,NULL),(NULL,NULL)", "CREATE TABLE t(a, b); INSERT INTO t VALUES (NULL,NULL),(2,'y'),(1,'x'),(2,NULL),(2,'y')", Options{},
			"t: 2 added, 1 removed, 0 changed of 4 -> 5 rows, compared without a key\n  - {\"a\":1,\"b\":\"x\"}\n  + {\"a\":2,\"b\":\"y\"}\n  + {\"a\":2,\"b\":\"y\"}\n"},
		{"types without a key", "CREATE TABLE t(a, b); INSERT INTO t VALUES (1,'b'),(1.0,'a'),('1','a')", "CREATE TABLE t(a, b); INSERT INTO t VALUES (1,'a'),(1.0,'b'),('1','a')", Options{},
			"t: 2 added, 2 removed, 0 changed of 3 rows, compared without a key\n  + {\"a\":1,\"b\":\"a\"}\n  - {\"a\":1.0,\"b\":\"a\"}\n  - {\"a\":1,\"b\":\"b\"}\n  + {\"a\":1.0,\"b\":\"b\"}\n"},
		{"a NULL in the key", "CREATE TABLE t(k TEXT PRIMARY KEY, v); INSERT INTO t VALUES (NULL,1),(NULL,2),('x',1)", "CREATE TABLE t(k TEXT PRIMARY KEY, v); INSERT INTO t VALUES (NULL,2),('x',1),(NULL,3)", Options{},
			"t: 1 added, 1 removed, 0 changed of 3 rows, compared without a key\n  - {\"k\":null,\"v\":1}\n  + {\"k\":null,\"v\":3}\n"},
		{"a key with a collation", "CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, v); INSERT INTO t VALUES ('b',1),('A',1),('C',1)", "CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, v); INSERT INTO t VALUES ('a',1),('b',2),('C',1)", Options{},
			"t: 1 added, 1 removed, 1 changed of 3 rows\n  - \"A\" {\"k\":\"A\",\"v\":1}\n  + \"a\" {\"k\":\"a\",\"v\":1}\n  ~ \"b\"  v: 1 -> 2\n"},
		{"a key of two columns in its own order", "CREATE TABLE t(a TEXT NOT NULL, b INT NOT NULL, c, PRIMARY KEY (b, a)); INSERT INTO t VALUES ('x',2,0),('y',1,0)", "CREATE TABLE t(a TEXT NOT NULL, b INT NOT NULL, c, PRIMARY KEY (b, a)); INSERT INTO t VALUES ('x',2,1),('z',1,0)", Options{},
			"t: 1 added, 1 removed, 1 changed of 2 rows\n  - 1, \"y\" {\"a\":\"y\",\"b\":1,\"c\":0}\n  + 1, \"z\" {\"a\":\"z\",\"b\":1,\"c\":0}\n  ~ 2, \"x\"  c: 0 -> 1\n"},
		{"more than the limit", "CREATE TABLE t(id INTEGER PRIMARY KEY)", "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1),(2),(3),(4),(5),(6)", Options{},
			"t: 6 added, 0 removed, 0 changed of 0 -> 6 rows\n  + 1 {\"id\":1}\n  + 2 {\"id\":2}\n  + 3 {\"id\":3}\n  + 4 {\"id\":4}\n  ... and 2 more; --limit 0 shows all\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := open(t, tt.a), open(t, tt.b)
			var out strings.Builder
			v := NewText(&out, 4)
			equal, err := Diff(context.Background(), a, b, v, &tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Flush(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" || equal != (tt.want == "") {
				t.Errorf("equal %v\n%s", equal, diff)
			}
			var doc strings.Builder
			j := NewJSON(&doc, 0)
			if equal, err = Diff(context.Background(), a, b, j, &tt.opts); err != nil {
				t.Fatal(err)
			}
			if err := j.Flush(equal); err != nil || !json.Valid([]byte(doc.String())) {
				t.Errorf("%v, no JSON: %s", err, doc.String())
			}
		})
	}
}

func TestJSON(t *testing.T) {
	a := open(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT); INSERT INTO t VALUES (1,'a'),(2,'b'); CREATE TABLE u(x)")
	b := open(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT); INSERT INTO t VALUES (1,'A'),(3,'c')")
	var out strings.Builder
	j := NewJSON(&out, 0)
	equal, err := Diff(context.Background(), a, b, j, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Flush(equal); err != nil {
		t.Fatal(err)
	}
	want := `{"tables":[
{"table":"t","rows":[
{"side":"changed","key":[1],"cells":{"s":["a","A"]}},
{"side":"removed","key":[2],"row":{"id":2,"s":"b"}},
{"side":"added","key":[3],"row":{"id":3,"s":"c"}}],"added":1,"removed":1,"changed":1,"equal":0,"rowsA":2,"rowsB":2,"keyed":true}],
"schema":[{"table":"u","side":"removed","fact":"table"}],
"equal":false}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestDiffOptions(t *testing.T) {
	a := open(t, "CREATE TABLE t(a)")
	for want, opts := range map[string]Options{
		"--table x: neither side has this table; they have t": {Tables: []string{"x"}},
		"--ignore y: neither side has this column":            {Ignore: []string{"y"}},
	} {
		if _, err := Diff(context.Background(), a, a, NewText(&strings.Builder{}, 0), &opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A collector counts what a comparison says, by key.
type collector struct{ found map[string]string }

func (c *collector) Schema(string, Side, string) error { return nil }
func (c *collector) Table(Counts) error                { return nil }
func (c *collector) Row(r *Row) error {
	c.found[fmt.Sprint(r.Key[0])] += r.Side.String()
	return nil
}

// The merge says what two maps say.
func TestDiffAgainstMaps(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		side := func() (map[string]int, string) {
			m, sql := map[string]int{}, "CREATE TABLE t (k PRIMARY KEY NOT NULL, v INT) WITHOUT ROWID;"
			for range r.IntN(60) {
				key, v := []string{fmt.Sprint(r.IntN(30)), fmt.Sprintf("'%d'", r.IntN(30)), fmt.Sprintf("%d.5", r.IntN(30))}[r.IntN(3)], r.IntN(2)
				m[strings.Trim(key, "'")+kindOf(key)] = v
				sql += fmt.Sprintf("INSERT OR REPLACE INTO t VALUES (%s, %d);", key, v)
			}
			return m, sql
		}
		ma, sa := side()
		mb, sb := side()
		want := map[string]string{}
		for k, v := range ma {
			if w, ok := mb[k]; !ok {
				want[strings.TrimSuffix(k, "t")] += "removed"
			} else if v != w {
				want[strings.TrimSuffix(k, "t")] += "changed"
			}
		}
		for k := range mb {
			if _, ok := ma[k]; !ok {
				want[strings.TrimSuffix(k, "t")] += "added"
			}
		}
		c := &collector{found: map[string]string{}}
		if _, err := Diff(context.Background(), open(t, sa), open(t, sb), c, nil); err != nil {
			t.Fatal(err)
		}
		total := func(m map[string]string) (n int) {
			for _, s := range m {
				n += len(s)
			}
			return n
		}
		if total(c.found) != total(want) || len(c.found) != len(want) {
			t.Errorf("seed %d: %s", seed, cmp.Diff(want, c.found))
		}
	}
}

func kindOf(key string) string {
	if key[0] == '\'' {
		return "t"
	}
	return ""
}

// BenchmarkDiff compares two databases of many rows that differ in ten, beside
// reading both once.
func BenchmarkDiff(b *testing.B) {
	const rows = 100_000
	sql := fmt.Sprintf(`CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, status TEXT, amount REAL, doc JSON);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO t SELECT i, 'name ' || i, iif(i %% 3, 'open', 'closed'), i / 7.0, '{"a":' || i || '}' FROM n;`, rows)
	x := open(b, sql)
	y := open(b, sql+fmt.Sprintf("UPDATE t SET name = 'other' WHERE id %% %d = 0", rows/10))
	b.Run("diff", func(b *testing.B) {
		for b.Loop() {
			c := &collector{found: map[string]string{}}
			if _, err := Diff(context.Background(), x, y, c, nil); err != nil || len(c.found) != 10 {
				b.Fatal(err, len(c.found))
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			for _, db := range []*fixture.DB{x, y} {
				err := db.Query(context.Background(), "SELECT +id, +name, +status, +amount, +doc FROM t", nil, 5, func([]fixture.Value) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
