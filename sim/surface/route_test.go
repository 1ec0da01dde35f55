package surface

import (
	"slices"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
)

func routerOf(templates ...string) *router {
	var operations []*planned
	for _, tpl := range templates {
		method, path, _ := strings.Cut(tpl, " ")
		op := &sim.Operation{
			Operation: &air.Operation{ID: tpl, Path: path},
			Info:      provider.Operation{Method: method},
		}
		operations = append(operations, &planned{op, func() *plan { return &plan{op: op} }})
	}
	return newRouter(operations)
}

func TestRouter(t *testing.T) {
	rt := routerOf(
		"GET /users/{id}", "GET /users/me", "GET /users/{id}/posts", "GET /users/me/{rest}",
		"GET /files/{name}.{ext}", "GET /range/{from}-{to}", "GET /drive/root:/{path}:/content",
		"GET /Products('{key}')", "POST /jobs/{id}:cancel", "GET /trailing/", "GET /", "GET /dup/{a}", "GET /dup/{b}", "GET /gr%C3%B6%C3%9Fe",
	)
	for _, tc := range []struct{ method, path, want, params string }{
		{"GET", "/users/7", "GET /users/{id}", "7"},
		{"GET", "/users/7/", "GET /users/{id}", "7"},
		{"GET", "/users/me", "GET /users/me", ""},
		{"GET", "/Users/me", "", ""},
		{"GET", "/users/me/posts", "GET /users/{id}/posts", "me"},
		{"GET", "/users/me/x", "GET /users/me/{rest}", "x"},
		{"GET", "/users/", "", ""},
		{"GET", "/users//posts", "", ""},
		{"GET", "/files/a.b.c", "GET /files/{name}.{ext}", "a.b c"},
		{"GET", "/files/none", "", ""},
		{"GET", "/files/.c", "", ""},
		{"GET", "/range/1-5-9", "GET /range/{from}-{to}", "1-5 9"},
		{"GET", "/drive/root:/x:/content", "GET /drive/root:/{path}:/content", "x"},
		{"GET", "/drive/root:/x/y:/content", "", ""},
		{"GET", "/Products('P1')", "GET /Products('{key}')", "P1"},
		{"GET", "/Products(%27P1%27)", "", ""},
		{"POST", "/jobs/a:b:cancel", "POST /jobs/{id}:cancel", "a:b"},
		{"GET", "/jobs/j:cancel", "", ""},
		{"GET", "/trailing", "", ""},
		{"GET", "/trailing/", "GET /trailing/", ""},
		{"GET", "/", "GET /", ""},
		{"GET", "/dup/x", "GET /dup/{a}", "x"},
		{"GET", "/gr%c3%b6%C3%9fe", "GET /gr%C3%B6%C3%9Fe", ""},
		{"GET", "/GR%C3%B6%C3%9Fe", "", ""},
		{"GET", "/users/a%2Fb", "GET /users/{id}", "a%2Fb"},
	} {
		p, params := rt.match(tc.method, tc.path)
		got := ""
		if p != nil {
			got = p.op.ID
		}
		if got != tc.want || strings.Join(params, " ") != tc.params {
			t.Errorf("%s %s: got %q with %q, want %q with %q", tc.method, tc.path, got, params, tc.want, tc.params)
		}
	}
}

func TestHiddenRoutes(t *testing.T) {
	for _, tt := range []struct {
		templates []string
		want      []Hidden
	}{
		{[]string{"GET /a/{x}", "POST /a/{y}", "GET /a/b", "GET /a/{x}/c", "GET /a/{x}.json"}, nil},
		{[]string{"GET /a/{x}", "GET /a/b", "GET /a/{y}"}, []Hidden{{"GET /a/{y}", "GET /a/{x}", "GET /a/{y}"}}},
		{[]string{"GET /a/{x}-{y}", "GET /a/{y}-{z}", "GET /a/{x}:{y}"}, []Hidden{{"GET /a/{y}-{z}", "GET /a/{x}-{y}", "GET /a/{y}-{z}"}}},
		{[]string{"GET /a", "GET /a/"}, []Hidden{{"GET /a/", "GET /a", "GET /a/"}}},
		{[]string{"GET /a/", "GET /a"}, nil},
	} {
		if got := routerOf(tt.templates...).hidden; !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.templates, got, tt.want)
		}
	}
}

func TestWhyUnreachable(t *testing.T) {
	op := &sim.Operation{
		Operation: &air.Operation{ID: "a", Path: "tickets", Method: "get", SourceKind: "openapi"},
		Info:      provider.Operation{Method: "GET"},
	}
	if why, want := whyUnreachable(op, false), `its path "tickets" does not begin with a slash`; why != want {
		t.Errorf("%q, want %q", why, want)
	}
	op.Path = "/tickets"
	if why := whyUnreachable(op, false); why != "" {
		t.Errorf("%q, want it served", why)
	}
}

// A refusal names every operation, however many there are: the list is what a
// --capability must leave out.
func TestUnreachableErrorNamesAll(t *testing.T) {
	err := &UnreachableError{make([]Unreachable, 200)}
	if text := err.Error(); strings.Count(text, "\n") != 200 {
		t.Error(text)
	}
}
