package store

import (
	"strings"
	"testing"
)

// A column called like a parameter keeps its name; the parameter gets another,
// which docs/fixtures.md tells.
func TestParametersGiveWay(t *testing.T) {
	db := openSQL(t, `CREATE TABLE w (id INTEGER PRIMARY KEY, "limit" INTEGER, "cursor" TEXT, sort TEXT, q TEXT);
CREATE TABLE x (id INTEGER PRIMARY KEY, "Limit" INTEGER, page_size INTEGER);
INSERT INTO w VALUES (1, 5, 'a', 'm', 'one'), (2, 5, 'b', 'n', 'two'), (3, 6, 'c', 'o', 'one');`, nil)
	names := map[string]string{}
	for _, o := range load(t, db).Operations {
		var query []string
		for _, p := range o.Params {
			if p.In == "query" {
				query = append(query, p.Name)
			}
		}
		names[o.ID] = strings.Join(query, " ")
	}
	for id, want := range map[string]string{
		"fixture.w.list": "id limit cursor sort q order_by search $filter $orderby $select $count $search page_size page_cursor",
		"fixture.x.list": "id Limit page_size sort q $filter $orderby $select $count $search page_size_2 cursor",
	} {
		if names[id] != want {
			t.Errorf("%s has the parameters %s, want %s", id, names[id], want)
		}
	}
	want(t, db, call{id: "w.list", query: `limit=[5]&order_by="-id"&search="o"`, size: 9},
		`2 of 2 {"id":2,"limit":5,"cursor":"b","sort":"n","q":"two"} {"id":1,"limit":5,"cursor":"a","sort":"m","q":"one"}`)
	want(t, db, call{id: "w.list", query: `filter[limit]=6&cursor="c"&q="one"`, size: 9},
		`1 of 1 {"id":3,"limit":6,"cursor":"c","sort":"o","q":"one"}`)
}
