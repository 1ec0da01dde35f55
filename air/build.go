package air

import "github.com/anvil-sim/anvil/internal/canon"

// newDocument makes the typed form of a normalised tree. Its values point into
// the tree.
func newDocument(tree *Value) *Document {
	d := &Document{
		AnvilVersion: str(tree, "anvilVersion"),
		Service:      newService(tree.Get("service")),
		Schemas:      tree.Get("schemas"),
		tree:         tree,
		derived:      &derived{},
	}
	operations := tree.Get("operations").Elems()
	d.Operations = make([]*Operation, len(operations))
	for i, o := range operations {
		d.Operations[i] = newOperation(o)
	}
	for _, c := range tree.Get("capabilities").Elems() {
		d.Capabilities = append(d.Capabilities, Capability{
			ID: str(c, "id"), DisplayName: str(c, "displayName"), OperationIDs: strs(c, "operationIds"),
		})
	}
	return d
}

func newService(v *Value) Service {
	source := v.Get("source")
	s := Service{
		ID: str(v, "id"), Version: str(v, "version"), DisplayName: str(v, "displayName"),
		SourceKind: str(source, "kind"), Records: str(v, "records"),
	}
	if p := source.Get("profile"); p != nil {
		s.HasProfile, s.Exposed = true, strs(p, "exposedOperations")
	}
	for _, server := range v.Get("servers").Elems() {
		s.Servers = append(s.Servers, str(server, "url"))
	}
	return s
}

func newOperation(v *Value) *Operation {
	source, effect, output := v.Get("sourceRef"), v.Get("effect"), v.Get("output")
	o := &Operation{
		ID: str(v, "id"), CanonicalName: str(v, "canonicalName"),
		DisplayName: str(v, "displayName"), Description: str(v, "description"), Tags: strs(v, "tags"),
		SourceKind: str(source, "kind"), Path: str(source, "path"), Method: str(source, "method"),
		Binding:    source.Get("binding"),
		EffectKind: str(effect, "kind"), Action: str(effect, "action"), Resource: str(effect, "resource"),
		Params: newParams(v.Get("input").Get("params")), Body: newBody(v.Get("input").Get("body")),
		OutputSchema: output.Get("schema"), OutputSchemaRef: str(output, "schemaRef"),
		OutputHeaders:        strs(output, "headers"),
		Errors:               newErrors(v.Get("errors")),
		Idempotency:          newIdempotency(v.Get("idempotency")),
		ConfirmationRequired: v.Get("confirmation").Get("required").True(),
		Auth:                 newAuth(v.Get("auth")),
		Pagination:           newPagination(v.Get("pagination")),
		ResponseItemTokens:   int64(clampInt(number(v.Get("disclosureCost"), "responseItemTokens"))),
		State:                str(v, "state"), ToolName: str(v.Get("mcp"), "toolName"),
		tree: v,
	}
	for _, s := range output.Get("successStatuses").Elems() {
		o.SuccessStatuses = append(o.SuccessStatuses, int(s.Float()))
	}
	o.carrier = o.newCarrier()
	return o
}

func newParams(list *Value) []*Param {
	elems := list.Elems()
	params := make([]*Param, len(elems))
	for i, v := range elems {
		p := &Param{
			Name: str(v, "name"), Key: agentKey(v), In: str(v, "in"), Required: v.Get("required").True(),
			Schema: v.Get("schema"), Style: str(v, "style"), Description: str(v, "description"),
		}
		p.Explode = explode(v)
		params[i] = p
	}
	return params
}

func newBody(v *Value) *Body {
	if v == nil {
		return nil
	}
	b := &Body{
		ContentType: str(v, "contentType"), Required: v.Get("required").True(), Schema: v.Get("schema"),
		Whole: str(v, "projection") == "whole", AnyCase: v.Get("fieldNameMatch") != nil,
	}
	for _, f := range v.Get("fields").Elems() {
		b.Fields = append(b.Fields, &Field{
			Name: str(f, "name"), Key: agentKey(f), Required: f.Get("required").True(), Schema: f.Get("schema"), Style: str(f, "style"), Explode: explode(f),
		})
	}
	return b
}

// explode is the explode of a parameter or field, nil when it does not say.
func explode(v *Value) *bool {
	e := v.Get("explode")
	if e == nil {
		return nil
	}
	yes := e.True()
	return &yes
}

func newErrors(list *Value) []DeclaredError {
	elems := list.Elems()
	errs := make([]DeclaredError, len(elems))
	for i, e := range elems {
		upstream := e.Get("upstream")
		errs[i] = DeclaredError{
			Code: str(e, "code"), Message: str(e, "message"),
			HTTPStatus: clampInt(number(upstream, "httpStatus")), UpstreamCode: str(upstream, "code"),
		}
	}
	return errs
}

func newIdempotency(v *Value) Idempotency {
	return Idempotency{
		Mode: str(v, "mode"), Mechanism: str(v, "mechanism"),
		Key: str(v, "key"), KeyDerivation: str(v, "keyDerivation"),
	}
}

func newAuth(v *Value) Auth {
	a := Auth{Type: str(v, "type"), Scopes: strs(v, "scopes")}
	if c := v.Get("carrier"); c != nil {
		a.Carrier = &AuthCarrier{In: str(c, "in"), Name: str(c, "name"), Scheme: str(c, "scheme")}
	}
	return a
}

func newPagination(v *Value) *Pagination {
	if v == nil {
		return nil
	}
	return &Pagination{
		Style: str(v, "style"), InBody: v.Get("in") != nil,
		CursorParam: str(v, "cursorParam"), NextField: str(v, "nextField"), ItemsField: str(v, "itemsField"),
		PageSizeParam: str(v, "pageSizeParam"), PagingField: str(v, "pagingField"),
		MaxPageSize: clampInt(number(v, "maxPageSize")), DefaultPageSize: clampInt(number(v, "defaultPageSize")),
	}
}

// agentKey is the agent key of a parameter or field.
func agentKey(v *Value) string {
	if name := v.Get("agentName"); name != nil {
		return SnakeCase(name.Text())
	}
	return SnakeCase(str(v, "name"))
}

func str(v *Value, key string) string { return v.Get(key).Text() }

func number(v *Value, key string) float64 { return v.Get(key).Float() }

func strs(v *Value, key string) []string {
	list := v.Get(key)
	if !list.Is(canon.Array) || len(list.Elems()) == 0 {
		return nil
	}
	out := make([]string, len(list.Elems()))
	for i, e := range list.Elems() {
		out[i] = e.Text()
	}
	return out
}
