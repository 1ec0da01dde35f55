package sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/synth"
	"github.com/anvil-sim/anvil/internal/canon"
)

// declaredFields lays the fields of a record over a synthesized body as far as
// the schema has a place for them: a field that it does not declare is left out,
// one that it declares otherwise keeps the synthesized value. A contract asks
// for it by service.records: declared; others get all fields, as recorded.
func declaredFields(body *Input, schema *air.Value, r *row) {
	bare := len(*body) == 0
	for _, f := range r.fields {
		key, place := fieldOf(schema, *body, f.Key)
		val := f.Value
		if f.Key == "id" && place != nil {
			val = shownID(r.id, place)
		}
		switch {
		case place != nil && fits(val, place):
			body.Set(key, val)
		case place == nil && bare && admits(schema, val):
			body.Set(f.Key, val)
		}
	}
}

// fieldOf finds the place of a record's field and its schema: a declared
// property of its name, or of the name that its key was made of, else a member
// that a choice or an example gave the body; nil when there is none.
func fieldOf(schema *air.Value, body Input, key string) (string, *air.Value) {
	if p := air.Property(schema, key); p != nil {
		return key, p
	}
	for _, m := range air.Properties(schema) {
		if air.SnakeCase(m.Key) == key {
			return m.Key, m.Value
		}
	}
	if val := body.Get(key); val != nil && schema.Get("additionalProperties") == nil {
		return key, typeOf(val)
	}
	return "", nil
}

// typeOf is a schema that only values of the type of val fit.
func typeOf(val Raw) *air.Value {
	for _, t := range []string{"string", "number", "boolean", "array", "object", "null"} {
		if isOf(val, t) {
			return canon.NewObject(canon.Member{Key: "type", Value: canon.NewString(t)})
		}
	}
	return canon.NewObject()
}

// admits reports whether a schema that gave a body no member takes a value under
// any name.
func admits(schema *air.Value, val Raw) bool {
	extra := schema.Get("additionalProperties")
	if len(air.Properties(schema)) > 0 || extra.Is(canon.Bool) {
		return extra.True()
	}
	return fits(val, extra)
}

// fits reports whether a value is of the type of a schema and among its enum or
// const. Without any of them it fits.
func fits(val Raw, schema *air.Value) bool {
	if c := schema.Get("const"); c != nil {
		return string(c.AppendJSON(nil)) == string(val)
	}
	if enum := schema.Get("enum").Elems(); len(enum) > 0 {
		return slices.ContainsFunc(enum, func(e *air.Value) bool { return string(e.AppendJSON(nil)) == string(val) })
	}
	t := schema.Get("type")
	if t.Is(canon.Array) {
		return slices.ContainsFunc(t.Elems(), func(e *air.Value) bool { return isOf(val, e.Text()) })
	}
	return isOf(val, t.Text()) || string(val) == "null" && schema.Get("nullable").True()
}

// isOf reports whether a value is of a JSON Schema type; any is of none.
func isOf(val Raw, typ string) bool {
	kind := byte(0)
	if len(val) > 0 {
		kind = val[0]
	}
	switch typ {
	case "string":
		return kind == '"'
	case "integer":
		_, err := strconv.ParseInt(string(val), 10, 64)
		return err == nil
	case "number":
		return kind == '-' || kind >= '0' && kind <= '9'
	case "boolean":
		return kind == 't' || kind == 'f'
	case "array":
		return kind == '['
	case "object":
		return kind == '{'
	case "null":
		return kind == 'n'
	}
	return true
}

// shownID is a record's id as a property's schema has it: a number or a UUID that
// is made of the id where that is a text of the store's own, so that each
// operation shows the same one.
func shownID(id string, schema *air.Value) Raw {
	switch typ := schema.Get("type").Text(); {
	case typ == "integer" || typ == "number":
		if isOf(Raw(id), typ) {
			return Raw(id)
		}
		return strconv.AppendUint(nil, numberOf(id), 10)
	case typ == "string" && schema.Get("format").Text() == "uuid" && len(id) != len(uuidOf(id)):
		return canon.AppendString(nil, uuidOf(id))
	}
	return canon.AppendString(nil, id)
}

// numberOf is a number of up to nine digits for an id.
func numberOf(id string) uint64 { return 1 + uint64(synth.Hash(id))%999_999_999 }

func uuidOf(id string) string {
	uuid := canon.NewObject(canon.Member{Key: "type", Value: canon.NewString("string")}, canon.Member{Key: "format", Value: canon.NewString("uuid")})
	return synth.Body(uuid, 0, id).Text()
}

// find is the record of an id, also as [shownID] shows it; nil when there is
// none.
func (t *table) find(id string) *row {
	if r := t.byID[id]; r != nil {
		return r
	}
	return t.shown[id]
}

// named is the record that a call names by the parameter that its path ends with:
// by its id, else by the field of that name that it was stored with. It is nil
// when there is none, and where all of a record is shown, as recorded.
func (t *table) named(c *Call) *row {
	val := c.Input.Get(c.Op.names)
	if t.shown == nil || !present(val) {
		return nil
	}
	if r := t.find(plainText(val)); r != nil {
		return r
	}
	if r := t.byField[fieldName(c.Op.names, val)]; r != nil && slices.Equal(r.fields.Get(c.Op.names), val) {
		return r
	}
	return nil
}

// name remembers the fields that a call may name a record by; the last record
// counts.
func (t *table) name(r *row) {
	for _, key := range t.keys {
		if val := r.fields.Get(key); present(val) {
			t.byField[fieldName(key, val)] = r
		}
	}
}

func fieldName(key string, val Raw) string { return strconv.Quote(key) + string(val) }

// nameInput is the agent key of the parameter that an operation's path ends with,
// "" when it ends otherwise.
func nameInput(o *air.Operation) string {
	last := o.Path[strings.LastIndexByte(o.Path, '/')+1:]
	for _, p := range o.Params {
		if p.In == "path" && strings.Contains(last, "{"+p.Name+"}") {
			return p.Key
		}
	}
	return ""
}

// show remembers what a record's id is shown as.
func (t *table) show(r *row) {
	for _, id := range []string{strconv.FormatUint(numberOf(r.id), 10), uuidOf(r.id)} {
		if t.shown[id] == nil {
			t.shown[id] = r
		}
	}
}
