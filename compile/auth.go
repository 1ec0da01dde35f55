package compile

import (
	"net/url"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// auth turns the security of an operation into the contract's form. Of
// alternatives the first that is understood is taken, of schemes that are needed
// together the first, with the scopes of all; a diagnostic tells of either.
func (c *compiler) auth(reqs []api.Requirement, note func(level, code, format string, args ...any)) *api.Value {
	var chosen api.Requirement
	open := false
	for _, r := range reqs {
		if len(r) == 0 {
			open = true
		} else if chosen == nil && known(r) {
			chosen = r
		}
	}
	if chosen == nil {
		if len(reqs) > 0 && !open {
			note(api.Warning, "auth/unknown", "no security requirement is understood; callers are not asked for credentials")
		}
		return noAuth()
	}
	var others []string
	for _, r := range reqs {
		if len(r) > 0 && r[0].Scheme != chosen[0].Scheme {
			others = append(others, r[0].Scheme.Name)
		}
	}
	if len(others) > 0 {
		note(api.Info, "auth/alternatives", "%s is required; the description takes %s instead too", chosen[0].Scheme.Name, strings.Join(others, ", "))
	}
	if open {
		note(api.Info, "auth/optional", "%s is required, although the description lets everybody in too", chosen[0].Scheme.Name)
	}
	if len(chosen) > 1 {
		note(api.Info, "auth/combined", "%d schemes are needed together; only %s is modelled", len(chosen), chosen[0].Scheme.Name)
	}
	return c.scheme(chosen, note)
}

func noAuth() *api.Value {
	return object("type", "none", "scopes", []string(nil), "principal", "anonymous", "secretSource", "none")
}

func known(r api.Requirement) bool {
	switch s := r[0].Scheme; s.Type {
	case "apiKey", "oauth2", "openIdConnect", "mutualTLS":
		return true
	case "http":
		return s.HTTP != ""
	}
	return false
}

func (c *compiler) scheme(r api.Requirement, note func(level, code, format string, args ...any)) *api.Value {
	s := r[0].Scheme
	var scopes []string
	for _, u := range r {
		scopes = appendNew(scopes, u.Scopes...)
	}
	b := builder{}
	kind, principal, carrier := authKind(s)
	b.set("type", kind)
	b.set("scopes", scopes)
	if p := profileName(s.Name); p != "" {
		b.set("credentialProfile", p)
	}
	b.set("principal", principal)
	if s.Type == "openIdConnect" && absolute(s.OpenIDURL) {
		b.set("issuer", strings.TrimSuffix(s.OpenIDURL, "/.well-known/openid-configuration"))
	}
	if carrier != nil {
		b.set("carrier", carrier)
	}
	if s.Type == "apiKey" && carrier == nil {
		note(api.Warning, "auth/carrier", "the key of %s travels in %q, want header or query; its place is not modelled", s.Name, s.In)
	}
	b.set("secretSource", "env")
	if p := provider(s); p != nil {
		b.set("provider", p)
	}
	return b.object()
}

func authKind(s *api.Scheme) (kind, principal string, carrier *api.Value) {
	switch s.Type {
	case "apiKey":
		if s.In == "header" || s.In == "query" {
			if s.KeyName != "" {
				carrier = object("in", s.In, "name", s.KeyName)
			}
		}
		return "api_key", "service", carrier
	case "http":
		switch {
		case s.HTTP == "basic":
			return "basic", "service", object("in", "header", "name", "Authorization", "scheme", "Basic")
		case s.HTTP == "bearer" && strings.EqualFold(s.BearerFormat, "jwt"):
			return "jwt_bearer", "service", object("in", "header", "name", "Authorization", "scheme", "Bearer")
		case s.HTTP == "bearer":
			return "custom_header", "service", object("in", "header", "name", "Authorization", "scheme", "Bearer")
		}
		return "custom_header", "service", object("in", "header", "name", "Authorization", "scheme", s.HTTP)
	case "mutualTLS":
		return "mtls", "service", nil
	case "oauth2":
		if f := bestFlow(s); f != nil && f.Kind == "clientCredentials" {
			return "oauth2_client_credentials", "service", nil
		}
	}
	return "oauth2_authorization_code", "end_user", nil
}

// bestFlow is the flow that a scheme is modelled by: the one for users before
// the one for services, since it is the narrower.
func bestFlow(s *api.Scheme) *api.Flow {
	for _, kind := range []string{"authorizationCode", "clientCredentials", "implicit", "password"} {
		for i := range s.Flows {
			if s.Flows[i].Kind == kind {
				return &s.Flows[i]
			}
		}
	}
	return nil
}

func provider(s *api.Scheme) *api.Value {
	f := bestFlow(s)
	if f == nil {
		return nil
	}
	b := builder{}
	if absolute(f.TokenURL) {
		b.set("tokenEndpoint", f.TokenURL)
	}
	if f.Kind == "clientCredentials" {
		b.set("grant", "client_credentials")
	}
	if absolute(f.AuthURL) {
		b.set("authorizationEndpoint", f.AuthURL)
	}
	if len(b.members) == 0 {
		return nil
	}
	return b.object()
}

func absolute(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != ""
}

// profileName spells a scheme's name as a credential profile.
func profileName(name string) string {
	s := strings.TrimLeft(air.SnakeCase(name), "0123456789_")
	if len(s) > 64 {
		s = strings.TrimRight(s[:64], "_")
	}
	return s
}

// serviceAuth is the authentication of the whole service: what most operations
// ask for, with the scopes of all that ask for it.
func serviceAuth(ops []*operation) *api.Value {
	count := map[string]int{}
	best := ""
	for _, o := range ops {
		key := o.auth.With("scopes", canon.NewArray()).String()
		if count[key]++; count[key] > count[best] || best == "" {
			best = key
		}
	}
	out := noAuth()
	var scopes []string
	for _, o := range ops {
		if o.auth.With("scopes", canon.NewArray()).String() != best {
			continue
		}
		out = o.auth
		for _, s := range o.auth.Get("scopes").Elems() {
			scopes = appendNew(scopes, s.Text())
		}
	}
	return out.With("scopes", strs(scopes))
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		dup := false
		for _, have := range list {
			dup = dup || have == s
		}
		if !dup {
			list = append(list, s)
		}
	}
	return list
}
