package trace

import (
	"errors"
	"strings"
	"testing"
)

func TestTolerance(t *testing.T) {
	tests := []struct {
		name, a, b string
		tolerance  []string
		equal      bool
		counted    []int
	}{
		{"within", `{"s":1.00}`, `{"s":1.01}`, []string{"0.01"}, true, []int{3}},
		{"beyond", `{"s":1.00}`, `{"s":1.011}`, []string{"0.01"}, false, []int{0}},
		{"exact at any size", `9007199254740993`, `9007199254740992`, []string{"0.5"}, false, []int{0}},
		{"equal numbers are not counted", `{"s":1.0,"t":2}`, `{"s":1,"t":2}`, []string{"1"}, true, []int{0}},
		{"part of the baseline", `200`, `210`, []string{"5%"}, true, []int{3}},
		{"a path", `{"s":1,"t":1}`, `{"s":2,"t":2}`, []string{"/**/s=1"}, false, []int{3}},
		{"a path wins over all", `{"s":1}`, `{"s":2}`, []string{"5", "/response/s=0.1"}, false, []int{2, 0}},
		{"no number", `{"s":"1"}`, `{"s":"2"}`, []string{"5"}, false, []int{0}},
		{"far exponents", `1e999999999`, `1e999999998`, []string{"5"}, false, []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &DiffOptions{}
			for _, text := range tt.tolerance {
				tol, err := ParseTolerance(text)
				if err != nil {
					t.Fatal(err)
				}
				o.Tolerance = append(o.Tolerance, tol)
			}
			r, txt := diffText(t, call(1, "GET", "/x", tt.a), call(1, "GET", "/x", tt.b), o)
			if r.Equal() != tt.equal {
				t.Errorf("equal %v\n%s", r.Equal(), txt)
			}
			for i, want := range tt.counted {
				if r.Tolerated[i] != want && !r.Identical {
					t.Errorf("tolerance %d: %d, want %d", i, r.Tolerated[i], want)
				}
			}
		})
	}
}

func TestOnly(t *testing.T) {
	tests := []struct {
		name, a, b string
		only       []string
		equal      bool
		outside    int
	}{
		{"outside", `{"a":1,"b":1}`, `{"a":2,"b":1}`, []string{"/response/b"}, true, 3},
		{"inside", `{"a":1,"b":1}`, `{"a":1,"b":2}`, []string{"/response/b"}, false, 2},
		{"whole subtree", `{"b":{"c":[1]}}`, `{"b":{"c":[2]}}`, []string{"/response/b"}, false, 2},
		{"many", `[{"id":1,"x":1}]`, `[{"id":1,"x":2}]`, []string{"/**/id"}, true, 3},
		{"many, inside", `[{"id":1}]`, `[{"id":2}]`, []string{"/response/**/id"}, false, 2},
		{"the way is gone", `{"b":{"c":1}}`, `{"b":null}`, []string{"/response/b/c"}, false, 2},
		{"another way is gone", `{"b":{"d":1}}`, `{"b":null}`, []string{"/response/b/c"}, true, 3},
		{"status", `1`, `2`, []string{"/status"}, true, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, txt := diffText(t, call(1, "GET", "/x", tt.a), call(1, "GET", "/x", tt.b), &DiffOptions{Only: tt.only})
			if r.Equal() != tt.equal || r.Outside != tt.outside {
				t.Errorf("equal %v, outside %d\n%s", r.Equal(), r.Outside, txt)
			}
		})
	}
}

func TestRename(t *testing.T) {
	created := func(id string) string { return call(1, "POST", "/t", `{"id":"`+id+`"}`) }
	tests := []struct {
		name, a, b string
		rename     []string
		equal      bool
		renamed    int
		note       string
	}{
		{"one id", created("a1"), created("b2"), []string{"ids"}, true, 1, ""},
		{"ids are read again", created("a1") + call(2, "GET", "/t/a1", `{"id":"a1","link":"/t/a1?x=1"}`),
			created("b2") + call(2, "GET", "/t/b2", `{"id":"b2","link":"/t/b2?x=1"}`), []string{"ids"}, true, 1, ""},
		{"another one is read", created("a1") + call(2, "GET", "/t/a1", `{"id":"a1"}`),
			created("b2") + call(2, "GET", "/t/c3", `{"id":"c3"}`), []string{"ids"}, false, 1, `"b2" stands for "a1" elsewhere`},
		{"two become one", call(1, "GET", "/t", `[{"id":"a"},{"id":"b"}]`), call(1, "GET", "/t", `[{"id":"z"},{"id":"z"}]`), []string{"ids"}, false, 1,
			`"z" stands for "a" elsewhere`},
		{"equal ones are partners too", call(1, "GET", "/t", `[{"id":"a"},{"id":"b"}]`), call(1, "GET", "/t", `[{"id":"a"},{"id":"a"}]`), []string{"ids"}, false, 0,
			`"a" stands for "a" elsewhere`},
		{"a pattern", call(1, "GET", "/t", `{"ref":7}`), call(1, "GET", "/t", `{"ref":8}`), []string{"/**/ref"}, true, 1, ""},
		{"times", call(1, "GET", "/t", `{"at":"2026-01-01T00:00:00Z"}`), call(1, "GET", "/t", `{"at":"2026-02-01T10:00:00.5+01:00"}`), []string{"times"}, true, 1, ""},
		{"no time", call(1, "GET", "/t", `{"at":"2026-01-01"}`), call(1, "GET", "/t", `{"at":"2026-02-01"}`), []string{"times"}, false, 0, ""},
		{"cursors", call(1, "GET", "/t", `{"next_cursor":"abc"}`), call(1, "GET", "/t", `{"next_cursor":"xyz"}`), []string{"cursors"}, true, 1, ""},
		{"other values count", call(1, "GET", "/t", `{"id":"a","v":1}`), call(1, "GET", "/t", `{"id":"b","v":2}`), []string{"ids"}, false, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, txt := diffText(t, tt.a, tt.b, &DiffOptions{Rename: tt.rename})
			if r.Equal() != tt.equal || r.Renamed != tt.renamed || !strings.Contains(txt, tt.note) {
				t.Errorf("equal %v, renamed %d\n%s", r.Equal(), r.Renamed, txt)
			}
			if r, _ = diffText(t, tt.a, tt.b, nil); r.Equal() {
				t.Error("equal without a renaming")
			}
		})
	}
}

func TestUnifiedText(t *testing.T) {
	a := call(1, "GET", "/x", `"one\ntwo\nthree"`)
	_, txt := diffText(t, a, strings.ReplaceAll(a, "two", "2"), nil)
	if want := "    @@ -1,3 +1,3 @@\n     one\n    -two\n    +2\n     three\n"; !strings.Contains(txt, want) {
		t.Errorf("got\n%s", txt)
	}
	a = call(1, "GET", "/x", `"{\"a\":1,\"b\":2}"`)
	_, txt = diffText(t, a, strings.ReplaceAll(a, "2}", "3}"), nil)
	if want := "    -  \"b\": 2\n    +  \"b\": 3\n"; !strings.Contains(txt, want) {
		t.Errorf("got\n%s", txt)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []DiffOptions{
		{Only: []string{"response"}}, {Rename: []string{"id"}}, {Tolerance: []Tolerance{{Amount: "-1"}}},
		{Tolerance: []Tolerance{{Amount: "inf"}}}, {Tolerance: []Tolerance{{Path: "x", Amount: "1"}}},
	} {
		_, err := Diff(t.Context(), text("a", gets("/1")), text("b", gets("/1")), &o)
		var opt *OptionError
		if !errors.As(err, &opt) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
