package compile

import (
	"cmp"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
)

// inputHops is how many named schemas deep an input schema is written out.
const inputHops = 2

// chooseBody picks the content type that the simulator reads: JSON, then forms,
// then the first.
func (c *compiler) chooseBody(o *operation) {
	var best *api.Content
	for i := range o.src.Bodies {
		b := &o.src.Bodies[i]
		if best == nil || bodyRank(b.Type) < bodyRank(best.Type) {
			best = b
		}
	}
	if len(o.src.Bodies) > 1 {
		c.note(o, api.Info, "body/alternatives", "%d content types are declared; %s is the one that is read", len(o.src.Bodies), best.Type)
	}
	o.body = best
}

func bodyRank(t string) int {
	switch t = media.Type(t); {
	case t == "application/json":
		return 0
	case strings.HasSuffix(t, "+json"):
		return 1
	case t == "application/x-www-form-urlencoded":
		return 2
	case t == "multipart/form-data":
		return 3
	}
	return 4
}

// isJSON also takes a content type that says nothing.
func isJSON(t string) bool {
	t = media.Type(t)
	return t == "*/*" || media.JSON(t)
}

// params builds the parameters. A parameter of the path's template that is not
// declared is made up; one that is declared but not in the template is dropped.
func (c *compiler) params(o *operation) (list []*api.Value, keys map[string]bool) {
	keys = map[string]bool{}
	inPath := map[string]bool{}
	for _, name := range templateNames(o.src.Path) {
		inPath[name] = true
	}
	for _, p := range o.src.Params {
		if p.In == "path" && !inPath[p.Name] {
			c.note(o, api.Warning, "param/not_in_path", "the path parameter %q is not in the path and is left out", p.Name)
			continue
		}
		delete(inPath, pathKey(p))
		keys[air.SnakeCase(p.Name)] = true
		list = append(list, c.param(o, p))
	}
	for _, name := range templateNames(o.src.Path) {
		if inPath[name] {
			delete(inPath, name)
			c.note(o, api.Warning, "param/undeclared", "the path parameter %q is not declared; it is taken as a string", name)
			keys[air.SnakeCase(name)] = true
			list = append(list, object("name", name, "in", "path", "required", true, "schema", object("type", "string"), "inferred", true))
		}
	}
	return list, keys
}

func pathKey(p api.Param) string {
	if p.In == "path" {
		return p.Name
	}
	return "\x00"
}

// templateNames are the names in braces of a path, in order.
func templateNames(path string) []string {
	var names []string
	for {
		_, rest, ok := strings.Cut(path, "{")
		if !ok {
			return names
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return names
		}
		names, path = append(names, name), after
	}
}

func (c *compiler) param(o *operation, p api.Param) *api.Value {
	b := builder{}
	b.set("name", p.Name)
	b.set("in", p.In)
	b.set("required", p.Required)
	schema := c.expander.expand(p.Schema, inputHops)
	if schema == nil || !schema.Is(canon.Object) || len(schema.Members()) == 0 {
		schema = object("type", "string")
	}
	schema = c.plain(schema)
	b.set("schema", schema)
	if p.Description != "" {
		b.set("description", p.Description)
	}
	if p.Example != nil && schema.Get("example") == nil {
		b.set("example", p.Example)
	}
	b.set("inferred", false)
	switch p.Style {
	case "form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject":
		b.set("style", p.Style)
	case "":
		if p.Explode == nil && isObject(schema) {
			b.set("style", defaultStyle(p.In))
		}
	default:
		c.note(o, api.Warning, "param/style", "the style %q of the parameter %q is not served; it is read as plain text", p.Style, p.Name)
	}
	if p.Explode != nil {
		b.set("explode", *p.Explode)
	}
	return b.object()
}

// defaultStyle is OpenAPI's style for a location. It is written out for objects
// alone: a contract that names neither style nor explode has arrays read both
// ways, and objects not at all.
func defaultStyle(in string) string {
	if in == "query" || in == "cookie" {
		return "form"
	}
	return "simple"
}

// isObject reports whether a parameter's values are objects, or null.
func isObject(schema *api.Value) bool {
	t := schema.Get("type")
	if t.Text() == "object" {
		return true
	}
	for _, e := range t.Elems() {
		if e.Text() != "null" {
			return e.Text() == "object"
		}
	}
	return false
}

// plain takes the schema of a parameter or field out of an allOf that only wraps
// it, since its type says how text is read.
func (c *compiler) plain(s *api.Value) *api.Value {
	if s.Get("type") == nil {
		if all := s.Get("allOf").Elems(); len(all) == 1 && all[0].Get("type") != nil {
			merged := all[0]
			for _, m := range s.Members() {
				if m.Key != "allOf" {
					merged = merged.With(m.Key, m.Value)
				}
			}
			return merged
		}
	}
	return s
}

// bodyValue builds the request body. An object with declared properties is
// projected field by field; what is open, or a choice of shapes, is kept whole.
func (c *compiler) bodyValue(o *operation, keys map[string]bool) *api.Value {
	if o.body == nil {
		return nil
	}
	b := builder{}
	b.set("contentType", media.Type(o.body.Type))
	b.set("required", o.src.BodyNeeded)
	schema := c.expander.expand(o.body.Schema, inputHops+1)
	if schema == nil || !schema.Is(canon.Object) {
		schema = canon.NewObject()
	}
	b.set("schema", schema)
	var fields []*api.Value
	if o.projection != "whole" {
		fields = c.fields(o, schema, keys)
	}
	if fields == nil {
		b.set("projection", "whole")
	} else {
		b.set("projection", "fields")
		b.set("fields", fields)
		if o.odataAction() {
			b.set("fieldNameMatch", "case_insensitive")
		}
	}
	return b.object()
}

// odataAction tells an OData action of Microsoft's converter, whose body fields
// the service binds in any letter case.
func (o *operation) odataAction() bool {
	for _, m := range o.src.Extensions {
		if m.Key == "x-ms-docs-operation-type" {
			return m.Value.Text() == "action"
		}
	}
	return false
}

func (c *compiler) fields(o *operation, schema *api.Value, keys map[string]bool) []*api.Value {
	form := bodyRank(o.body.Type) == 2 || bodyRank(o.body.Type) == 3
	if bodyRank(o.body.Type) > 3 {
		return nil
	}
	open := schema.Get("additionalProperties")
	if t := c.schemas.typ(schema); t != "object" && t != "" ||
		schema.Get("oneOf") != nil || schema.Get("anyOf") != nil || (open.True() || open.Is(canon.Object)) && !form {
		return nil
	}
	props := c.schemas.properties(schema)
	if len(props) == 0 {
		return nil
	}
	required := c.schemas.required(schema)
	own := map[string]bool{}
	var list []*api.Value
	for _, m := range props {
		key := air.SnakeCase(m.Key)
		if key == "" || own[key] {
			return nil // two fields would share one input
		}
		own[key] = true
		f := builder{}
		f.set("name", m.Key)
		if keys[key] {
			f.set("agentName", "body_"+key)
			c.note(o, api.Info, "input/renamed", "the body field %q and a parameter share a name; the field is body_%s to agents", m.Key, key)
		}
		s := m.Value
		if !s.Is(canon.Object) {
			s = canon.NewObject()
		}
		f.set("required", required[m.Key] && !s.Get("readOnly").True())
		f.set("schema", c.plain(s))
		if bodyRank(o.body.Type) == 2 {
			spellField(&f, o.body.Styles[m.Key])
		}
		list = append(list, f.object())
	}
	return list
}

// spellField writes down how a form spells a field, where that is not by its bare
// name, again for each value.
func spellField(f *builder, s api.FieldStyle) {
	switch {
	case s.Style == "deepObject":
		f.set("style", s.Style)
	case s.Delimited():
		f.set("style", cmp.Or(s.Style, "form"))
		f.set("explode", false)
	}
}
