package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// document builds the AIR document.
func (c *compiler) document(sources []*api.File, entry string) *api.Value {
	b := builder{}
	b.set("anvilVersion", "0.1.0")
	b.set("service", c.serviceValue(sources, entry))
	ops := make([]*api.Value, len(c.ops))
	for i, o := range c.ops {
		ops[i] = c.operationValue(o)
	}
	b.set("operations", ops)
	b.set("capabilities", c.capabilityValues())
	b.set("workflows", []*api.Value(nil))
	b.set("schemas", canon.NewObject(c.samples.Named(c.roots)...))
	var diags []*api.Value
	for _, d := range c.diags.List {
		diags = append(diags, diagnosticValue(d))
	}
	b.set("diagnostics", diags)
	return b.object()
}

func diagnosticValue(d api.Diagnostic) *api.Value {
	b := builder{}
	b.set("level", d.Level)
	b.set("code", d.Code)
	b.set("message", d.Message)
	if d.Operation != "" {
		b.set("operationId", d.Operation)
	}
	if d.Path != "" {
		b.set("path", d.Path)
	}
	return b.object()
}

// sourceHash is the hash of all files that were read: of the hashes and names in
// order, or the hash of the file when there is one.
func sourceHash(sources []*api.File) string {
	if len(sources) == 1 {
		return sources[0].Hash
	}
	h := sha256.New()
	for _, f := range sources {
		h.Write([]byte(f.Hash + "  " + f.Path + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c *compiler) serviceValue(sources []*api.File, entry string) *api.Value {
	hash := sourceHash(sources)
	b := builder{}
	b.set("id", c.service)
	version := c.desc.Version
	if version == "" {
		version = "0"
	}
	b.set("version", version)
	if c.desc.Title != "" {
		b.set("displayName", c.desc.Title)
	}
	s := builder{}
	s.set("kind", c.desc.Kind)
	s.set("uri", entry)
	s.set("snapshotId", "src-"+hash[:16])
	s.set("sourceHash", "sha256:"+hash)
	s.set("origin", object("kind", "filesystem", "uri", entry))
	s.set("entrypoint", entry)
	if p := c.opts.Profile.value(c); p != nil {
		s.set("profile", p)
	}
	b.set("source", s.object())
	b.set("auth", serviceAuth(c.ops))
	var servers []*api.Value
	for _, srv := range c.desc.Servers {
		v := builder{}
		v.set("url", srv.URL)
		if srv.Description != "" {
			v.set("description", srv.Description)
		}
		servers = append(servers, v.object())
	}
	b.set("servers", servers)
	b.set("records", air.RecordsDeclared)
	return b.object()
}

// sourceRef says where an operation stands in its description.
func (c *compiler) sourceRef(o *operation) *api.Value {
	ref := builder{}
	ref.set("kind", c.desc.Kind)
	ref.set("path", o.src.Path)
	ref.set("method", o.src.Method)
	if o.src.ID != "" {
		ref.set("operationId", o.src.ID)
	}
	ref.set("pointer", o.src.Pointer)
	return ref.object()
}

func (c *compiler) operationValue(o *operation) *api.Value {
	b := builder{}
	b.set("id", o.id)
	b.set("canonicalName", o.canonical)
	b.set("displayName", o.name)
	text := strings.TrimSpace(o.src.Description)
	if text == "" {
		text = strings.TrimSpace(o.src.Summary)
	}
	b.set("description", text)
	b.set("tags", o.src.Tags)
	b.set("sourceRef", c.sourceRef(o))
	b.set("effect", object("kind", o.effect.kind, "action", o.effect.action, "resource", o.effect.resource, "risk", o.effect.risk, "reversible", o.effect.reversible))
	in := builder{}
	params, keys := c.params(o)
	in.set("params", params)
	if body := c.bodyValue(o, keys); body != nil {
		in.set("body", body)
	}
	input := in.object()
	b.set("input", input)
	b.set("output", c.outputValue(o))
	if o.errors != nil {
		b.set("errors", o.errors)
	} else {
		b.set("errors", c.errors(o))
	}
	b.set("idempotency", o.idem.value())
	b.set("retries", retries(o))
	b.set("confirmation", confirmation(o))
	b.set("auth", o.auth)
	if p := o.paging; p != nil {
		b.set("pagination", p.value())
	}
	b.set("disclosureCost", disclosureCost(o, text, input, c.sizes))
	c.finishOperation(&b, o)
	return b.object()
}

func (c *compiler) finishOperation(b *builder, o *operation) {
	b.set("streaming", o.streaming)
	b.set("longRunning", o.longRunning)
	if o.async != nil {
		b.set("asyncContract", o.async.value())
	}
	if a := c.archetype(o); a != "" {
		b.set("archetype", a)
	}
	b.set("deprecated", o.src.Deprecated)
	command := []string{c.service}
	if o.capability != "" {
		command = append(command, strings.TrimPrefix(o.capability, c.service+"."))
	}
	command = append(command, strings.ReplaceAll(o.canonical, "_", "-"))
	b.set("cli", object("command", strings.Join(command, " "), "aliases", []string(nil)))
	b.set("mcp", object("toolName", o.tool))
	b.set("skill", object("intentExamples", []string(nil)))
	b.set("state", o.state)
	b.set("reviewNotes", o.notes)
	b.set("evidence", object("claims", c.claims(o)))
	if o.capability != "" {
		b.set("capabilityId", o.capability)
	}
}

// claims say where the decisions come from that safety hangs on.
func (c *compiler) claims(o *operation) []*api.Value {
	claim := func(predicate, val, source, method, confidence string) *api.Value {
		return object("subject", o.id, "predicate", predicate, "value", val, "source", source,
			"sourceRef", strings.ToUpper(o.src.Method)+" "+o.src.Path, "method", method, "confidence", canon.NewNumber(confidence))
	}
	list := []*api.Value{claim("effect.kind", o.effect.kind, sourceOf(o.effect.method), o.effect.method, o.effect.confidence)}
	if o.paging != nil {
		list = append(list, claim("pagination.style", o.paging.style, "inferred", "params_and_response", "0.8"))
	}
	if o.idem.key != "" {
		list = append(list, claim("idempotency.mode", o.idem.mode, "spec", "declared_carrier", "0.9"))
	}
	return list
}

func sourceOf(method string) string {
	if method == "manifest" {
		return "spec"
	}
	return "inferred"
}

func (p *paging) value() *api.Value {
	b := builder{}
	b.set("style", p.style)
	if p.cursor != "" {
		b.set("cursorParam", p.cursor)
	}
	if p.inBody {
		b.set("in", "body")
	}
	for _, f := range []struct{ key, val string }{
		{"nextField", p.next}, {"itemsField", p.items}, {"pagingField", p.block_}, {"pageSizeParam", p.size},
	} {
		if f.val != "" {
			b.set(f.key, f.val)
		}
	}
	if p.max > 0 {
		b.set("maxPageSize", p.max)
	}
	if p.def > 0 {
		b.set("defaultPageSize", p.def)
	}
	return b.object()
}

// capabilityValues lists the capabilities in the order of their first operation.
func (c *compiler) capabilityValues() []*api.Value {
	text, title := map[string]string{}, map[string]string{}
	for _, t := range c.desc.Tags {
		id := c.service + "." + air.SnakeCase(t.Name)
		text[id], title[id] = strings.TrimSpace(t.Description), t.Name
	}
	var order []string
	members := map[string][]*operation{}
	for _, o := range c.ops {
		if o.capability == "" {
			continue
		}
		if members[o.capability] == nil {
			order = append(order, o.capability)
			if title[o.capability] == "" && len(o.src.Tags) > 0 {
				title[o.capability] = o.src.Tags[0]
			}
		}
		members[o.capability] = append(members[o.capability], o)
	}
	var out []*api.Value
	for _, id := range order {
		var ids, resources []string
		for _, o := range members[id] {
			ids = append(ids, o.id)
			resources = appendNew(resources, o.effect.resource)
		}
		name := title[id]
		if name == "" {
			name = id
		}
		out = append(out, object("id", id, "displayName", name, "description", text[id], "source", "tag",
			"resources", resources, "operationIds", ids, "workflowIds", []string(nil), "intentExamples", []string(nil),
			"state", "generated", "lifecycle", "proposed"))
	}
	return out
}
