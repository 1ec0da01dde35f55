package openapi

import (
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

func (r *reader) securitySchemes(table node) {
	for _, m := range table.v.Members() {
		n, ok := r.resolve(table.get(m.Key))
		if !ok {
			continue
		}
		s := &api.Scheme{
			Name: m.Key, Type: n.text("type"), In: n.text("in"), KeyName: n.text("name"),
			HTTP: strings.ToLower(n.text("scheme")), BearerFormat: n.text("bearerFormat"), OpenIDURL: n.text("openIdConnectUrl"),
		}
		if r.v2 {
			swaggerScheme(s, n)
		}
		for _, f := range n.v.Get("flows").Members() {
			s.Flows = append(s.Flows, flow(f.Key, f.Value))
		}
		r.schemes[m.Key] = s
	}
}

func flow(kind string, v *api.Value) api.Flow {
	f := api.Flow{Kind: kind, TokenURL: v.Get("tokenUrl").Text(), AuthURL: v.Get("authorizationUrl").Text()}
	for _, s := range v.Get("scopes").Members() {
		f.Scopes = append(f.Scopes, s.Key)
	}
	return f
}

// security reads a list of requirements; ok is false when there is none.
func (r *reader) security(list node) (out []api.Requirement, ok bool) {
	if !list.v.Is(canon.Array) {
		return nil, false
	}
	for _, e := range list.v.Elems() {
		req := api.Requirement{}
		for _, m := range e.Members() {
			s := r.schemes[m.Key]
			if s == nil {
				r.diags.Addf(api.Error, "auth/undeclared", list.place(), "the security scheme %q is not declared", m.Key)
				s = &api.Scheme{Name: m.Key}
			}
			use := api.Use{Scheme: s}
			for _, scope := range m.Value.Elems() {
				if scope.Is(canon.String) && scope.Text() != "" {
					use.Scopes = append(use.Scopes, scope.Text())
				}
			}
			req = append(req, use)
		}
		out = append(out, req)
	}
	return out, true
}
