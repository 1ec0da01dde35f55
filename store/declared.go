package store

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/internal/stub"
)

// A declared is a schema with the named schemas that it may refer to. The
// contract's own resolving goes one reference deep; rows nest deeper.
type declared struct {
	schemas *canon.Value
	schema  *canon.Value
}

// maxRefs bounds how far references are followed in a row.
const maxRefs = 16

// response is what an operation answers with.
func response(doc *air.Document, o *air.Operation) declared {
	d := declared{doc.Schemas, o.OutputSchema}
	if len(o.OutputSchema.Members()) == 0 {
		d.schema = doc.Response(o)
	}
	return d.follow()
}

// items is one item of the list that an operation answers with, and where in the
// response the list stands.
func items(doc *air.Document, o *air.Operation) (item declared, path []string) {
	d := response(doc, o)
	path, _ = doc.ItemsPath(o)
	for _, key := range path {
		d = d.property(key)
	}
	d.schema = d.schema.Get("items")
	if d.schema == nil {
		d.schema = doc.ItemSchema(o)
	}
	return d.follow(), path
}

// with is another schema of the same contract.
func (d declared) with(schema *canon.Value) declared { return declared{d.schemas, schema}.follow() }

// follow goes to what a reference names, and into the one alternative that
// declares an object.
func (d declared) follow() declared {
	for range maxRefs {
		if target := d.stubbed(); target != nil {
			d.schema = target
			continue
		}
		ref := d.schema.Get("$ref").Text()
		if name, ok := strings.CutPrefix(ref, "#/components/schemas/"); ok {
			target := d.schemas.Get(name)
			if target == nil {
				target = d.schemas.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
			}
			if target == nil {
				return d
			}
			d.schema = target
			continue
		}
		next := d.alternative()
		if next == nil {
			return d
		}
		d.schema = next
	}
	return d
}

// stubbed is the named schema that a compiled contract cut to a stub.
func (d declared) stubbed() *canon.Value {
	if name := stub.Name(d.schema); name != "" {
		return d.schemas.Get(name)
	}
	return nil
}

// alternative is the first part of oneOf or anyOf that is an object or refers to
// something, where the schema itself declares no properties. Some descriptions
// hold such choices in items without a type.
func (d declared) alternative() *canon.Value {
	if d.schema.Get("properties") != nil || d.schema.Get("allOf") != nil {
		return nil
	}
	if items := d.schema.Get("items"); d.schema.Get("type") == nil && (items.Get("anyOf") != nil || items.Get("oneOf") != nil) {
		return items
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		for _, part := range d.schema.Get(word).Elems() {
			if part.Get("$ref") != nil || part.Get("properties") != nil || part.Get("allOf") != nil {
				return part
			}
		}
	}
	return nil
}

// properties lists the declared properties in order: the schema's own, then
// those of its allOf parts.
func (d declared) properties() []canon.Member {
	if d.schema.Get("allOf") == nil {
		return d.schema.Get("properties").Members()
	}
	return canon.NewObject(d.collect(nil, 0)...).Members()
}

func (d declared) collect(dst []canon.Member, depth int) []canon.Member {
	if depth > maxRefs {
		return dst
	}
	parts := d.schema.Get("allOf").Elems()
	dst = append(dst, d.schema.Get("properties").Members()...)
	for _, part := range parts {
		dst = d.with(part).collect(dst, depth+1)
	}
	return dst
}

func (d declared) property(key string) declared {
	for _, m := range d.properties() {
		if m.Key == key {
			return d.with(m.Value)
		}
	}
	return declared{d.schemas, nil}
}

// fixed tells whether an object has a member that can have one value only.
func (d declared) fixed() bool {
	for _, m := range d.properties() {
		schema := d.with(m.Value).schema
		if schema.Get("const") != nil || len(schema.Get("enum").Elems()) == 1 {
			return true
		}
	}
	return false
}

// required are the names that must be there.
func (d declared) required() map[string]bool {
	set := map[string]bool{}
	d.addRequired(set, 0)
	return set
}

func (d declared) addRequired(set map[string]bool, depth int) {
	for _, e := range d.schema.Get("required").Elems() {
		set[e.Text()] = true
	}
	if depth < maxRefs {
		for _, part := range d.schema.Get("allOf").Elems() {
			d.with(part).addRequired(set, depth+1)
		}
	}
}
