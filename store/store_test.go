package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/provider"
)

// openSQL opens a database made of SQL text.
func openSQL(tb testing.TB, sql string, opts *Options) *DB {
	tb.Helper()
	db, err := OpenSQL(context.Background(), sql, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { closeDB(tb, db) })
	return db
}

func openFile(tb testing.TB, path string, opts *Options) *DB {
	tb.Helper()
	db, err := Open(context.Background(), path, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { closeDB(tb, db) })
	return db
}

func closeDB(tb testing.TB, db *DB) {
	if err := db.Close(context.Background()); err != nil {
		tb.Errorf("close: %v", err)
	}
}

const chinook = "testdata/chinook.sqlite"

// A call is one request of a test in short form.
type call struct {
	id     string            // operation id of the derived contract, without the service
	op     *provider.Request // or a whole request
	path   string            // "AlbumId=1&x="a"" as name=JSON pairs
	query  string
	body   string
	cursor string
	size   int // 0 is not paged
	n      int // the call's number
}

// request builds the request that the simulator would send for an operation of
// the derived contract.
func (c call) request(tb testing.TB, db *DB) *provider.Request {
	tb.Helper()
	req := &provider.Request{RequestID: fmt.Sprintf("r%d", max(c.n, 1))}
	if c.op != nil {
		*req = *c.op
	} else {
		g, id := derivedTarget(tb, db, c.id)
		req.OperationID = id
		req.Method, req.PathTemplate, _ = strings.Cut(g.name, " ")
		kinds := map[verb]provider.Kind{listRows: "list", getRow: "read", createRow: "create", patchRow: "update", replaceRow: "update", deleteRow: "delete"}
		req.Kind = kinds[g.verb]
		req.Action = c.id[strings.LastIndexByte(c.id, '.')+1:]
	}
	req.Params.Path = append(req.Params.Path, pairs(c.path)...)
	req.Params.Query = append(req.Params.Query, pairs(c.query)...)
	if c.body != "" {
		req.Body = json.RawMessage(c.body)
	}
	if c.size > 0 {
		req.Page = &provider.Page{Size: c.size}
		if c.cursor != "" {
			req.Page.Cursor = &c.cursor
		}
	}
	return req
}

func derivedTarget(tb testing.TB, db *DB, short string) (*target, string) {
	tb.Helper()
	d, err := db.contract()
	if err != nil {
		tb.Fatal(err)
	}
	id := db.name + "." + short
	g := d.targets[id]
	if g == nil {
		tb.Fatalf("the derived contract has no operation %s", id)
	}
	return g, id
}

func pairs(text string) (out provider.Object) {
	if text == "" {
		return nil
	}
	for _, part := range strings.Split(text, "&") {
		name, value, _ := strings.Cut(part, "=")
		out = append(out, provider.Member{Name: name, Value: json.RawMessage(value)})
	}
	return out
}

func (c call) do(tb testing.TB, db *DB) *provider.Response {
	tb.Helper()
	res, err := db.Invoke(context.Background(), c.request(tb, db))
	if err != nil {
		tb.Fatalf("%+v: %v", c, err)
	}
	return res
}

// show spells an answer in one line, for comparison.
func show(res *provider.Response) string {
	if !res.OK {
		return fmt.Sprintf("%s: %s", res.Error.Code, *res.Error.Message)
	}
	if res.Items == nil {
		return string(res.Result)
	}
	items := make([]string, len(res.Items))
	for i, it := range res.Items {
		items[i] = string(it)
	}
	more := ""
	if res.NextCursor != nil {
		more = " more"
	}
	return fmt.Sprintf("%d of %d%s %s", len(items), *res.Total, more, strings.Join(items, " "))
}

func want(tb testing.TB, db *DB, c call, text string) {
	tb.Helper()
	if got := show(c.do(tb, db)); got != text {
		tb.Errorf("%s %s %s %s\n got %s\nwant %s", c.id, c.path, c.query, c.body, got, text)
	}
}

func TestChinookEveryTablePagesWhole(t *testing.T) {
	db := openFile(t, chinook, nil)
	if n := len(db.schema.tables); n != 11 {
		t.Fatalf("%d tables, want 11", n)
	}
	for _, table := range db.schema.tables {
		seen := map[string]bool{}
		var cursor string
		var total int64
		for page := 0; ; page++ {
			res := call{id: slug(table.name) + ".list", size: 7, cursor: cursor}.do(t, db)
			if !res.OK {
				t.Fatalf("%s page %d: %s", table.name, page, show(res))
			}
			total = *res.Total
			for _, item := range res.Items {
				if !json.Valid(item) {
					t.Fatalf("%s: invalid JSON %s", table.name, item)
				}
				if seen[string(item)] {
					t.Fatalf("%s: twice %s", table.name, item)
				}
				seen[string(item)] = true
			}
			if res.NextCursor == nil {
				break
			}
			if len(res.Items) != 7 {
				t.Fatalf("%s page %d: %d rows before the last page", table.name, page, len(res.Items))
			}
			cursor = *res.NextCursor
		}
		if int64(len(seen)) != total || total == 0 {
			t.Errorf("%s: %d rows, total %d", table.name, len(seen), total)
		}
	}
}

func TestChinookRows(t *testing.T) {
	db := openFile(t, chinook, nil)
	want(t, db, call{id: "track.get", path: "TrackId=1"},
		`{"TrackId":1,"Name":"For Those About To Rock (We Salute You)","AlbumId":1,"MediaTypeId":1,"GenreId":1,"Composer":"Angus Young, Malcolm Young, Brian Johnson","Milliseconds":343719,"Bytes":11170334,"UnitPrice":0.99}`)
	want(t, db, call{id: "employee.get", path: "EmployeeId=1"},
		`{"EmployeeId":1,"LastName":"Adams","FirstName":"Andrew","Title":"General Manager","ReportsTo":null,"BirthDate":"1962-02-18 00:00:00","HireDate":"2002-08-14 00:00:00","Address":"11120 Jasper Ave NW","City":"Edmonton","State":"AB","Country":"Canada","PostalCode":"T5K 2N1","Phone":"+1 (780) 428-9482","Fax":"+1 (780) 428-3457","Email":"andrew@chinookcorp.com"}`)
	want(t, db, call{id: "playlist_track.get", path: "PlaylistId=1&TrackId=3402"}, `{"PlaylistId":1,"TrackId":3402}`)
	want(t, db, call{id: "track.get", path: "TrackId=999999"}, `not_found: no Track with "TrackId" 999999`)
	want(t, db, call{id: "album.list", query: `ArtistId=[1]`, size: 5},
		`2 of 2 {"AlbumId":1,"Title":"For Those About To Rock We Salute You","ArtistId":1} {"AlbumId":4,"Title":"Let There Be Rock","ArtistId":1}`)
	want(t, db, call{id: "genre.list", query: `GenreId=[3,1]&limit=1`, size: 1}, `1 of 2 more {"GenreId":1,"Name":"Rock"}`)
	want(t, db, call{id: "playlist_track.get", path: `PlaylistId="x"&TrackId=1`}, `not_found: no PlaylistTrack with "PlaylistId" "x", "TrackId" 1`)
}

func TestFileStays(t *testing.T) {
	db := openFile(t, chinook, nil)
	before, err := os.ReadFile(chinook)
	if err != nil {
		t.Fatal(err)
	}
	want(t, db, call{id: "genre.create", body: `{"Name":"Ska"}`}, `{"GenreId":26,"Name":"Ska"}`)
	want(t, db, call{id: "genre.update", path: "GenreId=1", body: `{"Name":null}`}, `{"GenreId":1,"Name":null}`)
	after, err := os.ReadFile(chinook)
	if err != nil || string(after) != string(before) {
		t.Errorf("the fixture file changed (%v)", err)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(chinook + suffix); err == nil {
			t.Errorf("%s was left beside the fixture", suffix)
		}
	}
}

// makeFile makes a real SQLite file with the writer that the package uses.
func makeFile(tb testing.TB, sql string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "made.db")
	c, err := openConn(path, accessCopy)
	if err != nil {
		tb.Fatal(err)
	}
	if err := c.exec("PRAGMA journal_mode=DELETE;" + sql); err != nil {
		tb.Fatal(err)
	}
	if err := c.close(); err != nil {
		tb.Fatal(err)
	}
	return path
}
