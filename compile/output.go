package compile

import (
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
)

// readOutput finds the success responses: exact statuses in order, headers, and
// the first JSON body with what it is an example of.
func (c *compiler) readOutput(o *operation) {
	var chosen *api.Response
	for i := range o.src.Responses {
		r := &o.src.Responses[i]
		status, err := strconv.Atoi(r.Status)
		exact := err == nil && status >= 200 && status <= 299
		if !exact && r.Status != "2XX" {
			continue
		}
		if exact {
			o.statuses = append(o.statuses, status)
		}
		for _, h := range r.Headers {
			if !hasFold(o.headers, h.Name) {
				o.headers = append(o.headers, h.Name)
			}
		}
		if chosen == nil || jsonContent(chosen) == nil && jsonContent(r) != nil {
			chosen = r
		}
	}
	if chosen == nil {
		chosen = c.noSuccess(o)
	}
	if chosen == nil {
		return
	}
	o.outputText = firstLine(chosen.Description)
	if content := jsonContent(chosen); content != nil {
		o.output, o.examples = c.oneShape(o, content.Schema), content.Examples
	} else if len(chosen.Contents) > 0 {
		c.note(o, api.Info, "response/not_json", "the response is %s; its body is not modelled", chosen.Contents[0].Type)
	}
	for _, content := range chosen.Contents {
		o.binary = o.binary || isFile(content)
		o.streaming = o.streaming || media.Type(content.Type) == "text/event-stream"
	}
}

// isFile reports whether a body is the bytes of a file.
func isFile(c api.Content) bool {
	switch kind, _, _ := strings.Cut(media.Type(c.Type), "/"); kind {
	case "image", "audio", "video", "font":
		return true
	}
	return media.Type(c.Type) == "application/octet-stream" || media.Type(c.Type) == "application/zip" || !isJSON(c.Type) && c.Schema.Get("format").Text() == "binary"
}

// oneShape takes the first of several shapes of a list: a list is served as one.
func (c *compiler) oneShape(o *operation, s *api.Value) *api.Value {
	full := c.schemas.deref(s)
	for _, key := range []string{"anyOf", "oneOf"} {
		list := full.Get(key).Elems()
		if len(list) == 0 || full.Get("type") != nil || full.Get("properties") != nil {
			continue
		}
		for _, branch := range list {
			if c.schemas.typ(branch) != "array" {
				return s
			}
		}
		if len(list) > 1 {
			c.note(o, api.Info, "response/choice", "the response is one of %d lists; the first is the one that is served", len(list))
		}
		return list[0]
	}
	return s
}

// noSuccess is the response of an operation that declares no 2xx: the default
// one, when all that it declares beside it are errors.
func (c *compiler) noSuccess(o *operation) *api.Response {
	for i := range o.src.Responses {
		if r := &o.src.Responses[i]; r.Status == "default" {
			c.note(o, api.Info, "response/default", "no success status is declared; the default response is taken for it")
			return r
		}
	}
	c.note(o, api.Warning, "response/no_success", "no success response is declared")
	return nil
}

func jsonContent(r *api.Response) *api.Content {
	for i := range r.Contents {
		if isJSON(r.Contents[i].Type) {
			return &r.Contents[i]
		}
	}
	return nil
}

func hasFold(list []string, s string) bool {
	for _, have := range list {
		if strings.EqualFold(have, s) {
			return true
		}
	}
	return false
}

// outputValue builds the output. A named body is referred to by its name; the
// named items of an array are written out once, since a reader of contracts
// follows names one step only.
func (c *compiler) outputValue(o *operation) *api.Value {
	b := builder{}
	if schema := c.withExample(o, c.outputSchema(o)); schema != nil {
		if name := refName(schema); name != "" {
			b.set("schemaRef", name)
			c.roots[name] = true
		} else {
			b.set("schema", c.samples.Root(schema))
		}
	}
	if o.outputText != "" {
		b.set("description", o.outputText)
	}
	if len(o.statuses) > 0 {
		b.set("successStatuses", intList(o.statuses))
	}
	if len(o.headers) > 0 {
		b.set("headers", o.headers)
	}
	return b.object()
}

func intList(list []int) *api.Value {
	elems := make([]*api.Value, len(list))
	for i, n := range list {
		elems[i] = canon.NewInt(int64(n))
	}
	return canon.NewArray(elems...)
}

func (c *compiler) outputSchema(o *operation) *api.Value {
	s := o.output
	if !s.Is(canon.Object) || len(s.Members()) == 0 {
		return c.shown(o)
	}
	items := s.Get("items")
	if items != nil && s.Get("type") == nil {
		s = s.With("type", canon.NewString("array"))
	}
	if name := refName(items); name != "" && c.schemas[name].Is(canon.Object) {
		return s.With("items", c.schemas[name])
	}
	if o.paging != nil || o.effect.action == "list" {
		return c.withItems(o, s)
	}
	return s
}

// withItems writes the named items of an envelope out.
func (c *compiler) withItems(o *operation, s *api.Value) *api.Value {
	path, _ := c.pageItems(o)
	full := c.schemas.deref(s)
	field := c.schemas.deref(full.Get("properties").Get(path))
	item := refName(field.Get("items"))
	if item == "" || !c.schemas[item].Is(canon.Object) {
		return s
	}
	if out, ok := c.envelopes[full]; ok {
		return out
	}
	field = field.With("items", c.schemas[item])
	out := full.With("properties", full.Get("properties").With(path, field))
	c.envelopes[full] = out
	return out
}
