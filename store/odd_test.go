package store

import (
	"context"
	"strings"
	"testing"
)

// oddNames is a schema of names and table forms that are easy to get wrong.
const oddNames = `
CREATE TABLE "order" ("select" INTEGER PRIMARY KEY, "from" TEXT, "limit" INTEGER, "cursor" TEXT);
CREATE TABLE "my table" ("the key" TEXT PRIMARY KEY NOT NULL, "a ""quoted"" name" TEXT, "back` + "`" + `tick" TEXT);
CREATE TABLE "a/b" ("x/y" INTEGER, "{z}" INTEGER, v TEXT, PRIMARY KEY ("x/y", "{z}"));
CREATE TABLE "größe" ("länge" INTEGER PRIMARY KEY, "名前" TEXT);
CREATE TABLE "名前" (id INTEGER PRIMARY KEY, fooBar TEXT, foo_bar TEXT, body TEXT);
CREATE TABLE "it's" (id INTEGER PRIMARY KEY, "drop table x; --" TEXT);
CREATE TABLE "100%" (id INTEGER PRIMARY KEY);
CREATE TABLE "." (id INTEGER PRIMARY KEY);
CREATE TABLE "rowid" (rowid TEXT, _rowid_ TEXT, oid TEXT);
CREATE TABLE nokey (a TEXT, b INTEGER);
CREATE TABLE pairs (a TEXT, b INTEGER, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE strict_one (id INTEGER PRIMARY KEY, n INT, t TEXT, r REAL, b BLOB, x ANY) STRICT;
CREATE TABLE gen (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, twice INTEGER AS (a * 2), kept INTEGER AS (a * 3) STORED);
CREATE TABLE nullkey (id TEXT PRIMARY KEY, v TEXT);
CREATE TABLE nocase (id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, v TEXT);
CREATE VIEW busy AS SELECT "select" AS id, "from" AS origin FROM "order" ORDER BY 1 DESC;
CREATE VIEW broken AS SELECT nix FROM nowhere;
CREATE VIRTUAL TABLE docs USING fts4(title, body);
CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);
INSERT INTO "order" VALUES (1, 'a', 5, 'c'), (2, 'b', 6, 'd'), (3, NULL, 7, 'e');
INSERT INTO "my table" VALUES ('k/1', 'q', 't'), ('k 2', NULL, 'u');
INSERT INTO "a/b" VALUES (1, 1, 'one'), (1, 2, 'two'), (2, 1, 'three');
INSERT INTO "größe" VALUES (7, 'ä');
INSERT INTO "名前" VALUES (1, 'x', 'y', 'z');
INSERT INTO "it's" VALUES (1, 'ok');
INSERT INTO "rowid" VALUES ('a', 'b', 'c'), ('d', 'e', 'f'), ('g', 'h', 'i');
INSERT INTO nokey VALUES ('p', 1), ('p', 1), ('q', 2);
INSERT INTO pairs VALUES ('a', 2, 1), ('a', 10, 'x'), ('b', 1, x'0102');
INSERT INTO strict_one VALUES (1, 2, 'three', 4.0, x'05', 'six');
INSERT INTO gen (id, a) VALUES (1, 5);
INSERT INTO nullkey VALUES (NULL, 'first'), ('a', 'second'), (NULL, 'third'), ('b', 'fourth');
INSERT INTO nocase VALUES ('b', '1'), ('A', '2'), ('C', '3');
INSERT INTO docs VALUES ('hello', 'world'), ('good', 'night');
INSERT INTO boxes VALUES (1, 0, 1), (2, 3, 4);
`

func TestOddSchema(t *testing.T) {
	var logged []string
	db := openSQL(t, oddNames, &Options{Name: "odd", Logf: func(format string, args ...any) {
		logged = append(logged, format)
	}})
	if len(logged) != 1 || !strings.Contains(logged[0], "view") {
		t.Errorf("logged %q, want the broken view", logged)
	}
	doc := load(t, db)
	paths := map[string]string{}
	tools := map[string]bool{}
	for _, o := range doc.Operations {
		paths[upper(o.Method)+" "+o.Path] = o.ID
		if tools[o.ToolName] {
			t.Errorf("tool name %s twice", o.ToolName)
		}
		tools[o.ToolName] = true
		keys := map[string]bool{}
		for _, p := range o.Params {
			if keys[p.Key] || p.Key == "" {
				t.Errorf("%s: agent key %q of %s is empty or taken", o.ID, p.Key, p.Name)
			}
			keys[p.Key] = true
		}
	}
	for _, want := range []string{
		"GET /order", "DELETE /order/{select}", "GET /my%20table/{the_key}", "GET /a%2Fb/{x_y}/{_z_}",
		"GET /gr%C3%B6%C3%9Fe/{länge}", "GET /%E5%90%8D%E5%89%8D", "PATCH /it's/{id}", "PUT /100%25/{id}", "GET /table",
		"GET /rowid", "GET /nokey", "GET /pairs/{a}/{b}", "GET /busy", "GET /docs", "GET /boxes",
	} {
		if paths[want] == "" {
			t.Errorf("no operation %s", want)
		}
	}
	for _, never := range []string{"POST /nokey", "GET /broken", "POST /busy", "POST /docs", "GET /docs_content", "GET /sqlite_sequence"} {
		if paths[never] != "" {
			t.Errorf("%s is in the contract", never)
		}
	}
}

func TestOddRows(t *testing.T) {
	db := openSQL(t, oddNames, nil)
	do := func(c call, text string) { t.Helper(); want(t, db, c, text) }
	do(call{id: "order.list", query: `page_size=2&limit=[5,6]&cursor=["d"]`, size: 9}, `1 of 1 {"select":2,"from":"b","limit":6,"cursor":"d"}`)
	do(call{id: "my_table.get", path: `the_key="k/1"`}, `{"the key":"k/1","a \"quoted\" name":"q","back`+"`"+`tick":"t"}`)
	do(call{id: "my_table.update", path: `the_key="k 2"`, body: `{"a \"quoted\" name":"x' OR 1=1 --"}`}, `{"the key":"k 2","a \"quoted\" name":"x' OR 1=1 --","back`+"`"+`tick":"u"}`)
	do(call{id: "a_b.list", size: 2}, `2 of 3 more {"x/y":1,"{z}":1,"v":"one"} {"x/y":1,"{z}":2,"v":"two"}`)
	do(call{id: "a_b.delete", path: `x_y=1&_z_=2`}, `null`)
	do(call{id: "gr_e.get", path: `länge=7`}, `{"länge":7,"名前":"ä"}`)
	do(call{id: "it_s.create", body: `{"drop table x; --":"'); DROP TABLE gen; --"}`}, `{"id":2,"drop table x; --":"'); DROP TABLE gen; --"}`)
	do(call{id: "rowid.list", size: 2}, `2 of 3 more {"rowid":"a","_rowid_":"b","oid":"c"} {"rowid":"d","_rowid_":"e","oid":"f"}`)
	do(call{id: "nokey.list", query: `a=["p"]`, size: 9}, `2 of 2 {"a":"p","b":1} {"a":"p","b":1}`)
	do(call{id: "pairs.get", path: `a="b"&b=1`}, `{"a":"b","b":1,"v":"AQI="}`)
	do(call{id: "pairs.list", query: `v=["1"]`, size: 9}, `1 of 1 {"a":"a","b":2,"v":1}`)
	do(call{id: "strict_one.get", path: `id=1`}, `{"id":1,"n":2,"t":"three","r":4,"b":"BQ==","x":"six"}`)
	do(call{id: "strict_one.update", path: `id=1`, body: `{"x":12345678901234567890,"b":"/w=="}`}, `{"id":1,"n":2,"t":"three","r":4,"b":"/w==","x":12345678901234567000}`)
	do(call{id: "gen.get", path: `id=1`}, `{"id":1,"a":5,"twice":10,"kept":15}`)
	do(call{id: "gen.replace", path: `id=1`, body: `{"id":1,"a":6,"twice":0,"kept":0}`}, `{"id":1,"a":6,"twice":12,"kept":18}`)
	do(call{id: "busy.list", size: 2}, `2 of 3 more {"id":3,"origin":null} {"id":2,"origin":"b"}`)
	do(call{id: "docs.list", query: `title=["good"]`, size: 2}, `1 of 1 {"title":"good","body":"night"}`)
	do(call{id: "boxes.list", size: 9}, `2 of 2 {"id":1,"x0":0,"x1":1} {"id":2,"x0":3,"x1":4}`)
	do(call{id: "nocase.get", path: `id="a"`}, `{"id":"A","v":"2"}`)
	do(call{id: "nullkey.create", body: `{"v":"x"}`}, `validation_error: "id" must have a value in nullkey`)
	do(call{id: "nullkey.update", path: `id="a"`, body: `{"id":null}`}, `validation_error: "id" of nullkey is part of the key and must have a value`)
	do(call{id: "auto.create"}, `{"id":1,"v":null}`)
	do(call{id: "auto.create", body: `{"id":null,"v":"b"}`}, `{"id":2,"v":"b"}`)
	do(call{id: "auto.create", body: `{"id":41}`}, `{"id":41,"v":null}`)
	do(call{id: "auto.delete", path: `id=41`}, `null`)
	do(call{id: "auto.create"}, `{"id":42,"v":null}`)
}

// Every table and view pages through all its rows, whatever its form.
func TestOddPaging(t *testing.T) {
	db := openSQL(t, oddNames, nil)
	d, err := db.contract()
	if err != nil {
		t.Fatal(err)
	}
	for id, g := range d.targets {
		if g.verb != listRows {
			continue
		}
		short := strings.TrimPrefix(id, db.name+".")
		all := call{id: short, size: 100}.do(t, db)
		var got []string
		cursor := ""
		for {
			res := call{id: short, size: 1, cursor: cursor}.do(t, db)
			if !res.OK {
				t.Fatalf("%s: %s", id, show(res))
			}
			for _, item := range res.Items {
				got = append(got, string(item))
			}
			if res.NextCursor == nil {
				break
			}
			cursor = *res.NextCursor
		}
		if int64(len(got)) != *all.Total || len(all.Items) != len(got) {
			t.Errorf("%s: %d rows one by one, %d at once, total %d", id, len(got), len(all.Items), *all.Total)
		}
		for i := range got {
			if got[i] != string(all.Items[i]) {
				t.Errorf("%s row %d: %s one by one, %s at once", id, i, got[i], all.Items[i])
			}
		}
	}
}

func TestValues(t *testing.T) {
	db := openSQL(t, `
CREATE TABLE v (id INTEGER PRIMARY KEY, n INTEGER, r REAL, m NUMERIC(10,2), t TEXT, ts TIMESTAMP, d DATE, ok BOOLEAN, b BLOB, j JSON, u);
INSERT INTO v VALUES (1, 9223372036854775807, 1e308, 1.10, 'a', '2024-01-02 03:04:05', '2024-01-02', 1, x'00ff', '{"b": 1, "a": [1.0]}', 'x');
INSERT INTO v VALUES (2, -9223372036854775808, 9e999, 19, CAST(x'61ff62' AS TEXT), 1700000000, 0, 0, x'', 'no json', 2.5);
INSERT INTO v VALUES (3, 'text', -0.0, 1e21, 'nul' || char(0) || '"', NULL, NULL, 2, NULL, NULL, NULL);
INSERT INTO v VALUES (4, 0, 1e-7, 0.1, char(8232, 128512), NULL, NULL, 'true', NULL, '[1', 9007199254740993);
`, nil)
	want(t, db, call{id: "v.get", path: "id=1"}, `{"id":1,"n":9223372036854775807,"r":1e+308,"m":1.1,"t":"a","ts":"2024-01-02 03:04:05","d":"2024-01-02","ok":true,"b":"AP8=","j":{"b":1,"a":[1.0]},"u":"x"}`)
	want(t, db, call{id: "v.get", path: "id=2"}, `{"id":2,"n":-9223372036854775808,"r":null,"m":19,"t":"a`+"\uFFFD"+`b","ts":1700000000,"d":0,"ok":false,"b":"","j":"no json","u":2.5}`)
	want(t, db, call{id: "v.get", path: "id=3"}, `{"id":3,"n":"text","r":0,"m":1e+21,"t":"nul\u0000\"","ts":null,"d":null,"ok":2,"b":null,"j":null,"u":null}`)
	want(t, db, call{id: "v.get", path: "id=4"}, `{"id":4,"n":0,"r":1e-7,"m":0.1,"t":"`+"\u2028\U0001F600"+`","ts":null,"d":null,"ok":"true","b":null,"j":"[1","u":9007199254740993}`)
	for query, ids := range map[string]string{
		`n=[9223372036854775807]`: "1", `n=["text"]`: "3", `m=[1.1]`: "1", `m=["19"]`: "2", `ok=[true]`: "1", `ok=[false]`: "2", `ok=true`: "1",
		`u=["2.5"]`: "2", `u=[2.5]`: "2", `u=["x","9007199254740993"]`: "14", `t=["a"]`: "1", `ts=["1700000000"]`: "2", `r=[1e308]`: "1",
		`u=null`: "3", `u=["x",null]`: "13", `u=[]`: "",
	} {
		res := call{id: "v.list", query: query, size: 9}.do(t, db)
		got := ""
		for _, item := range res.Items {
			got += string(item[len(`{"id":`)])
		}
		if got != ids {
			t.Errorf("%s: rows %q, want %q (%s)", query, got, ids, show(res))
		}
	}
	for body, text := range map[string]string{
		`{"n":1.0}`: `"n":1`, `{"n":"12"}`: `"n":12`, `{"m":9007199254740993}`: `"m":9007199254740993`, `{"r":1}`: `"r":1`,
		`{"ok":true}`: `"ok":true`, `{"j":{"x":[1,2.50]}}`: `"j":{"x":[1,2.50]}`, `{"j":"s"}`: `"j":"s"`, `{"b":"AAE="}`: `"b":"AAE="`,
		`{"ts":"2025-05-05T05:05:05Z"}`: `"ts":"2025-05-05T05:05:05Z"`, `{"t":"\ud83d\ude00"}`: `"t":"😀"`, `{"u":true}`: `"u":1`,
		`{"n":1.5}`: `"n" of v wants an integer, got the number 1.5`, `{"n":"x"}`: `"n" of v wants an integer, got the string "x"`,
		`{"t":5}`: `"t" of v wants a string, got the number 5`, `{"t":[1]}`: `"t" of v wants a string, got an array`,
		`{"ok":"yes"}`: `"ok" of v wants a boolean, got the string "yes"`, `{"b":"%"}`: `"b" of v wants a base64 string, got the string "%"`,
		`{"r":1e400}`: `"r" of v: the number 1e400 is too large`, `{"u":{}}`: `"u" of v wants any scalar, got an object`,
		`{"N":1,"n":2}`: `"n" of v is given twice, in two spellings`, `[1]`: `the body wants an object with columns of v, got an array`,
		`{"tt":1,"zzz":2}`: `v has no column "tt"; did you mean "t"?; v has no column "zzz"; its columns are id, n, r, m, t, ts, d, ok, b, j, u`,
	} {
		got := show(call{id: "v.update", path: "id=1", body: body}.do(t, db))
		if !strings.Contains(got, text) {
			t.Errorf("%s gave %s, want %s", body, got, text)
		}
	}
}

func TestEmptyAndUnusable(t *testing.T) {
	for sql, text := range map[string]string{
		``:                                 "the database has no tables",
		`CREATE TABLE t (a); nonsense`:     `near "nonsense": syntax error`,
		`CREATE VIRTUAL TABLE f USING nix`: `needs the SQLite module "nix"`,
	} {
		_, err := OpenSQL(context.Background(), sql, nil)
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want %s", sql, err, text)
		}
	}
}
