package route

import (
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		template, path string
		params         []string
		ok             bool
	}{
		{"/users/{id}", "/users/7", []string{"7"}, true},
		{"/users/{id}", "/users/", nil, false},
		{"/users/{id}", "/Users/7", nil, false},
		{"/files/{name}.{ext}", "/files/a.b.c", []string{"a.b", "c"}, true},
		{"/files/{name}.{ext}", "/files/none", nil, false},
		{"/gr%C3%B6", "/gr%c3%b6", nil, true},
		{"/a{b", "/a{b", nil, true},
		{"/", "/", nil, true},
	} {
		tpl := NewTemplate(c.template)
		segments := Split(nil, c.path)
		if len(segments) != tpl.Len() {
			if c.ok {
				t.Errorf("%s has %d segments", c.template, tpl.Len())
			}
			continue
		}
		if params, ok := tpl.Match(segments); ok != c.ok || !slices.Equal(params, c.params) {
			t.Errorf("%s: %s: %q %v", c.template, c.path, params, ok)
		}
	}
	tpl := NewTemplate("/a/{x}-{y}/b/")
	if !slices.Equal(tpl.Names(), []string{"x", "y"}) || tpl.Literals() != 2 || !tpl.Slash() || tpl.Shape() != NewTemplate("/a/{p}-{q}/b").Shape() {
		t.Errorf("%+v", tpl)
	}
}

func TestTable(t *testing.T) {
	doc := &air.Document{}
	doc.Service.Servers = []string{"https://api.test/v1", "https://{region}.test/{base}"}
	binding := func(text string) *canon.Value {
		v, err := canon.Parse([]byte(text), canon.Strict)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	table := NewTable(doc, []*air.Operation{
		{ID: "get", Path: "/users/{id}", Method: "get"},
		{ID: "me", Path: "/users/m%65", Method: "get"},
		{ID: "none", Method: "get"},
		{ID: "user", Path: "/graphql/user", Method: "post", SourceKind: "graphql", Binding: binding(`{"protocol":"graphql","document":"query User { user { id } }","operationName":"User","rootField":"user"}`)},
		{ID: "add", Path: "/graphql/add", Method: "post", SourceKind: "graphql", Binding: binding(`{"protocol":"graphql","document":"mutation Add { add }","operationName":"Add","rootField":"add"}`)},
	})
	for call, want := range map[string]string{
		"GET /users/7": "get", "GET /v1/users/7": "get", "GET /users/me": "me", "GET /v1x/users/7": "", "POST /users/7": "", "GET /": "",
	} {
		method, path, _ := strings.Cut(call, " ")
		got := ""
		op, params := table.Find(method, path)
		if op != nil {
			got = op.ID
		}
		if got != want || got == "get" && (len(params) != 1 || params[0] != Param{"id", "7"}) {
			t.Errorf("%s: %q %v, want %q", call, got, params, want)
		}
	}
	if !table.HasGraphQL() || NewTable(doc, nil).HasGraphQL() {
		t.Error("GraphQL is not told")
	}
	for body, want := range map[string]string{
		`{"operationName":"User","query":"query X { add }"}`:     "user",
		`{"query":"mutation Add($n: Int) { add(n: $n) }"}`:       "add",
		`{"query":"query Mine { me: user(id: 1) { id } }"}`:      "user",
		`{"query":"mutation  Add \n{ add }","operationName":""}`: "add",
		`{"query":"fragment F on User { id } query { user }"}`:   "",
		`{"query":"{ other }"}`:                                  "",
		`{"a":1}`:                                                "",
	} {
		got := ""
		if op := table.GraphQL(binding(body)); op != nil {
			got = op.ID
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// What is spelled normally stays so.
func FuzzNormalPath(f *testing.F) {
	for _, s := range []string{"/a%7eb", "/%C3%b6", "/a b{c}", "/%", "/%zz", "%%610"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		once := NormalPath(path)
		if again := NormalPath(once); again != once {
			t.Fatalf("%q became %q, then %q", path, once, again)
		}
	})
}

func TestNormalPath(t *testing.T) {
	for path, want := range map[string]string{
		"/a%7eb%2fc": "/a~b%2Fc",
		"/50%":       "/50%25",
		"%%610":      "%25a0",
		"/ö b":       "/%C3%B6%20b",
	} {
		if got := NormalPath(path); got != want {
			t.Errorf("%q became %q, want %q", path, got, want)
		}
	}
}
