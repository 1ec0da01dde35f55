package store

import (
	"fmt"
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		strings.Repeat("x", 100):       strings.Repeat("x", 100),
		strings.Repeat("ä", 100):       strings.Repeat("ä", 100),
		strings.Repeat("ä", 101):       strings.Repeat("ä", 100) + "…",
		`"` + strings.Repeat(`\n`, 99): `"` + strings.Repeat(`\n`, 49) + `…"`,
	} {
		if got := clip(text); got != want {
			t.Errorf("clip(%s) is %s, want %s", text, got, want)
		}
	}
}

// However much a request holds, a refusal stays readable.
func TestLongValuesInErrors(t *testing.T) {
	db := openSQL(t, `CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL, n INTEGER, b BLOB);
CREATE TABLE c (id INTEGER PRIMARY KEY, p_id TEXT REFERENCES p (id), u TEXT UNIQUE)`, nil)
	long := strings.Repeat("x", 1<<18)
	digits := strings.Repeat("9", 1<<18)
	var fields []string
	for i := range 1000 {
		fields = append(fields, fmt.Sprintf(`"nothing%d":1`, i))
	}
	if res := (call{id: "c.create", body: `{"u":"` + long + `"}`}).do(t, db); !res.OK {
		t.Fatal(show(res))
	}
	for _, c := range []call{
		{id: "p.create", body: `{"id":"a","n":"` + long + `"}`},
		{id: "p.create", body: `{"id":"a","n":` + digits + `}`},
		{id: "p.create", body: `{"id":"a","` + long + `":1}`},
		{id: "p.create", body: `{"id":"a","b":"%` + long + `"}`},
		{id: "p.create", body: `{"id":"a",` + strings.Join(fields, ",") + `}`},
		{id: "c.create", body: `{"p_id":"` + long + `"}`},
		{id: "c.create", body: `{"u":"` + long + `"}`},
		{id: "p.get", path: `id="` + long + `"`},
		{id: "p.delete", path: `id="` + long + `"`},
		{id: "p.list", query: `$filter="n zz` + long + `"`, size: 1},
		{id: "p.list", query: `n[` + long + `]=1`, size: 1},
		{id: "p.list", cursor: long, size: 1},
	} {
		res := c.do(t, db)
		if got := show(res); res.OK || len(got) > 2000 {
			t.Errorf("%s: a message of %d bytes: %.200s", c.id, len(got), got)
		}
	}
	want(t, db, call{id: "c.create", body: `{"u":"` + long + `"}`}, `conflict: c already has a row with "u" "`+long[:99]+`…"`)
}

func TestDidYouMean(t *testing.T) {
	db := openSQL(t, `CREATE TABLE p (id INTEGER PRIMARY KEY, Name TEXT)`, &Options{Strict: true})
	want(t, db, call{id: "p.create", body: `{"Nmae":"x"}`}, `validation_error: p has no column "Nmae"; did you mean "Name"?`)
	want(t, db, call{id: "p.list", query: `Nmae="x"`, size: 1}, `validation_error: p has no column for the parameter "Nmae"; did you mean "Name"?`)
}
