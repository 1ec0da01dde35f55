package surface

import (
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
)

func routerOf(templates ...string) *router {
	var plans []*plan
	for _, tpl := range templates {
		method, path, _ := strings.Cut(tpl, " ")
		plans = append(plans, &plan{op: &sim.Operation{
			Operation: &air.Operation{ID: tpl, Path: path},
			Info:      provider.Operation{Method: method},
		}})
	}
	return newRouter(plans)
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
