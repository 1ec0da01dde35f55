package compile

import (
	"errors"
	"fmt"
	"maps"
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
//	  methods: [post]                # every GET answers to POST too
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
//	    methods: [post]              # it answers to POST too, its query as a form
//	    async: {status_operation: getJob, job_id_field: id, status_param: job_id, state_field: state, terminal_states: [done]}   # or: none
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
	Methods                  []string // that every GET answers to besides: post
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
	m.Service.Methods = texts(s.Get("methods"))
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
	methodList = &keyShape{kind: canon.Array, elem: oneOf("post")}
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
	"response_headers", textList, "methods", methodList,
	"async", &keyShape{kind: canon.Object, none: true, keys: keys("status_operation", textShape, "job_id_field", textShape, "status_param", textShape,
		"state_field", textShape, "terminal_states", textList, "pending_states", textList, "poll_interval_seconds", countShape).keys},
	"errors", &keyShape{kind: canon.Array, elem: keys("code", textShape, "http_status", countShape, "vendor_code", textShape, "message", textShape)},
)

var manifestShape = keys(
	"service", keys("id", textShape, "version", textShape, "display_name", textShape, "methods", methodList,
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
				c.fault(inner, "an unknown key, want one of %s%s", strings.Join(slices.Sorted(maps.Keys(s.keys)), ", "), didYouMean(m.Key, slices.Sorted(maps.Keys(s.keys))))
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
	errs = append(errs, m.alias(c)...)
	errs = append(errs, m.rename(c)...)
	m.applyService(c)
	return errors.Join(errs...)
}

// rename gives the operations the names that the manifest states.
func (m *Manifest) rename(c *compiler) []error {
	taken, tools := map[string]string{}, map[string]string{}
	var errs []error
	for _, o := range c.ops {
		switch was := o.original; {
		case was != nil:
			o.id, o.canonical, o.tool, o.name = was.id+"_by_post", was.canonical+"_by_post", shorten(was.tool+"_by_post"), was.name
		case o.override != nil:
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
