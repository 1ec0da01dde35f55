package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// Sizes of a page of the derived contract.
const (
	defaultPage = 50
	maxPage     = 1000
)

// A derivation is the contract that the tables themselves make, and what each
// of its operations does.
type derivation struct {
	document *canon.Value
	targets  map[string]*target // by operation id
	renamed  []string           // tables whose names cannot stand in a path, each with its path
}

// derive makes the contract, of the tables as the map shows them. Operations come
// table by table in name order, so equal schemas and maps give equal bytes.
func derive(service string, s *schema, all *rules) (*derivation, error) {
	d := &derivation{targets: map[string]*target{}}
	var ops, capabilities []*canon.Value
	var schemas []canon.Member
	slugs, literals, names := newNamer("table"), newNamer("table"), newNamer("Row")
	for _, t := range s.tables {
		r := &resource{d: d, service: service, db: s, table: t, rules: all.of(t),
			slug: slugs.unique(cut(slug(t.name), 40)), schema: names.unique(schemaName(t.name))}
		r.path = "/" + literals.unique(pathLiteral(t.name))
		if pathLiteral(t.name) == "" {
			d.renamed = append(d.renamed, fmt.Sprintf("%q is served at %s", t.name, r.path))
		}
		r.params()
		ops = append(ops, r.operations()...)
		schemas = append(schemas, canon.Member{Key: r.schema, Value: r.rowSchema()})
		capabilities = append(capabilities, r.capability())
	}
	d.document = obj(
		"anvilVersion", "0.1.0",
		"service", obj("id", service, "version", "1.0.0", "displayName", service,
			"source", obj("kind", "openapi"), "auth", noAuth()),
		"operations", ops,
		"capabilities", capabilities,
		"schemas", canon.NewObject(schemas...))
	return d, nil
}

// operations are those of the contract.
func (d *derivation) operations() (list []provider.Operation) {
	for _, id := range slices.Sorted(maps.Keys(d.targets)) {
		method, path, _ := strings.Cut(d.targets[id].name, " ")
		list = append(list, provider.Operation{OperationID: id, Method: method, PathTemplate: path})
	}
	return list
}

// tellRenamed says where the tables are that have no name of their own there.
func (d *derivation) tellRenamed(warn func(format string, args ...any)) {
	for _, text := range d.renamed {
		warn("fixture: no path can hold the table's name: %s", text)
	}
}

// A resource is one table as the contract shows it.
type resource struct {
	d       *derivation
	service string
	db      *schema
	table   *table
	rules   *tableRules // of the map, nil without any
	slug    string      // in ids and tool names
	schema  string      // the row's name in schemas
	path    string      // of the list
	item    string      // of one row
	keys    []param
	filters []param
	limit   string
	cursor  string
	sort    string
	search  string   // free text
	odata   []string // OData's options, as odataOptions has them
	ids     []string // of the operations made so far
}

// A param is a parameter with the column that it is about.
type param struct {
	name  string // on the wire
	agent string // agentName where the name gives no key of its own, else ""
	col   *column
}

// params names the parameters. The wire name is the column's; agent keys must
// differ from one another and from the inputs that every operation may have.
func (r *resource) params() {
	keys, agents := newNamer("key"), newNamer("column", "body", "confirm", "idempotency_key")
	r.item = r.path
	for _, c := range r.keyColumns() {
		p := param{name: keys.unique(paramName(r.rules.nameOf(c))), col: c}
		p.agent = agentName(agents, p.name)
		r.keys = append(r.keys, p)
		r.item += "/{" + p.name + "}"
	}
	taken := []string{"body", "confirm", "idempotency_key"}
	for _, o := range odataOptions() {
		taken = append(taken, odataAgent(o.name))
	}
	wires, agents := newNamer("column"), newNamer("column", taken...)
	for _, c := range r.table.cols {
		if c.class == classBlob || c.class == classJSON || c.name == "" || !r.shows(c) {
			continue
		}
		p := param{name: wires.unique(r.rules.nameOf(c)), col: c}
		p.agent = agentName(agents, p.name)
		r.filters = append(r.filters, p)
	}
	r.limit = control(wires, agents, "limit", "page_size")
	r.cursor = control(wires, agents, "cursor", "page_cursor")
	r.sort = control(wires, agents, "sort", "order_by")
	r.search = control(wires, agents, "q", "search")
	for _, o := range odataOptions() {
		r.odata = append(r.odata, control(wires, agents, o.name, o.name))
	}
}

// An odataOption is one of OData's query options that lists take.
type odataOption struct{ name, typ, description string }

func odataOptions() []odataOption {
	return []odataOption{
		{"$filter", "string", "An OData filter, as in UnitPrice gt 1 and contains(Name,'live')."},
		{"$orderby", "string", "Columns to sort by in OData's way, as in Name desc,UnitPrice."},
		{"$select", "string", "The columns that rows show, as in Name,UnitPrice; all without it."},
		{"$count", "boolean", "Whether OData's clients want the number of rows: total always has it."},
		{"$search", "string", "Words that a row must have, anywhere, in OData's way."},
	}
}

// control names a paging parameter: as usual, unless a column has that name.
func control(wires, agents *namer, name, instead string) string {
	if wires.taken(name) || agents.taken(air.SnakeCase(name)) {
		name = instead
	}
	name = wires.unique(name)
	agents.unique(air.SnakeCase(name))
	return name
}

func agentName(agents *namer, wire string) string {
	key := air.SnakeCase(wire)
	got := agents.unique(key)
	if got == key {
		return ""
	}
	return got
}

func (r *resource) operations() []*canon.Value {
	ops := []*canon.Value{r.list()}
	if len(r.keys) == 0 || r.table.view {
		return ops
	}
	ops = append(ops, r.get())
	if r.table.writable() {
		ops = append(ops, r.create(), r.patch(), r.replace(), r.delete())
	}
	return ops
}

func (r *resource) capability() *canon.Value {
	return obj("id", r.service+"."+r.slug, "displayName", r.table.name, "source", "resource",
		"resources", []string{r.slug}, "operationIds", r.ids, "state", "approved", "lifecycle", "approved")
}

// An action is what differs between the operations of a resource.
type action struct {
	verb                  verb
	name, method, path    string
	description           string
	params                []*canon.Value
	body, output, paging  *canon.Value
	status                int
	errors                []string
	risk, idempotency     string
	reversible, keyHeader bool
}

func (r *resource) list() *canon.Value {
	var params []*canon.Value
	query := map[string]*column{}
	for _, p := range r.filters {
		query[p.name] = p.col
		params = append(params, p.filter())
	}
	params = append(params,
		obj("name", r.sort, "in", "query", "schema", obj("type", "string"), "description", "Columns to sort by, as in name,-id; a minus turns the order around."),
		obj("name", r.search, "in", "query", "schema", obj("type", "string"), "description", "Words that a row must have, anywhere."),
	)
	params = append(params, r.odataParams()...)
	params = append(params,
		obj("name", r.limit, "in", "query", "schema", obj("type", "integer", "minimum", 1, "maximum", maxPage, "default", defaultPage),
			"description", "The most rows of a page."),
		obj("name", r.cursor, "in", "query", "schema", obj("type", "string"), "description", "Where the next page begins: next_cursor of the page before."))
	op := r.operation(action{verb: listRows, name: "list", method: "get", path: r.path, status: 200,
		description: "Lists the rows of " + r.table.name + ". A filter given more than once matches any of its values.",
		params:      params, output: r.pageSchema(), errors: []string{"validation_error"}, risk: "none", idempotency: "natural", reversible: true,
		paging: obj("style", "cursor", "cursorParam", r.cursor, "nextField", "next_cursor", "itemsField", "items",
			"pageSizeParam", r.limit, "maxPageSize", maxPage, "defaultPageSize", defaultPage)})
	g := r.d.targets[r.ids[len(r.ids)-1]]
	g.derived, g.paging = query, map[string]bool{r.limit: true, r.cursor: true}
	return op
}

// odataParams declare what OData's clients ask by. Where a column has a name's key,
// the option has another one for agents.
func (r *resource) odataParams() (out []*canon.Value) {
	for i, o := range odataOptions() {
		name := r.odata[i]
		out = append(out, obj("name", name, "agentName", odataAgent(name), "in", "query", "schema", obj("type", o.typ), "description", o.description))
	}
	return out
}

func isODataOption(name string) bool {
	return strings.HasPrefix(name, "$") && slices.ContainsFunc(odataOptions(), func(o odataOption) bool { return o.name == name })
}

func odataAgent(name string) string { return "odata_" + air.SnakeCase(name) }

func (r *resource) get() *canon.Value {
	return r.operation(action{verb: getRow, name: "get", method: "get", path: r.item, params: r.keyParams(), output: r.ref(), status: 200,
		description: "Reads one row of " + r.table.name + ".", errors: []string{"validation_error", "not_found"},
		risk: "none", idempotency: "natural", reversible: true})
}

func (r *resource) create() *canon.Value {
	return r.operation(action{verb: createRow, name: "create", method: "post", path: r.path, body: r.body(createRow), output: r.ref(), status: 201,
		description: "Creates a row of " + r.table.name + ".", errors: []string{"validation_error", "conflict"},
		risk: "low", idempotency: "key_supported", reversible: true, keyHeader: true})
}

func (r *resource) patch() *canon.Value {
	return r.operation(action{verb: patchRow, name: "update", method: "patch", path: r.item, params: r.keyParams(), body: r.body(patchRow), output: r.ref(), status: 200,
		description: "Changes the given columns of a row of " + r.table.name + ".", errors: []string{"validation_error", "not_found", "conflict"},
		risk: "low", idempotency: "natural", reversible: true})
}

func (r *resource) replace() *canon.Value {
	return r.operation(action{verb: replaceRow, name: "replace", method: "put", path: r.item, params: r.keyParams(), body: r.body(replaceRow), output: r.ref(), status: 200,
		description: "Replaces a row of " + r.table.name + ": columns not given get their default.", errors: []string{"validation_error", "not_found", "conflict"},
		risk: "medium", idempotency: "natural", reversible: true})
}

func (r *resource) delete() *canon.Value {
	return r.operation(action{verb: deleteRow, name: "delete", method: "delete", path: r.item, params: r.keyParams(), status: 204,
		description: "Deletes a row of " + r.table.name + ".", errors: []string{"validation_error", "not_found", "conflict"},
		risk: "medium", idempotency: "natural"})
}

// operation writes one operation of the contract and remembers its target.
func (r *resource) operation(a action) *canon.Value {
	id := r.service + "." + r.slug + "." + a.name
	method := strings.ToUpper(a.method)
	g := &target{name: method + " " + a.path, table: r.table, rules: r.rules, verb: a.verb, derived: map[string]*column{}, paging: map[string]bool{}}
	if a.verb != listRows && a.verb != createRow {
		for _, k := range r.keys {
			g.key = append(g.key, binding{param: k.name, col: k.col})
		}
	}
	if r.rules != nil {
		g.check()
	}
	r.d.targets[id] = g
	r.ids = append(r.ids, id)
	kind, retries := "mutation", obj("mode", "none")
	if a.verb == listRows || a.verb == getRow {
		kind, retries = "read", obj("mode", "safe", "basis", "read_safe")
	}
	if a.verb == replaceRow || a.verb == deleteRow {
		retries = obj("mode", "safe", "basis", "natural_idempotent")
	}
	idempotency := obj("mode", a.idempotency)
	if a.keyHeader {
		idempotency = obj("mode", a.idempotency, "mechanism", "header", "key", "Idempotency-Key", "keyDerivation", "client_supplied")
	}
	tool := strings.ReplaceAll(r.service, "-", "_") + "_" + a.name + "_" + r.slug
	return obj(
		"id", id, "canonicalName", a.name+"_"+r.slug, "displayName", method+" "+r.table.name, "description", a.description,
		"tags", []string{r.table.name},
		"sourceRef", obj("kind", "openapi", "path", a.path, "method", a.method, "operationId", a.name+"_"+r.slug),
		"effect", obj("kind", kind, "action", a.name, "resource", r.slug, "risk", a.risk, "reversible", a.reversible),
		"input", obj("params", append([]*canon.Value{}, a.params...), "body", a.body),
		"output", obj("schema", a.output, "successStatuses", []*canon.Value{val(a.status)}),
		"errors", declaredErrors(a.errors),
		"idempotency", idempotency, "retries", retries, "confirmation", obj("required", false),
		"auth", noAuth(), "pagination", a.paging,
		"cli", obj("command", r.slug+" "+a.name), "mcp", obj("toolName", tool), "skill", obj(),
		"state", "approved", "capabilityId", r.service+"."+r.slug)
}

func noAuth() *canon.Value {
	return obj("type", "none", "scopes", []string{}, "principal", "anonymous", "secretSource", "none")
}

func declaredErrors(codes []string) *canon.Value {
	status := map[string]int{"validation_error": 400, "not_found": 404, "conflict": 409}
	var out []*canon.Value
	for _, code := range codes {
		out = append(out, obj("code", code, "upstream", obj("httpStatus", status[code])))
	}
	return canon.NewArray(out...)
}

func (r *resource) keyParams() (out []*canon.Value) {
	for _, p := range r.keys {
		out = append(out, p.declare("path", true, valueSchema(p.col)))
	}
	return out
}

func (p param) declare(in string, required bool, schema *canon.Value) *canon.Value {
	var agent any
	if p.agent != "" {
		agent = p.agent
	}
	return obj("name", p.name, "agentName", agent, "in", in, "required", required, "schema", schema)
}

// filter declares an equality filter: an array, so that repeated values reach
// the store, taken as they are, so that a comma in a value is a comma.
func (p param) filter() *canon.Value {
	return p.declare("query", false, obj("type", "array", "items", valueSchema(p.col))).
		With("style", val("form")).With("explode", val(true))
}

// valueSchema is the schema of a column's value in a parameter.
func valueSchema(c *column) *canon.Value {
	switch c.class {
	case classInteger:
		return obj("type", "integer")
	case classNumber:
		return obj("type", "number")
	case classBoolean:
		return obj("type", "boolean")
	}
	return obj("type", "string")
}

// columnSchema is the schema of a column's value in a row.
func columnSchema(c *column) *canon.Value {
	types := map[class]string{classInteger: "integer", classNumber: "number", classBoolean: "boolean", classString: "string", classBlob: "string"}
	name, known := types[c.class]
	if !known {
		return obj()
	}
	s := obj("type", name)
	if !c.notNull && !c.auto {
		s = obj("type", []string{name, "null"})
	}
	if c.class == classBlob {
		s = s.With("contentEncoding", val("base64"))
	}
	if c.generated {
		s = s.With("readOnly", val(true))
	}
	return s
}

func (r *resource) ref() *canon.Value {
	return obj("$ref", "#/components/schemas/"+r.schema)
}

// pageSchema declares the envelope. total is a whole number that the store
// knows for every page.
func (r *resource) pageSchema() *canon.Value {
	return obj("type", "object", "properties", obj(
		"items", obj("type", "array", "items", r.ref()),
		"next_cursor", obj("type", []string{"string", "null"}),
		"total", obj("type", "integer", "minimum", 0)),
		"required", []string{"items"})
}

// schemaName is a table's name as a schema's: a $ref can hold it.
func schemaName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '~' || r == '%' || r == '#' || r == ' ' || r == '"' {
			return '_'
		}
		return r
	}, name)
}
