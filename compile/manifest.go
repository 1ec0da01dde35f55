package compile

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A Manifest is what a reviewer states about a description: it wins over what
// the compiler finds, and what follows from it is worked out again.
//
//	service:
//	  id: payments
//	  version: "2"
//	  display_name: Payments
//	  servers: [{url: https://api.example.com, description: live}]
//	operations:
//	  payments.create_refund:        # an id, an operationId or "POST /refunds"
//	    id: payments.refunds.create  # renames
//	    tool_name: create_refund
//	    display_name: Refund a charge
//	    state: blocked               # blocked, deprecated or review_required
//	    capability: payments.refunds
//	    effect: {kind: mutation, action: create, resource: refund, risk: financial, reversible: false}
//	    idempotency: {mode: required, mechanism: header, key: Idempotency-Key, key_derivation: client_supplied}
//	    confirmation: {required: true, reason: This moves money.}
//	    auth: {type: api_key, scopes: [refunds], principal: service, carrier: {in: header, name: X-Key}}
//	    pagination: {style: cursor, cursor_param: after, next_field: meta.next}   # or: none
//	    body: {projection: whole, content_type: application/json}
//	    success_statuses: [201]
//	    response_headers: [Location]
//	    errors: [{code: conflict, http_status: 409, vendor_code: duplicate, message: Refunded already}]
type Manifest struct {
	Path      string
	Service   ServiceOverride
	Overrides []*Override // in the order of the file
}

// A ServiceOverride is what a manifest states about the service; "" and nil
// state nothing.
type ServiceOverride struct {
	ID, Version, DisplayName string
	Servers                  []api.Server
}

// An Override is what a manifest states about one operation.
type Override struct {
	Key   string // as the manifest names the operation
	State string
	tree  *api.Value
}

// ReadManifest reads a manifest. The error names every fault in it.
func ReadManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseManifest(path, data)
}

// ParseManifest reads the text of a manifest.
func ParseManifest(name string, data []byte) (*Manifest, error) {
	tree, err := air.ReadTree(name, data)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Path: name}
	c := shapeChecker{file: name}
	c.check(tree, manifestShape, "")
	if err := c.err(); err != nil {
		return nil, err
	}
	s := tree.Get("service")
	m.Service = ServiceOverride{ID: s.Get("id").Text(), Version: s.Get("version").Text(), DisplayName: s.Get("display_name").Text()}
	for _, e := range s.Get("servers").Elems() {
		m.Service.Servers = append(m.Service.Servers, api.Server{URL: e.Get("url").Text(), Description: e.Get("description").Text()})
	}
	for _, o := range tree.Get("operations").Members() {
		m.Overrides = append(m.Overrides, &Override{Key: o.Key, State: o.Value.Get("state").Text(), tree: o.Value})
	}
	return m, nil
}

// A keyShape says what a key of a manifest may hold: one of the words, a kind of
// value, an object of keys, a list or a map of a shape.
type keyShape struct {
	kind  canon.Kind
	words []string
	keys  map[string]*keyShape
	elem  *keyShape // of a list, or of a map when keys is nil
	none  bool      // the word none is accepted too
}

var (
	textShape  = &keyShape{kind: canon.String}
	boolShape  = &keyShape{kind: canon.Bool}
	countShape = &keyShape{kind: canon.Number}
	textList   = &keyShape{kind: canon.Array, elem: textShape}
)

func oneOf(words string) *keyShape {
	return &keyShape{kind: canon.String, words: strings.Fields(words)}
}

func keys(pairs ...any) *keyShape {
	s := &keyShape{kind: canon.Object, keys: map[string]*keyShape{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.keys[pairs[i].(string)] = pairs[i+1].(*keyShape)
	}
	return s
}

const riskWords = "none low medium high financial destructive"

var pagingShape = &keyShape{kind: canon.Object, none: true, keys: keys(
	"style", oneOf("cursor page offset link"), "in", oneOf("query body"), "cursor_param", textShape, "next_field", textShape,
	"items_field", textShape, "paging_field", textShape, "page_size_param", textShape, "max_page_size", countShape, "default_page_size", countShape).keys}

var operationShape = keys(
	"id", textShape, "tool_name", textShape, "display_name", textShape, "state", oneOf("blocked deprecated review_required"), "capability", textShape,
	"effect", keys("kind", oneOf("read mutation"),
		"action", oneOf("list get search export simulate validate poll create update replace delete send execute approve cancel reserve other"),
		"resource", textShape, "risk", oneOf(riskWords), "reversible", boolShape),
	"idempotency", keys("mode", oneOf("natural key_supported client_id required none"), "mechanism", oneOf("header query body path none"),
		"key", textShape, "key_derivation", oneOf("request_fingerprint client_supplied none")),
	"confirmation", keys("required", boolShape, "risk", oneOf(riskWords), "reason", textShape, "human_approval", boolShape),
	"auth", keys("type", oneOf(`none api_key basic oauth2_client_credentials oauth2_authorization_code oauth2_on_behalf_of jwt_bearer mtls
		custom_header workload_identity`), "scopes", textList, "principal", oneOf("anonymous service end_user delegated impersonation"),
		"credential_profile", textShape, "carrier", keys("in", oneOf("header query"), "name", textShape, "scheme", textShape)),
	"pagination", pagingShape,
	"body", keys("projection", oneOf("fields whole"), "content_type", textShape),
	"success_statuses", &keyShape{kind: canon.Array, elem: countShape},
	"response_headers", textList,
	"errors", &keyShape{kind: canon.Array, elem: keys("code", textShape, "http_status", countShape, "vendor_code", textShape, "message", textShape)},
)

var manifestShape = keys(
	"service", keys("id", textShape, "version", textShape, "display_name", textShape,
		"servers", &keyShape{kind: canon.Array, elem: keys("url", textShape, "description", textShape)}),
	"operations", &keyShape{kind: canon.Object, elem: operationShape},
)

// A shapeChecker collects what is wrong with a file of this project's own.
type shapeChecker struct {
	file string
	errs []error
}

func (c *shapeChecker) err() error { return errors.Join(c.errs...) }

func (c *shapeChecker) fault(at, format string, args ...any) {
	if at == "" {
		at = "the file"
	}
	c.errs = append(c.errs, fmt.Errorf("%s: %s: %s", c.file, at, fmt.Sprintf(format, args...)))
}

func (c *shapeChecker) check(v *api.Value, s *keyShape, at string) {
	if s.none && v.Is(canon.String) && v.Text() == "none" {
		return
	}
	if !v.Is(s.kind) {
		c.fault(at, "found %s, want %s", v.Kind(), s.kind)
		return
	}
	if s.words != nil && !slices.Contains(s.words, v.Text()) {
		c.fault(at, "found %q, want one of %s%s", v.Text(), strings.Join(s.words, ", "), didYouMean(v.Text(), s.words))
	}
	if f := v.Float(); s.kind == canon.Number && (f < 1 || f > math.MaxInt32 || f != math.Trunc(f)) {
		c.fault(at, "found %s, want a whole number from 1", v)
	}
	for i, e := range v.Elems() {
		c.check(e, s.elem, fmt.Sprintf("%s[%d]", at, i))
	}
	for _, m := range v.Members() {
		inner := strings.TrimPrefix(at+"."+m.Key, ".")
		shape := s.elem
		if s.keys != nil {
			if shape = s.keys[m.Key]; shape == nil {
				c.fault(inner, "an unknown key, want one of %s%s", strings.Join(sortedKeys(s.keys), ", "), didYouMean(m.Key, sortedKeys(s.keys)))
				continue
			}
		}
		c.check(m.Value, shape, inner)
	}
}

func (m *Manifest) serviceID() string {
	if m == nil {
		return ""
	}
	return m.Service.ID
}

// match finds the operation of each override. One that names none, or one that
// is named before, is an error.
func (m *Manifest) match(c *compiler) error {
	if m == nil {
		return nil
	}
	byKey := map[string]*operation{}
	var known []string
	for _, o := range c.ops {
		for _, key := range []string{strings.ToUpper(o.src.Method) + " " + o.src.Path, o.src.ID, o.id} {
			if key != "" {
				byKey[key] = o
				known = append(known, key)
			}
		}
	}
	var errs []error
	for _, ov := range m.Overrides {
		o := byKey[ov.Key]
		switch {
		case o == nil:
			errs = append(errs, fmt.Errorf("%s: %w", m.Path, unknown("operation", ov.Key, known)))
		case o.override != nil:
			errs = append(errs, fmt.Errorf("%s: the operations %q and %q are the same", m.Path, o.override.Key, ov.Key))
		default:
			o.override = ov
		}
	}
	errs = append(errs, m.rename(c)...)
	m.applyService(c)
	return errors.Join(errs...)
}

// rename gives the operations the names that the manifest states.
func (m *Manifest) rename(c *compiler) []error {
	taken, tools := map[string]string{}, map[string]string{}
	var errs []error
	for _, o := range c.ops {
		if o.override != nil {
			if id := o.override.tree.Get("id").Text(); id != "" {
				o.id = id
				o.canonical = air.SnakeCase(strings.TrimPrefix(id, c.service+"."))
				o.tool = shorten(air.SnakeCase(c.service) + "_" + o.canonical)
			}
			if t := o.override.tree.Get("tool_name").Text(); t != "" {
				o.tool = t
			}
			if d := o.override.tree.Get("display_name").Text(); d != "" {
				o.name = d
			}
		}
		where := strings.ToUpper(o.src.Method) + " " + o.src.Path
		if other, ok := taken[o.id]; ok {
			errs = append(errs, fmt.Errorf("%s: the id %s is that of %s and of %s", m.Path, o.id, other, where))
		}
		if other, ok := tools[o.tool]; ok {
			errs = append(errs, fmt.Errorf("%s: the tool name %s is that of %s and of %s", m.Path, o.tool, other, where))
		}
		taken[o.id], tools[o.tool] = where, where
	}
	return errs
}

func (m *Manifest) applyService(c *compiler) {
	if m.Service.Version != "" {
		c.desc.Version = m.Service.Version
	}
	if m.Service.DisplayName != "" {
		c.desc.Title = m.Service.DisplayName
	}
	if m.Service.Servers != nil {
		c.desc.Servers = m.Service.Servers
	}
}

// apply puts what a manifest states over what was found. Nil states nothing.
func (ov *Override) apply(c *compiler, o *operation) {
	if ov == nil {
		return
	}
	t := ov.tree
	text := func(v *api.Value, dst *string) {
		if v.Is(canon.String) {
			*dst = v.Text()
		}
	}
	text(t.Get("capability"), &o.capability)
	if o.capability != "" && !strings.HasPrefix(o.capability, c.service+".") {
		o.capability = c.service + "." + air.SnakeCase(o.capability)
	}
	ov.paging(o)
	if e := t.Get("effect"); e != nil {
		ov.effect(c, o, e)
	}
	if i := t.Get("idempotency"); i != nil {
		o.idem.mechanism, o.idem.key, o.idem.derivation = "none", "", "none"
		text(i.Get("mode"), &o.idem.mode)
		text(i.Get("mechanism"), &o.idem.mechanism)
		text(i.Get("key"), &o.idem.key)
		if o.idem.key != "" {
			o.idem.derivation = "client_supplied"
		}
		text(i.Get("key_derivation"), &o.idem.derivation)
	}
	if b := t.Get("body"); b != nil && o.body != nil {
		ov.body(c, o, b)
	}
	ov.answers(o)
	ov.auth(o)
	if cf := t.Get("confirmation"); cf != nil {
		o.confirm = renamed(cf, map[string]string{"human_approval": "humanApproval"})
	}
}

// effect sets what is stated and works out again what follows from it: a read
// has no risk, a mutation at least some, and repeatability hangs on the kind.
func (ov *Override) effect(c *compiler, o *operation, e *api.Value) {
	was := o.effect.kind
	if k := e.Get("kind"); k != nil {
		o.effect.kind = k.Text()
	}
	if o.effect.kind != was {
		n := readNames(o.src)
		if o.effect.kind == "read" {
			o.effect.action, o.effect.risk, o.effect.reversible = c.readAction(o, n), "none", true
		} else {
			o.effect.action = c.mutationAction(o, n)
			c.risk(o, &o.effect, n)
		}
		o.idem = c.repeatability(o)
	}
	for key, dst := range map[string]*string{"action": &o.effect.action, "resource": &o.effect.resource, "risk": &o.effect.risk} {
		if v := e.Get(key); v != nil {
			*dst = v.Text()
		}
	}
	if v := e.Get("reversible"); v != nil {
		o.effect.reversible = v.True()
	}
	o.effect.method, o.effect.confidence = "manifest", "1"
}

func (ov *Override) paging(o *operation) {
	p := ov.tree.Get("pagination")
	if p == nil {
		return
	}
	if !p.Is(canon.Object) {
		o.paging = nil
		if o.effect.action == "list" || o.effect.action == "search" {
			o.effect.action = "get"
		}
		return
	}
	if o.paging == nil {
		o.paging = &paging{style: "cursor"}
		if o.effect.kind == "read" && o.effect.action == "get" {
			o.effect.action = "list"
		}
	}
	for key, dst := range map[string]*string{
		"style": &o.paging.style, "cursor_param": &o.paging.cursor, "next_field": &o.paging.next, "items_field": &o.paging.items,
		"paging_field": &o.paging.block_, "page_size_param": &o.paging.size,
	} {
		if v := p.Get(key); v != nil {
			*dst = v.Text()
		}
	}
	for key, dst := range map[string]*int{"max_page_size": &o.paging.max, "default_page_size": &o.paging.def} {
		if v := p.Get(key); v != nil {
			*dst = int(v.Float())
		}
	}
	if in := p.Get("in"); in != nil {
		o.paging.inBody = in.Text() == "body"
	}
}

func (ov *Override) body(c *compiler, o *operation, b *api.Value) {
	o.projection = b.Get("projection").Text()
	want := b.Get("content_type").Text()
	if want == "" {
		return
	}
	for i := range o.src.Bodies {
		if mediaType(o.src.Bodies[i].Type) == mediaType(want) {
			o.body = &o.src.Bodies[i]
			return
		}
	}
	c.note(o, api.Warning, "manifest/content_type", "the manifest's content type %s is not declared; %s is read", want, o.body.Type)
}

func (ov *Override) answers(o *operation) {
	if list := ov.tree.Get("success_statuses"); list != nil {
		o.statuses = nil
		for _, e := range list.Elems() {
			o.statuses = append(o.statuses, int(e.Float()))
		}
	}
	if list := ov.tree.Get("response_headers"); list != nil {
		o.headers = texts(list)
	}
	list := ov.tree.Get("errors")
	if list == nil {
		return
	}
	o.errors = []*api.Value{}
	for _, e := range list.Elems() {
		upstream := builder{}
		if v := e.Get("http_status"); v != nil {
			upstream.set("httpStatus", v)
		}
		if v := e.Get("vendor_code"); v != nil {
			upstream.set("code", v)
		}
		out := builder{}
		out.set("code", e.Get("code").Text())
		out.set("upstream", upstream.object())
		if v := e.Get("message"); v != nil {
			out.set("message", v)
		}
		o.errors = append(o.errors, out.object())
	}
}

func (ov *Override) auth(o *operation) {
	a := ov.tree.Get("auth")
	if a == nil {
		return
	}
	if t := a.Get("type"); t != nil && t.Text() != o.auth.Get("type").Text() {
		principal, secret := "service", "env"
		if t.Text() == "none" {
			principal, secret = "anonymous", "none"
		}
		o.auth = object("type", t, "scopes", []string(nil), "principal", principal, "secretSource", secret)
	}
	for _, m := range renamed(a, map[string]string{"credential_profile": "credentialProfile"}).Members() {
		o.auth = o.auth.With(m.Key, m.Value)
	}
}

func texts(list *api.Value) []string {
	out := []string{}
	for _, e := range list.Elems() {
		out = append(out, e.Text())
	}
	return out
}

// renamed is an object with some keys spelled otherwise.
func renamed(v *api.Value, names map[string]string) *api.Value {
	members := slices.Clone(v.Members())
	for i, m := range members {
		if name, ok := names[m.Key]; ok {
			members[i].Key = name
		}
	}
	return canon.NewObject(members...)
}
