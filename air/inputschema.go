package air

import (
	"slices"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
)

// What a client is told where the contract has no words of its own.
const (
	bodyText         = "The request body."
	keyRequiredText  = "A key that makes repeating this call safe: the same key and the same input give the first answer again."
	keySupportedText = "Optional. With the same key and the same input, the first answer is given again."
	confirmText      = "Must be true: says that this change is wanted."
)

// InputSchema is the JSON Schema of the operation's input as a client sees it,
// by agent keys: input.schema when the contract has one, else one that is built
// from the parameters, the body, the idempotency key and the confirmation.
func (o *Operation) InputSchema() *Value {
	if s := o.tree.Get("input").Get("schema"); s != nil {
		return s
	}
	b := inputBuilder{carrier: o.Carrier()}
	for i, p := range o.tree.Get("input").Get("params").Elems() {
		b.param(o.Params[i], p)
	}
	if o.Body != nil {
		b.body(o.Body, o.tree.Get("input").Get("body"))
	}
	if o.Idempotency.keyed() {
		b.key(o)
	}
	if o.ConfirmationRequired {
		text := confirmText
		if reason := str(o.tree.Get("confirmation"), "reason"); reason != "" {
			text = reason
		}
		b.add(b.free("confirm"), true, object("type", canon.NewString("boolean"), "const", canon.NewBool(true), "description", canon.NewString(text)))
	}
	description := o.Description
	if description == "" {
		description = o.DisplayName
	}
	return object(
		"$schema", canon.NewString("https://json-schema.org/draft/2020-12/schema"),
		"type", canon.NewString("object"),
		"title", canon.NewString(o.CanonicalName),
		"description", canon.NewString(description),
		"additionalProperties", canon.NewBool(false),
		"properties", canon.NewObject(b.properties...),
		"required", canon.NewArray(b.required...),
	)
}

type inputBuilder struct {
	carrier    *Carrier
	properties []canon.Member
	required   []*Value
}

func (b *inputBuilder) add(key string, required bool, schema *Value) {
	b.properties = append(b.properties, canon.Member{Key: key, Value: schema})
	if required {
		b.required = append(b.required, canon.NewString(key))
	}
}

func (b *inputBuilder) param(p *Param, v *Value) {
	if b.carrier.Carries(p.In, p.Name) {
		return
	}
	s := annotated(v)
	if e := v.Get("example"); e != nil && s.Get("examples") == nil {
		s = s.With("examples", canon.NewArray(e))
	}
	b.add(p.Key, p.Required, s)
}

// annotated is the schema of a parameter or field with what a client needs to
// know beside it.
func annotated(v *Value) *Value {
	s := v.Get("schema")
	if d := v.Get("description"); d.Text() != "" && s.Get("description") == nil {
		s = s.With("description", d)
	}
	if a := v.Get("aliases"); len(a.Elems()) > 0 {
		s = s.With("x-anvil-aliases", a)
	}
	return s.With("x-anvil-wire-name", v.Get("name"))
}

func (b *inputBuilder) body(body *Body, v *Value) {
	if body.Whole {
		s := body.Schema
		if b.carrier != nil && b.carrier.In == "body" {
			s = withoutPath(s, b.carrier.path())
		}
		if s.Get("description") == nil {
			s = s.With("description", canon.NewString(bodyText))
		}
		b.add("body", body.Required, s)
		return
	}
	for i, f := range v.Get("fields").Elems() {
		if field := body.Fields[i]; !b.carrier.Carries("body", field.Name) {
			b.add(field.Key, field.Required, annotated(b.withoutCarrier(f)))
		}
	}
}

// withoutCarrier takes a carrier that stands inside a body field out of the
// field's schema.
func (b *inputBuilder) withoutCarrier(field *Value) *Value {
	c := b.carrier
	if c == nil || len(c.Pointer) < 2 || c.Pointer[0] != str(field, "name") {
		return field
	}
	return field.With("schema", withoutPath(field.Get("schema"), c.Pointer[1:]))
}

// withoutPath takes one declared value out of a schema: of the properties, of
// what is required and of the examples.
func withoutPath(s *Value, path []string) *Value {
	key := path[0]
	if e := s.Get("example"); e != nil {
		s = s.With("example", e.WithoutPath(path))
	}
	if list := s.Get("examples"); list.Is(canon.Array) {
		elems := slices.Clone(list.Elems())
		for i, e := range elems {
			elems[i] = e.WithoutPath(path)
		}
		s = s.With("examples", canon.NewArray(elems...))
	}
	properties := s.Get("properties")
	if len(path) > 1 {
		if inner := properties.Get(key); inner != nil {
			s = s.With("properties", properties.With(key, withoutPath(inner, path[1:])))
		}
		return s
	}
	if properties.Get(key) != nil {
		s = s.With("properties", properties.With(key, nil))
	}
	if list := s.Get("required"); list.Is(canon.Array) {
		s = s.With("required", canon.NewArray(slices.DeleteFunc(slices.Clone(list.Elems()), func(e *Value) bool { return e.Text() == key })...))
	}
	return s
}

// key adds the idempotency key, with the limits that its carrier declares.
func (b *inputBuilder) key(o *Operation) {
	limits := object(
		"type", canon.NewString("string"),
		"minLength", canon.NewInt(1),
		"maxLength", canon.NewInt(255),
		"pattern", canon.NewString(`^[\u0021-\u007E]+$`),
	)
	if s := o.carrierSchema(b.carrier); constrains(s) {
		limits = object("allOf", canon.NewArray(s, limits))
	}
	text := keySupportedText
	if o.Idempotency.Mode == "required" {
		text = keyRequiredText
	}
	required := o.Idempotency.Mode == "required" && o.Idempotency.KeyDerivation != "request_fingerprint"
	b.add(b.free("idempotency_key"), required, limits.With("description", canon.NewString(text)))
}

func (o *Operation) carrierSchema(c *Carrier) *Value {
	switch {
	case c == nil:
		return nil
	case c.In == "body":
		return o.Body.declared(c.path())
	}
	if p := o.param(c.In, c.Name); p != nil {
		return p.Schema
	}
	return nil
}

// constrains reports whether a schema says more than annotations do.
func constrains(s *Value) bool {
	for _, m := range s.Members() {
		switch m.Key {
		case "title", "description", "deprecated", "readOnly", "writeOnly", "nullable", "default", "example", "examples",
			"$comment", "externalDocs", "xml":
		default:
			return true
		}
	}
	return false
}

// free is a name that no input has yet: with anvil_ before it when it is taken,
// then with a number behind it.
func (b *inputBuilder) free(name string) string {
	taken := func(s string) bool {
		return slices.ContainsFunc(b.properties, func(m canon.Member) bool { return m.Key == s })
	}
	if !taken(name) {
		return name
	}
	name = "anvil_" + name
	for n, candidate := 2, name; ; n++ {
		if !taken(candidate) {
			return candidate
		}
		candidate = name + "_" + strconv.Itoa(n)
	}
}
