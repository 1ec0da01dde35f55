package openapi

import (
	"path"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

const schemaPrefix = "#/components/schemas/"

// A bundle collects the named schemas that references lead to, from whatever
// file, under names that are unique.
type bundle struct {
	r       *reader
	names   map[string]string // place of a schema to its name
	taken   map[string]bool
	members []canon.Member
	queue   []named
	done    map[seen]*api.Value // schemas rewritten so far: what is shared stays shared
}

type named struct {
	index int
	node  node
}

type seen struct {
	v    *api.Value
	file *api.File
}

func newBundle(r *reader) *bundle {
	return &bundle{r: r, names: map[string]string{}, taken: map[string]bool{}, done: map[seen]*api.Value{}}
}

// declare names the schemas of the entry file's own table, in its order.
func (b *bundle) declare(table node) {
	for _, m := range table.v.Members() {
		b.name(table.get(m.Key), m.Key)
	}
}

// finish rewrites the schemas that were named, and those that they name.
func (b *bundle) finish() []canon.Member {
	for len(b.queue) > 0 {
		next := b.queue[0]
		b.queue = b.queue[1:]
		b.members[next.index].Value = b.top(next.node)
	}
	return b.members
}

// top rewrites a named schema. One that is only a reference to another is
// written out, since a name must not lead to a name.
func (b *bundle) top(n node) *api.Value {
	if refOf(n.v) == "" {
		return b.schema(n)
	}
	target, ok := b.r.resolve(n)
	if !ok {
		return canon.NewObject()
	}
	return b.schema(target)
}

// name gives a schema its name, once.
func (b *bundle) name(n node, wish string) string {
	key := n.place()
	if name, ok := b.names[key]; ok {
		return name
	}
	name := wish
	for i := 2; b.taken[name]; i++ {
		name = wish + "_" + strconv.Itoa(i)
	}
	b.names[key], b.taken[name] = name, true
	b.queue = append(b.queue, named{len(b.members), n})
	b.members = append(b.members, canon.Member{Key: name, Value: canon.NewNull()})
	return name
}

// wish is the name that a schema would like, from where it stands.
func wish(n node) string {
	tokens := strings.Split(n.at, "/")
	last := tokenUnescaper.Replace(tokens[len(tokens)-1])
	if n.at == "" {
		base := path.Base(n.file.Path)
		return strings.TrimSuffix(base, path.Ext(base))
	}
	if len(tokens) > 2 && (last == "schema" || last == "items" || isNumber(last)) {
		return tokenUnescaper.Replace(tokens[len(tokens)-2]) + "_" + last
	}
	return last
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// ref is the bundled form of a schema that is a reference.
func (b *bundle) ref(n node, ref string) *api.Value {
	target, ok := b.r.target(n, ref)
	if !ok {
		return canon.NewObject()
	}
	for range maxChain {
		next := refOf(target.v)
		if next == "" {
			break
		}
		if target, ok = b.r.target(target, next); !ok {
			return canon.NewObject()
		}
	}
	if refOf(target.v) != "" {
		b.r.diags.Addf(api.Error, "ref/cycle", n.place(), "references that lead to one another without an end")
		return canon.NewObject()
	}
	link := canon.NewString(schemaPrefix + escapeToken(b.name(target, wish(target))))
	out := canon.NewObject(canon.Member{Key: "$ref", Value: link})
	if extra := b.siblings(n); extra != nil {
		return canon.NewObject(canon.Member{Key: "allOf", Value: canon.NewArray(out, extra)})
	}
	return out
}

// siblings are the constraints beside a reference, which OpenAPI 3.1 knows and
// earlier versions ignore; nil when there are none.
func (b *bundle) siblings(n node) *api.Value {
	if !b.r.v31 {
		return nil
	}
	constrains := false
	for _, m := range n.v.Members() {
		switch m.Key {
		case "$ref", "description", "summary", "title", "deprecated", "example", "examples", "default", "readOnly", "writeOnly", "$comment":
		default:
			constrains = constrains || !strings.HasPrefix(m.Key, "x-")
		}
	}
	if !constrains {
		return nil
	}
	return b.members0(n, func(key string) bool { return key == "$ref" })
}

// schema rewrites a schema: references become names of the bundle, spellings of
// other versions become those of OpenAPI 3.0.
func (b *bundle) schema(n node) *api.Value {
	if !n.v.Is(canon.Object) {
		if n.v.Is(canon.Bool) || n.v == nil { // true and false are schemas of 3.1
			return n.v
		}
		return canon.NewObject()
	}
	key := seen{n.v, n.file}
	if out, ok := b.done[key]; ok {
		return out
	}
	var out *api.Value
	if ref := refOf(n.v); ref != "" {
		out = b.ref(n, ref)
	} else {
		out = b.members0(n, func(string) bool { return false })
	}
	b.done[key] = out
	return out
}

// members0 rewrites the members of a schema object.
func (b *bundle) members0(n node, skip func(key string) bool) *api.Value {
	same := true
	members := make([]canon.Member, 0, len(n.v.Members()))
	for _, m := range n.v.Members() {
		if skip(m.Key) {
			same = false
			continue
		}
		out := b.member(n.get(m.Key), m.Key)
		same = same && out == m.Value
		members = append(members, canon.Member{Key: m.Key, Value: out})
	}
	members, changed := normalise(members)
	if b.r.v2 {
		changed = choiceOfItems(members) || changed
	}
	if same && !changed {
		return n.v
	}
	return canon.NewObject(members...)
}

// member rewrites one keyword.
func (b *bundle) member(n node, key string) *api.Value {
	switch key {
	case "properties", "patternProperties", "definitions", "$defs", "dependentSchemas":
		return b.table(n)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return b.list(n)
	case "items":
		if n.v.Is(canon.Array) {
			return b.list(n)
		}
		return b.schema(n)
	case "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return b.schema(n)
	case "discriminator":
		return b.discriminator(n)
	}
	return n.v
}

func (b *bundle) table(n node) *api.Value {
	if !n.v.Is(canon.Object) {
		return canon.NewObject()
	}
	same := true
	members := make([]canon.Member, len(n.v.Members()))
	for i, m := range n.v.Members() {
		members[i] = canon.Member{Key: m.Key, Value: b.schema(n.get(m.Key))}
		same = same && members[i].Value == m.Value
	}
	if same {
		return n.v
	}
	return canon.NewObject(members...)
}

func (b *bundle) list(n node) *api.Value {
	if !n.v.Is(canon.Array) {
		return canon.NewArray()
	}
	same := true
	elems := make([]*api.Value, len(n.v.Elems()))
	for i, e := range n.v.Elems() {
		elems[i] = b.schema(n.elem(i))
		same = same && elems[i] == e
	}
	if same {
		return n.v
	}
	return canon.NewArray(elems...)
}

// discriminator rewrites the mapping, whose values are references or names.
func (b *bundle) discriminator(n node) *api.Value {
	mapping := n.get("mapping")
	if len(mapping.v.Members()) == 0 {
		return n.v
	}
	members := make([]canon.Member, len(mapping.v.Members()))
	for i, m := range mapping.v.Members() {
		members[i] = m
		if text := m.Value.Text(); strings.ContainsAny(text, "#/") {
			if ref := refOf(b.ref(node{n.v, n.file, n.at}, text)); ref != "" {
				members[i].Value = canon.NewString(ref)
			}
		}
	}
	return n.v.With("mapping", canon.NewObject(members...))
}

// choiceOfItems reads the items of no array that are a list as what converters
// mean by it: a choice, which Swagger 2.0 has no word for.
func choiceOfItems(members []canon.Member) bool {
	at := -1
	for i, m := range members {
		switch {
		case m.Key == "type" || m.Key == "anyOf":
			return false
		case m.Key == "items" && m.Value.Is(canon.Array) && len(m.Value.Elems()) > 0:
			at = i
		}
	}
	if at >= 0 {
		members[at].Key = "anyOf"
	}
	return at >= 0
}

// normalise turns a type list of 3.1 with null in it, and the x-nullable of
// Swagger 2.0, into nullable; a type list of one is that one.
func normalise(members []canon.Member) (out []canon.Member, changed bool) {
	nullable := false
	for i, m := range members {
		switch {
		case m.Key == "type" && m.Value.Is(canon.Array):
			var types []*api.Value
			for _, t := range m.Value.Elems() {
				if t.Text() == "null" {
					nullable = true
					continue
				}
				types = append(types, t)
			}
			if len(types) == 1 {
				members[i].Value, changed = types[0], true
			} else {
				nullable = false // a list says it itself
			}
		case m.Key == "x-nullable" && m.Value.True():
			nullable = true
		}
	}
	for _, m := range members {
		if m.Key == "nullable" {
			return members, changed
		}
	}
	if nullable {
		return append(members, canon.Member{Key: "nullable", Value: canon.NewBool(true)}), true
	}
	return members, changed
}
