package openapi

import (
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// swaggerServers are the addresses that schemes, host and basePath make.
func (r *reader) swaggerServers() []api.Server {
	host, base := r.root.text("host"), strings.TrimSuffix(r.root.text("basePath"), "/")
	if host == "" {
		if base == "" {
			return nil
		}
		return []api.Server{{URL: base}}
	}
	var out []api.Server
	for _, s := range r.root.v.Get("schemes").Elems() {
		if t := s.Text(); t == "http" || t == "https" {
			out = append(out, api.Server{URL: t + "://" + host + base})
		}
	}
	if out == nil {
		out = []api.Server{{URL: "https://" + host + base}}
	}
	return out
}

// inlineSchema is the schema that a Swagger parameter, its items or a header
// spells out among its own keys.
func (r *reader) inlineSchema(n node) *api.Value {
	var members []canon.Member
	for _, m := range n.v.Members() {
		switch m.Key {
		case "type", "format", "enum", "default", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength",
			"minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "x-nullable", "x-example":
			if m.Key == "type" && m.Value.Text() == "file" {
				members = append(members, canon.Member{Key: "type", Value: canon.NewString("string")},
					canon.Member{Key: "format", Value: canon.NewString("binary")})
				continue
			}
			if m.Key == "x-example" {
				m.Key = "example"
			}
			members = append(members, m)
		case "items":
			members = append(members, canon.Member{Key: "items", Value: r.inlineSchema(n.get("items"))})
		}
	}
	members, _ = normalise(members)
	return canon.NewObject(members...)
}

func (r *reader) swaggerParam(p *api.Param, n node) {
	p.Schema = r.inlineSchema(n)
	if s := n.get("schema"); s.v != nil { // not allowed outside body, but seen
		p.Schema = r.schemas.schema(s)
	}
	style := r.collectionStyle(n)
	if p.Style, p.Explode = style.Style, style.Explode; style.Style == "form" && (p.In == "path" || p.In == "header") {
		p.Style = "simple"
	}
}

// collectionStyle is what a collectionFormat is called in OpenAPI 3, nothing
// without one.
func (r *reader) collectionStyle(n node) api.FieldStyle {
	explode := false
	switch n.text("collectionFormat") {
	case "csv":
		return api.FieldStyle{Style: "form", Explode: &explode}
	case "ssv":
		return api.FieldStyle{Style: "spaceDelimited", Explode: &explode}
	case "pipes":
		return api.FieldStyle{Style: "pipeDelimited", Explode: &explode}
	case "multi":
		explode = true
		return api.FieldStyle{Style: "form", Explode: &explode}
	case "tsv":
		r.diags.Addf(api.Warning, "param/style", n.place(), "the parameter %q separates its values by tabs, which is not served", n.text("name"))
	}
	return api.FieldStyle{}
}

// swaggerBody turns body and formData parameters into a body.
func (r *reader) swaggerBody(op *api.Operation, n, shared node) {
	var fields, required []canon.Member
	styles := map[string]api.FieldStyle{}
	files := false
	for _, list := range []node{shared, n.get("parameters")} {
		for i := range list.v.Elems() {
			p, ok := r.resolve(list.elem(i))
			if !ok {
				continue
			}
			switch p.text("in") {
			case "body":
				op.BodyNeeded, op.BodyText = p.v.Get("required").True(), p.text("description")
				op.Bodies = nil
				for _, t := range r.types(n, "consumes", "application/json") {
					op.Bodies = append(op.Bodies, api.Content{Type: t, Schema: r.schemas.schema(p.get("schema"))})
				}
			case "formData":
				s := r.inlineSchema(p)
				if d := p.v.Get("description"); d.Is(canon.String) {
					s = s.With("description", d)
				}
				files = files || p.text("type") == "file"
				fields = append(fields, canon.Member{Key: p.text("name"), Value: s})
				if style := r.collectionStyle(p); style.Style != "" {
					styles[p.text("name")] = style
				} else if p.text("type") == "array" && p.v.Get("collectionFormat") == nil {
					csv := false // the default
					styles[p.text("name")] = api.FieldStyle{Style: "form", Explode: &csv}
				}
				if p.v.Get("required").True() {
					required = append(required, canon.Member{Key: p.text("name"), Value: s})
				}
			}
		}
	}
	if len(fields) > 0 && op.Bodies == nil {
		r.swaggerForm(op, n, fields, required, files)
		op.Bodies[0].Styles = styles
	}
}

func (r *reader) swaggerForm(op *api.Operation, n node, fields, required []canon.Member, files bool) {
	members := []canon.Member{
		{Key: "type", Value: canon.NewString("object")},
		{Key: "properties", Value: canon.NewObject(fields...)},
	}
	if len(required) > 0 {
		var names []*api.Value
		for _, m := range required {
			names = append(names, canon.NewString(m.Key))
		}
		members = append(members, canon.Member{Key: "required", Value: canon.NewArray(names...)})
	}
	op.BodyNeeded = len(required) > 0
	media := ""
	for _, t := range r.types(n, "consumes", "") {
		if t == "multipart/form-data" || t == "application/x-www-form-urlencoded" && !files {
			media = t
			break
		}
	}
	switch {
	case media != "":
	case files:
		media = "multipart/form-data"
	default:
		media = "application/x-www-form-urlencoded"
	}
	op.Bodies = []api.Content{{Type: media, Schema: canon.NewObject(members...)}}
}

// types are the content types of an operation, else of the document, else the
// one that is usual.
func (r *reader) types(op node, key, usual string) []string {
	list := op.v.Get(key)
	if !list.Is(canon.Array) {
		list = r.root.v.Get(key)
	}
	var out []string
	for _, t := range list.Elems() {
		if t.Is(canon.String) && t.Text() != "" {
			out = append(out, t.Text())
		}
	}
	if len(out) == 0 && usual != "" {
		return []string{usual}
	}
	return out
}

func (r *reader) swaggerContents(resp, op node) []api.Content {
	schema := r.schemas.schema(resp.get("schema"))
	examples := resp.v.Get("examples")
	if schema == nil && len(examples.Members()) == 0 {
		return nil
	}
	if schema.Get("type").Text() == "file" {
		schema = canon.NewObject(canon.Member{Key: "type", Value: canon.NewString("string")}, canon.Member{Key: "format", Value: canon.NewString("binary")})
	}
	var out []api.Content
	for _, t := range r.types(op, "produces", "application/json") {
		c := api.Content{Type: t, Schema: schema}
		if e := examples.Get(t); e != nil {
			c.Examples = []*api.Value{e}
		}
		out = append(out, c)
	}
	return out
}

// swaggerScheme turns a Swagger security definition into one of OpenAPI 3.
func swaggerScheme(s *api.Scheme, n node) {
	switch s.Type {
	case "basic":
		s.Type, s.HTTP = "http", "basic"
	case "oauth2":
		kind := map[string]string{
			"application": "clientCredentials", "accessCode": "authorizationCode", "implicit": "implicit", "password": "password",
		}[n.text("flow")]
		s.Flows = []api.Flow{flow(kind, n.v)}
	}
}
