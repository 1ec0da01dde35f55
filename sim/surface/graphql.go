package surface

import (
	"context"
	"net/http"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface/internal/graphql"
)

// A graphqlEndpoint is where the GraphQL operations of a contract are called:
// POST to any path that no operation claims.
type graphqlEndpoint struct {
	h          *Handler
	bindings   []*binding // in the contract's order
	byName     map[string]*binding
	byDocument map[string]*binding
	byField    map[rootField]*binding
	documents  *graphql.Reader
	schema     *graphql.Schema // of the executor; nil when it is off
}

// A binding is a GraphQL operation as the contract binds it.
type binding struct {
	plan     *plan
	document string // as compiled
	name     string // of the operation in the document
	field    rootField
}

type rootField struct{ kind, name string }

// A graphqlQuery is the body of a GraphQL request.
type graphqlQuery struct {
	document  string
	operation string  // operationName, "" when absent
	variables sim.Raw // nil when absent or null
}

func newGraphQLEndpoint(h *Handler, operations []*planned) *graphqlEndpoint {
	g := &graphqlEndpoint{h: h, byName: map[string]*binding{}, byDocument: map[string]*binding{}, byField: map[rootField]*binding{}}
	for _, p := range operations {
		if p.op.Binding.Get("protocol").Text() == "graphql" {
			g.add(newBinding(p.plan()))
		}
	}
	if g.bindings == nil {
		return nil
	}
	if h.opts.GraphQLStrict {
		g.schema = newGraphQLSchema(g.bindings, h.sim.Document())
	}
	g.documents = graphql.NewReader(g.schema)
	return g
}

func newBinding(p *plan) *binding {
	get := func(key string) string { return p.op.Binding.Get(key).Text() }
	b := &binding{plan: p, document: get("document"), name: get("operationName")}
	b.field = rootField{graphql.KindOf(b.document), get("rootField")}
	if fields := graphql.Parse(b.document).RootFields(b.name); len(fields) > 0 {
		b.field.kind = fields[0].Kind
	}
	return b
}

// add makes a binding findable. The first of several with one name wins.
func (g *graphqlEndpoint) add(b *binding) {
	g.bindings = append(g.bindings, b)
	if b.name != "" && g.byName[b.name] == nil {
		g.byName[b.name] = b
	}
	if g.byDocument[b.document] == nil {
		g.byDocument[b.document] = b
	}
	if g.byField[b.field] == nil {
		g.byField[b.field] = b
	}
}

// claim reads a request as a GraphQL query, nil when it is none: a POST that no
// operation claims, with a JSON object that has a string query.
func (g *graphqlEndpoint) claim(in *inbound) *graphqlQuery {
	if g == nil || in.plan != nil || in.method != http.MethodPost {
		return nil
	}
	in.looseBody()
	query, _ := canon.Lookup(in.json, "query")
	if len(query) == 0 || query[0] != '"' {
		return nil
	}
	q := &graphqlQuery{document: canon.Unquote(query)}
	if name, _ := canon.Lookup(in.json, "operationName"); len(name) > 0 && name[0] == '"' {
		q.operation = canon.Unquote(name)
	}
	if vars, _ := canon.Lookup(in.json, "variables"); len(vars) > 0 && string(vars) != "null" {
		q.variables = vars
	}
	return q
}

// serve answers a query. The second value is the id of its first call.
func (g *graphqlEndpoint) serve(ctx context.Context, in *inbound, q *graphqlQuery, seq int) (*response, string) {
	if g.schema != nil {
		return g.execute(ctx, in, q, seq)
	}
	b, key := g.find(q)
	if b == nil {
		call := in.call(seq, g.h.sim)
		call.Unknown = "graphql " + key
		return g.call(ctx, in, call, func(out *sim.Outcome) sim.Raw { return errorsBody(out.Result.Error) })
	}
	r := b.request(in, q.variables)
	return g.call(ctx, r.shown, r.call(seq, g.h.sim), func(out *sim.Outcome) sim.Raw {
		if out.Result.OK {
			return dataBody(key, r.value(&out.Result))
		}
		return errorsBody(out.Result.Error)
	})
}

// call answers a call: 200 always, and without the provider's headers.
func (g *graphqlEndpoint) call(ctx context.Context, in *inbound, c *sim.Call, body func(*sim.Outcome) sim.Raw) (*response, string) {
	out, resp := g.h.call(ctx, in, c, func(out *sim.Outcome) *response {
		return &response{status: http.StatusOK, body: body(out)}
	})
	return resp, out.RequestID
}

// find finds the operation of a query: by operationName, then by the exact
// compiled document, then by the first root field. The key is the response key:
// the root field's alias or name. Without an operation it is the name that was
// looked for.
func (g *graphqlEndpoint) find(q *graphqlQuery) (b *binding, key string) {
	fields := g.documents.Read(q.document).RootFields(q.operation)
	b = g.byName[q.operation]
	if b == nil {
		b = g.byDocument[q.document]
	}
	if b == nil && len(fields) > 0 {
		b = g.byField[rootField{fields[0].Kind, fields[0].Name}]
	}
	switch {
	case b != nil:
		return b, responseKey(fields, b.field.name)
	case len(fields) > 0:
		return nil, fields[0].Name
	}
	return nil, "(unparsed document)"
}

// responseKey is the alias of the field that was asked for, else the alias of
// the first one, else the field's name.
func responseKey(fields []graphql.RootField, name string) string {
	for _, f := range fields {
		if f.Name == name && f.Alias != "" {
			return f.Alias
		}
		if f.Name == name {
			return name
		}
	}
	if len(fields) > 0 && fields[0].Alias != "" {
		return fields[0].Alias
	}
	return name
}
