package surface

import (
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// A graphqlRequest is a GraphQL request as one operation sees it.
type graphqlRequest struct {
	shown     *inbound // as the client sent it, for the trace
	decoded   *inbound // with the variables in the place of the body
	variables sim.Raw  // an object, or nil
}

// request puts a GraphQL request to an operation. Its inputs, its cursor and,
// unless a header carries it, its idempotency key are top-level variables.
func (b *binding) request(in *inbound, variables sim.Raw) *graphqlRequest {
	if len(variables) > 0 && variables[0] != '{' {
		variables = nil
	}
	shown := *in
	shown.plan = b.plan
	decoded := shown
	decoded.json = variables
	decoded.target.query = nil
	if p := b.plan.op.Pagination; p != nil && p.CursorParam != "" {
		if text := sim.CursorText(variable(variables, p.CursorParam)); text != nil {
			decoded.target.query = []queryPair{{name: p.CursorParam, values: []string{*text}}}
		}
	}
	return &graphqlRequest{shown: &shown, decoded: &decoded, variables: variables}
}

func variable(variables sim.Raw, name string) sim.Raw {
	val, _ := canon.Lookup(variables, name)
	return val
}

// call reads the inputs of the call.
func (r *graphqlRequest) call(seq int, s *sim.Simulator) *sim.Call {
	c := r.decoded.call(seq, s)
	p := r.decoded.plan
	c.Op = p.op
	r.decoded.readParams(c, nil)
	for _, d := range p.op.Params {
		if d.In != "query" && d.In != "path" {
			continue
		}
		if val := variable(r.variables, d.Name); val != nil {
			c.Input.Set(d.Key, val)
		}
	}
	if p.op.Body != nil {
		r.decoded.takeBody(c)
	}
	c.IdempotencyKey = r.key(c)
	if p := p.op.Pagination; p != nil {
		c.Cursor = sim.CursorText(variable(r.variables, p.CursorParam))
		c.PageSize = sim.PageSizeOf(variable(r.variables, p.PageSizeParam))
	}
	return c
}

func (r *graphqlRequest) key(c *sim.Call) string {
	if k := c.Op.Carrier; k != nil && (k.In == "query" || k.In == "path") {
		return sim.KeyText(variable(r.variables, k.Name))
	}
	return r.decoded.key(c, nil)
}

// value is what a success puts under the root field: a page in its envelope, or
// the result as it is. Fixed fields are not filled in here.
func (r *graphqlRequest) value(result *sim.Result) sim.Raw {
	if result.Page == nil {
		return result.Output
	}
	body, _ := r.decoded.plan.envelope.wrap(r.decoded, result)
	return body
}

func dataBody(key string, value sim.Raw) sim.Raw {
	dst := append(make([]byte, 0, len(value)+len(key)+16), `{"data":{`...)
	dst = append(canon.AppendString(dst, key), ':')
	return append(append(dst, value...), "}}"...)
}

// errorsBody is the envelope of a failure: the state's own when it is one, else
// the message with the code that the API's clients know.
func errorsBody(e *sim.Error) sim.Raw {
	if e == nil {
		return nil
	}
	if isErrorsBody(e.Body) {
		return e.Body
	}
	dst := canon.AppendString([]byte(`{"errors":[{"message":`), e.Message)
	dst = canon.AppendString(append(dst, `,"extensions":{"code":`...), e.Vendor)
	return append(dst, `}}],"data":null}`...)
}

// isErrorsBody reports whether an error body is a GraphQL response: an object
// with a list of errors.
func isErrorsBody(body sim.Raw) bool {
	errs, _ := canon.Lookup(body, "errors")
	return len(errs) > 0 && errs[0] == '['
}
