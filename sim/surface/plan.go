package surface

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/route"
	"github.com/anvil-sim/anvil/sim"
)

// A plan is how one operation is read from and written to HTTP, worked out once.
type plan struct {
	op       *sim.Operation
	params   []paramPlan
	template []string // parameter names in the path template's order
	headers  []string // declared header parameters for the trace: as declared
	secrets  map[string]bool
	body     bodyKind
	fields   map[string]int    // body fields by wire name (lower case when they match in any case)
	typings  map[string]typing // of form fields, by the same names
	odata    bool
	envelope envelope
	fixed    []fixedField // const and one-member enum fields of the declared response
}

func newPlan(op *sim.Operation, refs *air.Value) *plan {
	p := &plan{op: op, secrets: map[string]bool{}, odata: op.SourceKind == "odata" || hasODataKnob(op)}
	for _, d := range op.Params {
		p.params = append(p.params, newParamPlan(d, refs))
		if d.In == "header" && !credentialHeader(d.Name) {
			p.headers = append(p.headers, d.Name)
		}
	}
	p.template = route.NewTemplate(op.Path).Names()
	if c := op.Auth.Carrier; c != nil {
		p.secrets[strings.ToLower(c.Name)] = true
	}
	if op.Body != nil {
		p.planBody(op.Body, refs)
	}
	p.envelope = newEnvelope(op)
	if op.Response().Get("properties") != nil || op.Response().Get("allOf") != nil {
		p.fixed = fixedFields(op.Response(), false)
	}
	return p
}

// planBody keeps the declared fields by name, and how a form's fields are
// typed: by the field, in a whole body by the schema's property.
func (p *plan) planBody(b *air.Body, refs *air.Value) {
	p.body = bodyKindOf(b.ContentType)
	p.fields, p.typings = map[string]int{}, map[string]typing{}
	name := func(s string) string {
		if b.AnyCase {
			return strings.ToLower(s)
		}
		return s
	}
	for _, m := range air.Properties(resolve(b.Schema, refs)) {
		p.typings[name(m.Key)] = typingOf(m.Value, refs)
	}
	for i, f := range b.Fields {
		p.fields[name(f.Name)] = i
		p.typings[name(f.Name)] = typingOf(f.Schema, refs)
	}
}

// hasODataKnob tells an OData collection by the system query options that its
// contract declares.
func hasODataKnob(op *sim.Operation) bool {
	for _, p := range op.Params {
		if p.In == "query" && (p.Name == "$top" || p.Name == "$skip" || p.Name == "$skiptoken") {
			return true
		}
	}
	return false
}

// credentialHeader names the request headers that never reach a trace.
func credentialHeader(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "cookie", "set-cookie":
		return true
	}
	return false
}
