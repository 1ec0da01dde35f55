package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Each part of the subset alone: comparisons, in, null, booleans, the functions, and a day
// that is compared with a moment of it.
func TestODataSubset(t *testing.T) {
	db := openSQL(t, `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, done BOOLEAN, day DATE);
INSERT INTO items VALUES (1, 'Apple', 5.5, 1, '2026-01-01'), (2, 'Pear', NULL, 0, '2026-01-02'), (3, 'Plum''s', 7, NULL, '2026-01-03');`, nil)
	for filter, want := range map[string]string{
		`contains(name,'pp')`:                         "1",
		`startswith(name,'P') and endswith(name,'r')`: "2",
		`substringof('lum',name)`:                     "3",
		`not contains(name,'p')`:                      "",
		`contains(name,'e') eq false`:                 "3",
		`name in ('Apple','Plum''s')`:                 "1 3",
		`price in (null,7)`:                           "2 3",
		`price eq null`:                               "2",
		`price ne null and price lt 6`:                "1",
		`done eq true`:                                "1",
		`done`:                                        "1",
		`not done and id gt 0`:                        "2 3",
		`(done) or id eq 3`:                           "1 3",
		`day lt 2026-01-02T09:00:00Z`:                 "1 2",
		`day ge 2026-01-02T09:00:00Z`:                 "3",
		`day le 2026-01-02T00:00:00Z`:                 "1 2",
		`day ge 2026-01-02`:                           "2 3",
		`day gt 2026-01-02T09:00:00Z or day eq null`:  "3",
	} {
		raw, err := json.Marshal(filter)
		if err != nil {
			t.Fatal(err)
		}
		req := listRequest("$filter="+string(raw), 9, nil)
		req.PathTemplate = "/items"
		res, err := db.Invoke(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, item := range res.Items {
			var row struct{ ID int }
			if err := json.Unmarshal(item, &row); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, fmt.Sprint(row.ID))
		}
		if got := strings.Join(ids, " "); got != want || !res.OK {
			t.Errorf("%s finds %q, want %q: %s", filter, got, want, show(res))
		}
	}
	req := listRequest(`$filter="name"`, 9, nil)
	req.PathTemplate = "/items"
	res, err := db.Invoke(context.Background(), req)
	if err != nil || res.OK || !strings.Contains(show(res), "at character 5: found the end, want eq, ne") {
		t.Errorf("a text is no condition: %s (%v)", show(res), err)
	}
}

// What $select names and no row has is told, and refused in strict mode; nothing else is cut
// from the rows by it.
func TestSelectOfUnknownNames(t *testing.T) {
	const sql = `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL); INSERT INTO items VALUES (1, 'Apple', 5.5);`
	loose, strict := openSQL(t, sql, nil), openSQL(t, sql, &Options{Strict: true})
	for _, c := range []struct{ sel, rows, ignored, refused string }{
		{"name,id", `{"id":1,"name":"Apple"}`, "", ""},
		{"*", `{"id":1,"name":"Apple","price":5.5}`, "", ""},
		{"name, prise", `{"name":"Apple"}`, `["$select[prise]"]`, `validation_error: items has no column for the parameter "$select[prise]"; did you mean "price"?`},
		{"colour,prise", `{"id":1,"name":"Apple","price":5.5}`, `["$select[colour]","$select[prise]"]`,
			`validation_error: items has no column for the parameter "$select[colour]"; its columns are id, name, price`},
	} {
		for _, db := range []*DB{loose, strict} {
			req := listRequest(`$select="`+c.sel+`"`, 9, nil)
			req.PathTemplate = "/items"
			res, err := db.Invoke(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			if db == strict && c.refused != "" {
				if got := show(res); got != c.refused {
					t.Errorf("%s: %s, want %s", c.sel, got, c.refused)
				}
				continue
			}
			told := strings.Contains(string(res.Meta), `"ignored":`+c.ignored)
			if len(res.Items) != 1 || string(res.Items[0]) != c.rows || told != (c.ignored != "") {
				t.Errorf("%s: %s, meta %s; want %s, ignored %s", c.sel, show(res), res.Meta, c.rows, c.ignored)
			}
		}
	}
}
