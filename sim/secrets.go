package sim

import (
	"slices"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/secretname"
)

// redacted stands in a trace for a credential.
const redacted = `"[redacted]"`

// secretParams are the parameters whose values no trace may show.
func secretParams(o *air.Operation) (list []*air.Param) {
	for _, p := range o.Params {
		if carriesCredential(o, p) {
			list = append(list, p)
		}
	}
	return list
}

// carriesCredential reports whether a parameter carries a credential: the
// contract says so, or its name does. A contract names carriers in headers and
// queries only, so that a key without one travels in a cookie: in which is not
// known, and each counts. Without auth, a cookie of any session is data.
func carriesCredential(o *air.Operation, p *air.Param) bool {
	c := o.Auth.Carrier
	if c != nil && p.In == c.In && (p.Name == c.Name || p.In == "header" && lower(p.Name) == lower(c.Name)) {
		return true
	}
	if o.Carrier().Carries(p.In, p.Name) || pages(o, p) {
		return false
	}
	name := secretname.Normal(p.Name)
	switch p.In {
	case "header":
		return secretname.Header(name)
	case "query":
		return secretname.Anywhere(name)
	case "cookie":
		switch {
		case o.Auth.Type == "none":
			return secretname.Anywhere(name)
		case c == nil && (o.Auth.Type == "api_key" || o.Auth.Type == "custom_header"):
			return true
		}
		return secretname.Query(name)
	}
	return false
}

func pages(o *air.Operation, p *air.Param) bool {
	return p.In == "query" && o.Pagination != nil && (p.Name == o.Pagination.CursorParam || p.Name == o.Pagination.PageSizeParam)
}

// Secret reports whether a declared parameter carries a credential, which no
// trace shows.
func (o *Operation) Secret(p *air.Param) bool { return slices.Contains(o.secrets, p) }

// hidden is the input as a trace may show it: without credentials.
func (o *Operation) hidden(in Input) Input {
	if o == nil {
		return in
	}
	shown := in
	for _, p := range o.secrets {
		if in.Get(p.Key) == nil {
			continue
		}
		if len(shown) > 0 && &shown[0] == &in[0] {
			shown = slices.Clone(in)
		}
		shown.Set(p.Key, Raw(redacted))
	}
	return shown
}

// withoutSecrets is a copy of the input without credentials.
func (o *Operation) withoutSecrets(in Input) Input {
	if len(o.secrets) == 0 {
		return slices.Clone(in)
	}
	return slices.DeleteFunc(slices.Clone(in), func(a Arg) bool {
		return slices.ContainsFunc(o.secrets, func(p *air.Param) bool { return p.Key == a.Key })
	})
}
