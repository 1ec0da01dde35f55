package values

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// nameKeyword is where a compiled contract keeps the name of a branch that it has
// written out: the name by which a discriminator knows it.
const nameKeyword = "x-anvil-schema"

// branches translates the branches of a choice. When a discriminator tells them
// apart, each also says which of its values mean it, so that one branch at most
// is meant and its faults can be named. A branch that the discriminator does not
// know (null, say) stays as it is.
func (t translator) branches(schema, choice *air.Value) []any {
	list := t.schemas(choice)
	d := schema.Get("discriminator")
	property := d.Get("propertyName").Text()
	if property == "" {
		return list
	}
	for i, b := range choice.Elems() {
		if values := t.tags(d, property, b); len(values) > 0 {
			list[i] = map[string]any{
				"required":   []any{property},
				"properties": map[string]any{property: oneOf(values)},
				"allOf":      []any{list[i]},
			}
		}
	}
	return list
}

// oneOf lets these constants through. One each, since a fault then tells a
// branch that is not meant from a bad value.
func oneOf(values []any) any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = map[string]any{"const": v}
	}
	if len(list) == 1 {
		return list[0]
	}
	return map[string]any{"anyOf": list}
}

// tags are the values of the discriminator that mean a branch: those that the
// mapping gives its name, else those that the branch itself allows, else its
// name. None: the discriminator does not know the branch.
func (t translator) tags(discriminator *air.Value, property string, branch *air.Value) (values []any) {
	name := refName(branch.Get("$ref").Text())
	if name == "" {
		name = branch.Get(nameKeyword).Text()
	}
	if name != "" {
		for _, m := range discriminator.Get("mapping").Members() {
			if refName(m.Value.Text()) == name {
				values = append(values, m.Key)
			}
		}
	}
	if values == nil {
		values = t.constants(branch, property, maxDepth)
	}
	if values == nil && name != "" {
		values = []any{name}
	}
	return values
}

// maxDepth bounds how far references and allOf are followed.
const maxDepth = 8

// constants are the values that a schema allows for a property by const or enum,
// nil when it names none.
func (t translator) constants(schema *air.Value, property string, depth int) []any {
	schema = t.resolve(schema)
	p := t.resolve(schema.Get("properties").Get(property))
	if c := p.Get("const"); c != nil {
		return []any{literal(c)}
	}
	if enum := p.Get("enum").Elems(); len(enum) > 0 {
		return literal(p.Get("enum")).([]any)
	}
	for _, part := range schema.Get("allOf").Elems() {
		if depth > 0 {
			if values := t.constants(part, property, depth-1); values != nil {
				return values
			}
		}
	}
	return nil
}

// resolve follows references to the contract's schemas.
func (t translator) resolve(schema *air.Value) *air.Value {
	for range maxDepth {
		ref := schema.Get("$ref")
		if !ref.Is(canon.String) {
			break
		}
		schema = t.named.Get(refName(ref.Text()))
	}
	return schema
}

// refName is the name that a reference ends in; a mapping may give a name alone.
func refName(ref string) string {
	return tokenUnescaper.Replace(ref[strings.LastIndexByte(ref, '/')+1:])
}

var tokenUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
