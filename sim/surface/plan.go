package surface

import (
	"mime"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// A plan is how one operation is read from and written to HTTP, worked out once.
type plan struct {
	op       *sim.Operation
	params   []paramPlan
	template []string // parameter names in the path template's order
	headers  []string // declared header parameters for the trace: as declared
	secrets  map[string]bool
	json     bool           // the declared body is JSON
	fields   map[string]int // body fields by wire name (lower case when they match in any case)
	odata    bool
	envelope envelope
	fixed    []fixedField // const and one-member enum fields of the declared response
}

type paramPlan struct {
	*air.Param
	typ typing
}

func newPlan(op *sim.Operation) *plan {
	p := &plan{op: op, secrets: map[string]bool{}, odata: op.SourceKind == "odata" || hasODataKnob(op)}
	for _, d := range op.Params {
		p.params = append(p.params, paramPlan{d, typingOf(d.Schema)})
		if d.In == "header" && !credentialHeader(d.Name) {
			p.headers = append(p.headers, d.Name)
		}
	}
	for _, s := range splitPath(op.Path) {
		p.template = append(p.template, newSegment(s).names...)
	}
	if c := op.Auth.Carrier; c != nil {
		p.secrets[strings.ToLower(c.Name)] = true
	}
	if b := op.Body; b != nil {
		p.json = isJSON(b.ContentType)
		p.fields = map[string]int{}
		for i, f := range b.Fields {
			name := f.Name
			if b.AnyCase {
				name = strings.ToLower(name)
			}
			p.fields[name] = i
		}
	}
	p.envelope = newEnvelope(op)
	if op.Response().Get("properties") != nil || op.Response().Get("allOf") != nil {
		p.fixed = fixedFields(op.Response(), false)
	}
	return p
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

// isJSON reports whether a content type is JSON: application/json or +json.
func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t = strings.ToLower(strings.TrimSpace(strings.Split(contentType, ";")[0]))
	}
	return t == "application/json" || strings.HasSuffix(t, "+json") || t == "text/json"
}

// A typing says how the text of a parameter becomes JSON.
type typing struct {
	kind string // integer, number, boolean, array or string
	elem string // kind of an array's elements
}

func typingOf(schema *air.Value) typing {
	t := typing{kind: typeName(schema)}
	if t.kind == "array" {
		t.elem = typeName(schema.Get("items"))
	}
	return t
}

// typeName is the declared type; of a list, the first that is not null.
func typeName(schema *air.Value) string {
	t := schema.Get("type")
	if t.Is(canon.Array) {
		for _, e := range t.Elems() {
			if e.Text() != "null" {
				return e.Text()
			}
		}
		return ""
	}
	return t.Text()
}

// value types the texts of one parameter: several are what was sent several
// times.
func (t typing) value(texts []string) sim.Raw {
	if t.kind != "array" {
		return scalar(t.kind, texts[len(texts)-1])
	}
	if len(texts) == 1 {
		texts = strings.Split(texts[0], ",")
	}
	dst := []byte{'['}
	for i, s := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, scalar(t.elem, s)...)
	}
	return append(dst, ']')
}

func scalar(kind, text string) sim.Raw {
	switch kind {
	case "integer", "number":
		if num, ok := sim.NumberText(text); ok {
			return sim.Raw(num)
		}
	case "boolean":
		if text == "true" || text == "false" {
			return sim.Raw(text)
		}
	}
	return canon.AppendString(nil, text)
}
