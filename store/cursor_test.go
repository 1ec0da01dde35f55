package store

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

func TestCursorRoundTrip(t *testing.T) {
	one := &table{name: "t", rowid: "rowid"}
	two := &table{name: "t", order: make([]*column, 2)}
	for _, key := range [][]driver.Value{
		{int64(0)}, {int64(math.MinInt64)}, {int64(math.MaxInt64)}, {1.5}, {math.Inf(1)}, {""}, {"a\x00\xff"}, {[]byte{}}, {[]byte{0, 1}},
	} {
		for _, table := range []*table{one, two} {
			k := key
			if table == two {
				k = append(k, "second")
			}
			text := position{key: k}.cursor(table, table.natural())
			got, ok := parseCursor(table, table.natural(), text)
			if !ok || len(got.key) != len(k) {
				t.Fatalf("%v: %q is not read back", k, text)
			}
			for i := range k {
				a, isBytes := k[i].([]byte)
				if isBytes && !bytes.Equal(a, got.key[i].([]byte)) || !isBytes && k[i] != got.key[i] {
					t.Errorf("%v came back as %v", k, got.key)
				}
			}
			if _, ok := parseCursor(&table2, table2.natural(), text); ok {
				t.Errorf("another table takes the cursor %q", text)
			}
			for i := range text {
				for _, c := range []byte("A_z") {
					changed := []byte(text)
					changed[i] = c
					if string(changed) == text {
						continue
					}
					if _, ok := parseCursor(table, table.natural(), string(changed)); ok {
						t.Errorf("%q was taken for %q", changed, text)
					}
				}
			}
		}
	}
	p := position{offset: 12345}
	if got, ok := parseCursor(one, one.natural(), p.cursor(one, one.natural())); !ok || got.offset != p.offset || got.key != nil {
		t.Errorf("offset came back as %+v", got)
	}
}

var table2 = table{name: "other", rowid: "rowid"}

// Rows that come and go between pages neither repeat nor hide others.
func TestPagesWhileRowsChange(t *testing.T) {
	db := openSQL(t, `CREATE TABLE n (id INTEGER PRIMARY KEY, v TEXT);
		WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i+10 FROM n WHERE i < 500) INSERT INTO n SELECT i, 'old' FROM n`, nil)
	seen := map[string]int{}
	cursor := ""
	for page := 0; ; page++ {
		res := call{id: "n.list", size: 7, cursor: cursor}.do(t, db)
		for _, item := range res.Items {
			seen[string(item)]++
		}
		if res.NextCursor == nil {
			break
		}
		cursor = *res.NextCursor
		// One row goes before the cursor and one comes; the row at the cursor goes too.
		want(t, db, call{id: "n.create", body: `{"id":` + strconv.Itoa(page+1) + `,"v":"new"}`}, `{"id":`+strconv.Itoa(page+1)+`,"v":"new"}`)
		want(t, db, call{id: "n.delete", path: "id=" + strconv.Itoa((page+1)*70)}, `null`)
	}
	old := 0
	for row, times := range seen {
		if times != 1 {
			t.Errorf("%s was seen %d times", row, times)
		}
		if bytes.Contains([]byte(row), []byte(`"old"`)) {
			old++
		}
	}
	if old != 50 {
		t.Errorf("%d of the 50 old rows were seen", old)
	}
}

func FuzzCursor(f *testing.F) {
	one := &table{name: "t", rowid: "rowid"}
	for _, key := range []driver.Value{int64(1), 2.5, "x", []byte("y")} {
		f.Add(position{key: []driver.Value{key}}.cursor(one, one.natural()))
	}
	f.Add(position{offset: 7}.cursor(one, one.natural()))
	f.Add("")
	f.Add("12")
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := parseCursor(one, one.natural(), text)
		if !ok {
			return
		}
		if again := p.cursor(one, one.natural()); again != text {
			t.Errorf("%q is taken, but spelled %q", text, again)
		}
	})
}

// Whatever a client sends as filter, body or cursor is answered in the protocol's
// words: never a failure of the database, never another row's change.
func FuzzCall(f *testing.F) {
	db, err := OpenSQL(context.Background(), `CREATE TABLE v (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT, ok BOOLEAN, b BLOB, j JSON, u, d DATE);
		CREATE TABLE w (k TEXT PRIMARY KEY NOT NULL, x ANY) STRICT;
		INSERT INTO v (id) VALUES (1); INSERT INTO w VALUES ('k', 1)`, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { closeDB(f, db) })
	for _, s := range []string{`1`, `"x"`, `[1,"a",null]`, `{"t":"a","n":5}`, `{"u":1e999}`, `"\ud800"`, `{"b":"AA=="}`, `{`, `[[1]]`, `"' OR 1=1 --"`, `-0`, `9223372036854775808`} {
		f.Add(s, "")
	}
	d, err := db.contract()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, cursor string) {
		for id, g := range d.targets {
			req := &provider.Request{RequestID: "r1", OperationID: id}
			req.Method, req.PathTemplate = "GET", ""
			raw := json.RawMessage(text)
			for _, b := range g.key {
				req.Params.Path = append(req.Params.Path, provider.Member{Name: b.param, Value: raw})
			}
			if g.verb == listRows {
				req.Page = &provider.Page{Size: 2, Cursor: &cursor}
				for name := range g.derived {
					req.Params.Query = append(req.Params.Query, provider.Member{Name: name, Value: raw})
				}
			} else {
				req.Body = raw
			}
			res, err := invoke(db, g, req)
			if err != nil {
				t.Fatalf("%s with %s: %v", id, text, err)
			}
			if res.Result != nil && !json.Valid(res.Result) {
				t.Fatalf("%s with %s: invalid JSON %s", id, text, res.Result)
			}
		}
	})
}

// invoke asks a target directly, past the search for it.
func invoke(db *DB, g *target, req *provider.Request) (*provider.Response, error) {
	db.targets.Store(targetKey{id: req.OperationID, method: req.Method}, g)
	return db.Invoke(context.Background(), req)
}
