package surface

import (
	"strings"
	"sync"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/route"
	"github.com/anvil-sim/anvil/sim"
)

// A plan is how one operation is read from and written to HTTP, worked out once.
type plan struct {
	op       *sim.Operation
	params   []paramPlan
	template []string        // parameter names in the path template's order
	headers  []string        // declared header parameters for the trace: as declared
	secrets  map[string]bool // header parameters that carry a credential, lower case
	query    map[string]bool // declared query parameters: whether they carry a credential
	body     bodyKind
	fields   map[string]int    // body fields by wire name (lower case when they match in any case)
	typings  map[string]typing // of form fields, by the same names
	odata    bool
	cursors  []string // query parameters that may carry the cursor; the first that a request has counts
	envelope envelope
	fixed    []fixedField // const and one-member enum fields of the declared response
}

// A planned is an operation whose plan is made when it is first called: most
// operations of a large contract never are, and their schemas need not be read.
type planned struct {
	op   *sim.Operation
	plan func() *plan
}

func newPlanned(op *sim.Operation, refs *air.Value) *planned {
	return &planned{op, sync.OnceValue(func() *plan { return newPlan(op, refs) })}
}

func newPlan(op *sim.Operation, refs *air.Value) *plan {
	p := &plan{op: op, secrets: map[string]bool{}, query: map[string]bool{}, odata: op.SourceKind == "odata" || hasODataKnob(op)}
	for _, d := range op.Params {
		p.params = append(p.params, newParamPlan(d, refs))
		switch {
		case d.In == "query":
			p.query[d.Name] = op.Secret(d)
		case d.In == "header" && !credentialHeader(d.Name):
			p.headers = append(p.headers, d.Name)
			p.secrets[strings.ToLower(d.Name)] = op.Secret(d)
		}
	}
	p.template = route.NewTemplate(op.Path).Names()
	p.cursors = p.cursorNames()
	p.declareQuery()
	if op.Body != nil {
		p.planBody(op.Body, refs)
	}
	p.envelope = newEnvelope(op)
	if op.Response().Get("properties") != nil || op.Response().Get("allOf") != nil {
		p.fixed = fixedFields(op.Response(), false)
	}
	return p
}

// declareQuery adds the names in a query that are declared, but are no parameters:
// of the pages, and the properties of an exploded object.
func (p *plan) declareQuery() {
	add := func(name string) {
		if _, ok := p.query[name]; !ok {
			p.query[name] = false
		}
	}
	if pages := p.op.Pagination; pages != nil {
		add(pages.CursorParam)
		add(pages.PageSizeParam)
	}
	for _, d := range p.params {
		if d.In == "query" && d.style == "form" && d.explode {
			for _, name := range d.typ.order {
				add(name)
			}
		}
	}
}

// What continues an OData collection: a token, which links carry, or a count.
const (
	skipToken = "$skiptoken"
	skipCount = "$skip"
)

// cursorNames lists the query parameters that may carry the cursor. An OData
// link's token covers a count beside it.
func (p *plan) cursorNames() (names []string) {
	if p.op.Pagination == nil {
		return nil
	}
	if p.odata {
		names = append(names, skipToken)
	}
	if name := p.op.Pagination.CursorParam; name != "" {
		names = append(names, name)
	}
	if p.odata {
		names = append(names, skipCount)
	}
	return names
}

// linkCursor is the query parameter that carries the cursor in a link, and one
// that the link drops.
func (p *plan) linkCursor() (name, without string) {
	name = p.op.Pagination.CursorParam
	if !p.odata {
		return name, ""
	}
	if name == "" || name == skipCount && p.envelope.nextURL {
		name = skipToken
	}
	return name, skipCount
}

// planBody keeps the declared fields by name, and how a form's fields are
// typed: by the field, in a whole body by the schema's property.
func (p *plan) planBody(b *air.Body, refs *air.Value) {
	p.body = bodyKindOf(b.ContentType)
	if p.op.Protocol() != air.HTTPJSON {
		p.body = jsonBody // a facade speaks JSON, whatever the native messages are
	}
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
		t := typingOf(f.Schema, refs)
		if f.Style == "deepObject" {
			t = typingTo(deepTyped, f.Schema, refs)
			t.deep = true
		}
		t.sep = fieldSeparator(f, t)
		p.typings[name(f.Name)] = t
	}
}

// hasODataKnob tells an OData collection by the system query options that its
// contract declares.
func hasODataKnob(op *sim.Operation) bool {
	for _, p := range op.Params {
		if p.In == "query" && (p.Name == "$top" || p.Name == skipCount || p.Name == skipToken) {
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
