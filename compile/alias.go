package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// alias adds the operations that a manifest's further methods make: a GET that
// answers to POST too, as APIs of the RPC kind do, with its query as a form. An
// alias does what its operation does, under an id of its own.
func (m *Manifest) alias(c *compiler) []error {
	taken := map[string]bool{}
	for _, o := range c.ops {
		taken[o.src.Method+" "+o.src.Path] = true
	}
	var errs []error
	var all []*operation
	for _, o := range c.ops {
		all = append(all, o)
		own := texts(o.override.stated("methods"))
		switch {
		case slices.Contains(own, "post") && o.src.Method != "get":
			errs = append(errs, fmt.Errorf("%s: operations.%s.methods: %s %s is no GET; only a GET can answer to POST too",
				m.Path, o.override.Key, strings.ToUpper(o.src.Method), o.src.Path))
		case slices.Contains(own, "post") && taken["post "+o.src.Path]:
			errs = append(errs, fmt.Errorf("%s: operations.%s.methods: POST %s is an operation of its own", m.Path, o.override.Key, o.src.Path))
		case o.src.Method == "get" && !taken["post "+o.src.Path] && (slices.Contains(own, "post") || slices.Contains(m.Service.Methods, "post")):
			all = append(all, byPost(o))
		}
	}
	c.ops = all
	return errs
}

// byPost is a GET as a POST, with what it takes in the query as form fields.
func byPost(o *operation) *operation {
	src := *o.src
	src.Method, src.Params = "post", nil
	var fields []canon.Member
	for _, p := range o.src.Params {
		if p.In != "query" {
			src.Params = append(src.Params, p)
			continue
		}
		s := p.Schema
		if !s.Is(canon.Object) {
			s = object("type", "string")
		}
		fields = append(fields, canon.Member{Key: p.Name, Value: s})
	}
	src.Bodies, src.BodyNeeded = nil, false
	if len(fields) > 0 {
		form := object("type", "object", "properties", canon.NewObject(fields...))
		var required []string
		for _, p := range o.src.Params {
			if p.In == "query" && p.Required {
				required = append(required, p.Name)
			}
		}
		if len(required) > 0 {
			form, src.BodyNeeded = form.With("required", strs(required)), true
		}
		src.Bodies = []api.Content{{Type: "application/x-www-form-urlencoded", Schema: form}}
	}
	return &operation{src: &src, original: o, name: o.name, override: o.override}
}

// follow makes an alias do what its operation does.
func (o *operation) follow() {
	was := o.original
	o.effect, o.idem, o.confirm, o.errors = was.effect, was.idem, was.confirm, was.errors
	if was.paging != nil {
		p := *was.paging
		p.inBody = true
		o.paging = &p
	}
	o.notes, o.capability = nil, was.capability
}
