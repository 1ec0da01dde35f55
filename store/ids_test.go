package store

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/anvil-sim/anvil/provider"
)

const idsSQL = `
CREATE TABLE whole (id BIGINT PRIMARY KEY NOT NULL, v TEXT) WITHOUT ROWID; INSERT INTO whole VALUES (5, 'a'), (41, 'b');
CREATE TABLE prefixed (id TEXT PRIMARY KEY, v TEXT); INSERT INTO prefixed VALUES ('T-9', 'a'), ('T-10', 'b'), ('T-x', 'c'), ('T-2', 'd');
CREATE TABLE pref (id TEXT PRIMARY KEY, v TEXT); INSERT INTO pref VALUES ('T-9', 'a'), ('T-10', 'b');
CREATE TABLE padded (id TEXT PRIMARY KEY, v TEXT); INSERT INTO padded VALUES ('A0007', 'a'), ('A0008', 'b');
CREATE TABLE uuids (id TEXT PRIMARY KEY, v TEXT); INSERT INTO uuids VALUES ('6f9619ff-8b86-4011-b42d-00c04fc964ff', 'a');
CREATE TABLE sevens (id TEXT PRIMARY KEY, v TEXT); INSERT INTO sevens VALUES ('018F9619-FF8B-7011-B42D-00C04FC964FF', 'a');
CREATE TABLE ulids (id TEXT PRIMARY KEY, v TEXT); INSERT INTO ulids VALUES ('01ARZ3NDEKTSV4RRFFQ69G5FAV', 'a');
CREATE TABLE tokens (id TEXT PRIMARY KEY, v TEXT); INSERT INTO tokens VALUES ('cus_9s6XKzkNRiz8', 'a'), ('cus_4QFJOjw2pOmA', 'b');
CREATE TABLE codes (code TEXT PRIMARY KEY, v TEXT); INSERT INTO codes VALUES ('EUR', 'a'), ('USD', 'b');
CREATE TABLE projects (id INTEGER PRIMARY KEY, key TEXT UNIQUE); INSERT INTO projects VALUES (1, 'ENG'), (2, 'OPS');
CREATE TABLE issues (id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, project_id INTEGER REFERENCES projects (id), number INTEGER NOT NULL, UNIQUE (project_id, number));
INSERT INTO issues VALUES (1, 'ENG-1', 1, 1), (2, 'OPS-7', 2, 7), (3, 'ENG-2', 1, 2);
CREATE TABLE fresh (id TEXT PRIMARY KEY, v TEXT);
CREATE TABLE times (id INTEGER PRIMARY KEY, v TEXT, created_at TEXT, updated_at INTEGER, modified DATE);
INSERT INTO times VALUES (1, 'a', '2020-01-01 00:00:00', 1577836800, '2020-01-01');`

func TestIDsContinue(t *testing.T) {
	db := openSQL(t, idsSQL, &Options{Seed: 7})
	for _, c := range []struct{ table, body, want string }{
		{"whole", `{"v":"x"}`, `{"id":42,"v":"x"}`},
		{"whole", `{"v":"x"}`, `{"id":43,"v":"x"}`},
		{"pref", `{"v":"x"}`, `{"id":"T-11","v":"x"}`},
		{"pref", `{"id":"T-100"}`, `{"id":"T-100","v":null}`},
		{"pref", `{"v":"x"}`, `{"id":"T-101","v":"x"}`},
		{"padded", `{"v":"x"}`, `{"id":"A0009","v":"x"}`},
		{"uuids", `{"v":"x"}`, `{"id":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}","v":"x"}`},
		{"sevens", `{"v":"x"}`, `{"id":"019B7[0-9A-F]{3}-[0-9A-F]{4}-7[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}","v":"x"}`},
		{"ulids", `{"v":"x"}`, `{"id":"01KDV[0-9A-HJKMNP-TV-Z]{21}","v":"x"}`},
		{"tokens", `{"v":"x"}`, `{"id":"cus_[0-9A-Za-z]{12}","v":"x"}`},
		{"codes", `{"v":"x"}`, `validation_error: "code" must have a value in codes`},
		{"prefixed", `{"v":"x"}`, `validation_error: "id" must have a value in prefixed`},
		{"fresh", `{"v":"x"}`, `{"id":"[0-9a-f-]{36}","v":"x"}`},
		{"issues", `{"project_id":1}`, `{"id":4,"key":"ENG-3","project_id":1,"number":3}`},
		{"issues", `{"project_id":2}`, `{"id":5,"key":"OPS-8","project_id":2,"number":8}`},
		{"issues", `{"project":{"key":"OPS"}}`, `{"id":6,"key":"OPS-9","project_id":2,"number":9}`},
		{"issues", `{"project":{"key":"NO"}}`, `validation_error: "project_id" of issues: there is no projects with "key" "NO"`},
		{"times", `{"v":"x"}`, `{"id":2,"v":"x","created_at":"2026-01-01 00:00:01","updated_at":1767225601,"modified":"2026-01-01"}`},
		{"times", `{"created_at":"1999-01-01 00:00:00"}`, `{"id":3,"v":null,"created_at":"1999-01-01 00:00:00","updated_at":1767225601,"modified":"2026-01-01"}`},
	} {
		got := ask(t, db, "x", "POST /"+c.table+" create", "", "", c.body)
		if ok, _ := regexp.MatchString("^"+c.want+"$", got); !ok && got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.table, c.body, got, c.want)
		}
	}
	for _, c := range []struct{ op, body, want string }{
		{"PATCH /times/{id} update", `{"v":"y"}`, `{"id":1,"v":"y","created_at":"2020-01-01 00:00:00","updated_at":1767225601,"modified":"2026-01-01"}`},
		{"PUT /times/{id} update", `{"v":"z"}`, `{"id":1,"v":"z","created_at":"2020-01-01 00:00:00","updated_at":1767225601,"modified":"2026-01-01"}`},
		{"PATCH /times/{id} update", `{}`, `{"id":1,"v":"z","created_at":"2020-01-01 00:00:00","updated_at":1767225601,"modified":"2026-01-01"}`},
	} {
		if got := ask(t, db, "x", c.op, "id=1", "", c.body); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.op, c.body, got, c.want)
		}
	}
}

// Equal seeds give equal ids, another seed others.
func TestIDsComeFromTheSeed(t *testing.T) {
	make := func(seed uint32) string {
		return ask(t, openSQL(t, idsSQL, &Options{Seed: seed}), "x", "POST /tokens create", "", "", `{}`)
	}
	if a, b, c := make(1), make(1), make(2); a != b || a == c {
		t.Errorf("%s, %s, %s", a, b, c)
	}
}

func TestNow(t *testing.T) {
	db := openSQL(t, idsSQL, &Options{Now: time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)})
	if got := ask(t, db, "x", "POST /times create", "", "", `{}`); !strings.Contains(got, `"created_at":"2030-05-06 07:08:10"`) {
		t.Error(got)
	}
}

func tenantCall(t *testing.T, db *DB, tenant, kind, body string) string {
	t.Helper()
	req := &provider.Request{RequestID: "r1", OperationID: kind, PathTemplate: "/fresh", Method: map[string]string{"list": "GET", "create": "POST"}[kind],
		Kind: provider.Kind(kind), Action: kind}
	if kind == "list" {
		req.Page = &provider.Page{Size: 9}
	}
	if tenant != "" {
		req.TenantID = &tenant
	}
	if body != "" {
		req.Body = []byte(body)
	}
	res, err := db.Invoke(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return show(res)
}

func TestTenantsAndReset(t *testing.T) {
	ctx := context.Background()
	path := makeFile(t, idsSQL)
	db := openFile(t, path, nil)
	for tenant, id := range map[string]string{"": "common", "a": "one", "b": "two"} {
		tenantCall(t, db, tenant, "create", `{"id":"`+id+`"}`)
	}
	for tenant, want := range map[string]string{"": `1 of 1 {"id":"common","v":null}`, "a": `1 of 1 {"id":"one","v":null}`, "b": `1 of 1 {"id":"two","v":null}`, "c": "0 of 0 "} {
		if got := tenantCall(t, db, tenant, "list", ""); got != want {
			t.Errorf("tenant %q: %s, want %s", tenant, got, want)
		}
	}
	if got := strings.Join(db.Tenants(), " "); got != "a b c" {
		t.Errorf("tenants %s", got)
	}
	if err := db.Reset(ctx, 1); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"", "a"} {
		if got := tenantCall(t, db, tenant, "list", ""); got != "0 of 0 " {
			t.Errorf("tenant %q after a reset: %s", tenant, got)
		}
	}
	// Another program changes the fixture, which a reset does not look at again...
	if err := os.WriteFile(path, append(must(os.ReadFile(path)), make([]byte, 4096)...), 0o600); err != nil {
		t.Fatal(err)
	}
	tenantCall(t, db, "", "create", `{"id":"common"}`)
	if err := db.Reset(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if got := tenantCall(t, db, "", "list", ""); got != "0 of 0 " {
		t.Errorf("after the fixture changed: %s", got)
	}
	// ... unless it has to copy it again: a copy would be another state.
	db.pool.Load().origin.most = 0
	if err := db.Reset(ctx, 1); err == nil || !strings.Contains(err.Error(), "changed since it was opened") {
		t.Errorf("reset on a changed file: %v", err)
	}
	if got := tenantCall(t, db, "", "list", ""); got != "0 of 0 " {
		t.Errorf("after a reset that failed: %s", got)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestSaveState(t *testing.T) {
	ctx := context.Background()
	out := filepath.Join(t.TempDir(), "state.db")
	db := openFile(t, makeFile(t, idsSQL), &Options{SaveState: out})
	tenantCall(t, db, "", "create", `{"id":"kept"}`)
	tenantCall(t, db, "a", "create", `{"id":"tenant"}`)
	if err := db.Close(ctx); err != nil {
		t.Fatal(err)
	}
	saved := openFile(t, out, nil)
	if got := tenantCall(t, saved, "", "list", ""); got != `1 of 1 {"id":"kept","v":null}` {
		t.Error(got)
	}
	if list := must(os.ReadDir(filepath.Dir(out))); len(list) != 2 {
		t.Errorf("files beside the state: %v", list)
	}
	tenant := openFile(t, TenantFile(out, "a"), nil)
	if got := tenantCall(t, tenant, "", "list", ""); got != `1 of 1 {"id":"tenant","v":null}` {
		t.Error(got)
	}
	// A place that cannot be written leaves what is there.
	lost := filepath.Join(t.TempDir(), "no", "state.db")
	db = openFile(t, out, &Options{SaveState: lost})
	if err := db.Close(ctx); err == nil || !strings.Contains(err.Error(), "save state") {
		t.Errorf("saving to a missing folder: %v", err)
	}
}

func TestInPlaceAndReadOnly(t *testing.T) {
	ctx := context.Background()
	path := makeFile(t, idsSQL)
	db := openFile(t, path, &Options{InPlace: true})
	tenantCall(t, db, "", "create", `{"id":"written"}`)
	if err := db.Reset(ctx, 1); err == nil {
		t.Error("a database in place was reset")
	}
	if err := db.Close(ctx); err != nil {
		t.Fatal(err)
	}
	db = openFile(t, path, &Options{ReadOnly: true})
	if got := tenantCall(t, db, "", "list", ""); got != `1 of 1 {"id":"written","v":null}` {
		t.Error(got)
	}
	if got := tenantCall(t, db, "", "create", `{"id":"x"}`); !strings.HasPrefix(got, "policy_denied: the fixture database is read-only") {
		t.Error(got)
	}
}
