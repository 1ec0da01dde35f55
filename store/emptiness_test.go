package store

import (
	"fmt"
	"strings"
	"testing"
)

// The reasons of an empty list: in a table that is read once, and in one that is
// too large for it, where only indexes tell.
func TestReasonsOfEmptyLists(t *testing.T) {
	sql := func(rows int) string {
		return fmt.Sprintf(`CREATE TABLE e (id INTEGER PRIMARY KEY, kind TEXT, owner INTEGER, size INTEGER, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO e SELECT i, 'k' || (i %% 3), i %% 1000, i %% 7, CASE i WHEN 5 THEN 'needle' END FROM n;
CREATE INDEX by_owner ON e (owner);
CREATE INDEX by_kind ON e (kind);
CREATE VIRTUAL TABLE e_fts USING fts4(content="e", note);
INSERT INTO e_fts(e_fts) VALUES ('rebuild');`, rows)
	}
	small, large := openSQL(t, sql(3000), nil), openSQL(t, sql(passRows+1), nil)
	for _, c := range []struct{ query, small, large string }{
		{`owner=[1]&size=[99]`, `"by":"size","alone":[3,0]`, `"by":"size","alone":[101,null]`},
		{`owner=[5000]&size=[99]`, `"by":"owner","alone":[0,0]`, `"by":"owner","alone":[0,null]`},
		{`size=[1]&owner=[5000]`, `"by":"owner","alone":[429,0]`, `"alone":[null,0]`},
		{`owner=[1]&kind=["k9"]`, `"by":"kind","alone":[3,0]`, `"by":"kind","alone":[101,0]`},
		{`kind=["k1"]&owner=[1]&size=[1]&note="x"`, `"by":"note","alone":[1000,3,429,0]`, `"by":"note","alone":[33334,101,null,null]`},
		{`q="needle"&owner=[6]`, `"by":"owner","alone":[1,3]`, `"by":"owner","alone":[1,100]`},
	} {
		for name, db := range map[string]*DB{"small": small, "large": large} {
			res := call{id: "e.list", query: c.query, size: 5}.do(t, db)
			want := map[string]string{"small": c.small, "large": c.large}[name]
			if got := string(res.Meta); !strings.HasSuffix(got, `"empty":{`+want+"}}") {
				t.Errorf("%s, %s: %s, want %s", c.query, name, got, want)
			}
		}
	}
	// A page beyond the last row is no empty list.
	for _, db := range []*DB{small, large} {
		first := call{id: "e.list", query: "id=[1,2]", size: 1}.do(t, db)
		call{id: "e.delete", path: "id=2"}.do(t, db)
		res := call{id: "e.list", query: "id=[1,2]", size: 1, cursor: *first.NextCursor}.do(t, db)
		if strings.Contains(string(res.Meta), "empty") || *res.Total != 1 {
			t.Errorf("a page beyond the last row: %s, total %d", res.Meta, *res.Total)
		}
	}
}
