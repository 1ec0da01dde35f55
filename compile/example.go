package compile

import (
	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/compile/sample"
	"github.com/anvil-sim/anvil/internal/canon"
)

// exampleOf is the first example of an operation's response that is of a type; a
// text that holds the JSON of one is read.
func exampleOf(o *operation, typ string) *api.Value {
	for _, ex := range o.examples {
		if fit := sample.Fit(ex, typ); fit != nil {
			return fit
		}
	}
	return nil
}

// shown is the schema that an example shows, where none is declared: the type,
// and the example.
func (c *compiler) shown(o *operation) *api.Value {
	if ex := exampleOf(o, "object"); ex != nil {
		return object("type", "object", "example", ex)
	}
	if ex := exampleOf(o, "array"); ex != nil && ex.Elems() != nil && ex.Elems()[0].Is(canon.Object) {
		return object("type", "array", "items", object("type", "object", "example", ex.Elems()[0]))
	}
	return nil
}

// withExample puts the example of a response where bodies are made from schemas:
// at the body, or at the items of a page.
func (c *compiler) withExample(o *operation, s *api.Value) *api.Value {
	if s == nil || len(o.examples) == 0 {
		return s
	}
	if items := s.Get("items"); items.Is(canon.Object) && c.schemas.typ(s) == "array" {
		list := exampleOf(o, "array").Elems()
		if len(list) > 0 && refName(items) == "" {
			return s.With("items", c.itemExample(items, list[0]))
		}
		return s
	}
	ex := exampleOf(o, "object")
	full := c.schemas.deref(s)
	switch {
	case ex == nil || !full.Is(canon.Object):
	case o.paging != nil || o.effect.action == "list":
		return c.pageExample(o, s, ex)
	case full.Get("example") == nil:
		return full.With("example", ex)
	}
	return s
}

// itemExample puts an example at the schema of an item, unless it has one or is
// of another type.
func (c *compiler) itemExample(item, ex *api.Value) *api.Value {
	if !item.Is(canon.Object) || item.Get("example") != nil || item.Get("enum") != nil {
		return item
	}
	if fit := sample.Fit(ex, c.schemas.typ(item)); fit != nil && !fit.Is(canon.Null) {
		return item.With("example", fit)
	}
	return item
}

// pageExample puts the first item of an example page at the schema of the items.
func (c *compiler) pageExample(o *operation, s, ex *api.Value) *api.Value {
	field, _ := c.pageItems(o)
	if field == "" {
		return s
	}
	path := air.FieldPath(field)
	for _, key := range path {
		ex = ex.Get(key)
	}
	if list := sample.Fit(ex, "array").Elems(); len(list) > 0 {
		if out := c.atItems(s, path, list[0]); out != nil {
			return out
		}
	}
	return s
}

// atItems writes out the schemas on the way to the items of a page, and puts an
// example there; nil when something else stands on the way.
func (c *compiler) atItems(s *api.Value, path []string, ex *api.Value) *api.Value {
	full := c.schemas.deref(s)
	if len(path) == 0 {
		item := c.schemas.deref(full.Get("items"))
		if out := c.itemExample(item, ex); out != item {
			return full.With("items", out)
		}
		return nil
	}
	inner := c.atItems(full.Get("properties").Get(path[0]), path[1:], ex)
	if inner == nil {
		return nil
	}
	return full.With("properties", full.Get("properties").With(path[0], inner))
}
