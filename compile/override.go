package compile

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/media"
)

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

// stated is what a manifest states under a key; nil when it states nothing.
func (ov *Override) stated(key string) *api.Value {
	if ov == nil {
		return nil
	}
	return ov.tree.Get(key)
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
		if media.Type(o.src.Bodies[i].Type) == media.Type(want) {
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
