package surface

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/sim"
	"github.com/anvil-sim/anvil/sim/surface/internal/graphql"
)

// newGraphQLSchema is what the executor knows: the bindings, and the declared
// outputs with their references as they stand, since a reference names a type.
func newGraphQLSchema(bindings []*binding, doc *air.Document) *graphql.Schema {
	list := make([]graphql.Binding, len(bindings))
	for i, b := range bindings {
		b.plan = relayPlan(b.plan)
		op := b.plan.op
		g := graphql.Binding{
			Document: b.document, Operation: b.name, Kind: b.field.kind, Field: b.field.name,
			Type: rootTypeOf(op.Path), Output: op.OutputSchema,
			OutputName: op.OutputSchemaRef[strings.LastIndexByte(op.OutputSchemaRef, '/')+1:],
		}
		if len(g.Output.Members()) == 0 {
			g.Output = doc.Schemas.Get(op.OutputSchemaRef)
			if g.Output == nil {
				g.Output = doc.Schemas.Get(g.OutputName)
			}
		}
		g.Inputs, g.Open = graphqlInputs(op)
		list[i] = g
	}
	return graphql.NewSchema(list, doc.Schemas)
}

// rootTypeOf is the type in a synthesized path /graphql/<Type>/<field>.
func rootTypeOf(path string) string {
	if rest, ok := strings.CutPrefix(path, "/graphql/"); ok {
		if typ, _, ok := strings.Cut(rest, "/"); ok {
			return typ
		}
	}
	return ""
}

// graphqlInputs lists an operation's inputs, which are variables of its
// document. Open means that the contract does not list them.
func graphqlInputs(op *sim.Operation) (names []string, open bool) {
	for _, p := range op.Params {
		if p.In == "query" || p.In == "path" {
			names = append(names, p.Name)
		}
	}
	switch b := op.Body; {
	case b == nil:
	case b.Whole:
		for _, m := range air.Properties(b.Schema) {
			names = append(names, m.Key)
		}
		return names, len(names) == 0
	default:
		for _, f := range b.Fields {
			names = append(names, f.Name)
		}
	}
	return names, false
}

// relayPlan is the plan of an operation whose pages continue at an endCursor: a
// client that selects hasNextPage beside it must be told.
func relayPlan(p *plan) *plan {
	next := p.envelope.next
	if len(next) == 0 || next[len(next)-1] != "endCursor" {
		return p
	}
	relay := *p
	path := append(append([]string(nil), next[:len(next)-1]...), "hasNextPage")
	relay.envelope.markers = append(append([]marker(nil), p.envelope.markers...), marker{path: path})
	return &relay
}

// A graphqlAnswer collects what root fields came to.
type graphqlAnswer struct{ errors, data []byte }

func (a *graphqlAnswer) addError(raw []byte) { a.errors = append(separated(a.errors), raw...) }

func (a *graphqlAnswer) addData(key string, value []byte) {
	a.data = append(canon.AppendString(separated(a.data), key), ':')
	a.data = append(a.data, value...)
}

func (a *graphqlAnswer) join(b *graphqlAnswer) {
	if b.errors != nil {
		a.addError(b.errors)
	}
	a.data = append(separated(a.data), b.data...)
}

func separated(dst []byte) []byte {
	if dst != nil {
		return append(dst, ',')
	}
	return dst
}

// body is the response: errors first, as GraphQL recommends.
func (a *graphqlAnswer) body() sim.Raw {
	dst := make([]byte, 0, len(a.errors)+len(a.data)+32)
	if a.errors == nil {
		dst = append(dst, `{"data":{`...)
	} else {
		dst = append(append(append(dst, `{"errors":[`...), a.errors...), `],"data":{`...)
	}
	return append(append(dst, a.data...), "}}"...)
}

// execute answers every root field of a query, each by a call of its own, in the
// order of the response. A call's trace line shows its own part of the response.
func (g *graphqlEndpoint) execute(ctx context.Context, in *inbound, q *graphqlQuery, seq int) (*response, string) {
	req, errs := g.schema.Prepare(g.documents.Read(q.document), q.operation, q.variables)
	if len(errs) > 0 {
		return g.refuse(in, seq, errs)
	}
	var all graphqlAnswer
	var resp response
	requestID := ""
	for _, f := range req.Fields {
		if f.Binding < 0 {
			all.addData(f.Key, f.Typename())
			continue
		}
		if requestID != "" {
			seq = g.h.sim.Next()
		}
		r := g.bindings[f.Binding].request(in, f.Variables)
		shown, id := g.call(ctx, r.shown, r.call(seq, g.h.sim), func(out *sim.Outcome) sim.Raw {
			out.Warnings = append(out.Warnings, ignoredArguments(f)...)
			part := answerField(f, r, &out.Result)
			all.join(part)
			if e := out.Result.Error; e != nil && len(req.Fields) == 1 && isErrorsBody(e.Body) {
				resp.body = e.Body
				return e.Body
			}
			return part.body()
		})
		if resp.traceError == "" {
			resp.traceError = shown.traceError
		}
		if requestID == "" {
			requestID = id
		}
	}
	if requestID == "" {
		return g.local(in, seq, &sim.Result{OK: true, Output: append(append([]byte{'{'}, all.data...), '}')}, all.body())
	}
	if resp.body == nil {
		resp.body = all.body()
	}
	resp.status = 200
	return &resp, requestID
}

// ignoredArguments says which arguments below a root field changed nothing.
func ignoredArguments(f *graphql.Field) (warnings []string) {
	for _, name := range f.Ignored() {
		warnings = append(warnings, "GraphQL argument '"+name+"' was ignored: only arguments of root fields are known.")
	}
	return warnings
}

// answerField is a root field's part of the response: the value with its
// selection applied, or null and why.
func answerField(f *graphql.Field, r *graphqlRequest, result *sim.Result) *graphqlAnswer {
	a := &graphqlAnswer{}
	e := result.Error
	switch {
	case result.OK:
		value, errs := f.Select(nil, r.value(result))
		for _, e := range errs {
			a.addError(e.Append(nil))
		}
		a.addData(f.Key, value)
		return a
	case isErrorsBody(e.Body):
		errs, _ := canon.Lookup(e.Body, "errors")
		canon.Elements(errs, func(entry []byte) bool {
			a.addError(entry)
			return true
		})
		data, _ := canon.Lookup(e.Body, "data")
		if value, ok := canon.Lookup(data, f.Key); ok {
			a.addData(f.Key, value)
			return a
		}
	default:
		own := graphql.Error{Message: e.Message, Locations: []graphql.Location{f.Location}, Path: []any{f.Key}, Code: e.Vendor}
		a.addError(own.Append(nil))
	}
	a.addData(f.Key, []byte("null"))
	return a
}

// refuse answers a request that cannot be run: errors, and no data.
func (g *graphqlEndpoint) refuse(in *inbound, seq int, errs []*graphql.Error) (*response, string) {
	body := []byte(`{"errors":[`)
	for i, e := range errs {
		if i > 0 {
			body = append(body, ',')
		}
		body = e.Append(body)
	}
	body = append(body, "]}"...)
	code := errs[0].Code
	return g.local(in, seq, &sim.Result{Error: &sim.Error{
		Code: provider.Code(code), Message: errs[0].Message, Status: 200, Vendor: code, Body: body,
	}}, body)
}

// local answers a request without a call of an operation. It is numbered and
// traced all the same.
func (g *graphqlEndpoint) local(in *inbound, seq int, result *sim.Result, body sim.Raw) (*response, string) {
	out := &sim.Outcome{Seq: seq, RequestID: "r" + strconv.Itoa(seq), Result: *result}
	resp := &response{status: http.StatusOK, body: body}
	g.h.record(in, out, resp)
	return resp, out.RequestID
}
