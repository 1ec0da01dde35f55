package graphql

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A Binding is one operation of a contract, bound to a root field.
type Binding struct {
	Document   string       // as compiled
	Operation  string       // the operation's name in the document
	Kind       string       // Query or Mutation
	Type       string       // the root type's name; "": Query or Mutation
	Field      string       // the root field
	Inputs     []string     // declared inputs, which are the document's variables
	Open       bool         // the contract lists no inputs, so any argument is one
	Output     *canon.Value // declared schema of the field's value, nil when there is none
	OutputName string       // name of that schema's type, "" when it has none
}

// A Schema is what a contract tells about its GraphQL API: see the package
// comment. It is immutable.
type Schema struct {
	schemas    *canon.Value // named schemas, what $ref refers to
	roots      map[string]*rootType
	directives map[string]bool
}

type rootType struct {
	name   string
	fields map[string][]*bound
}

// A bound is a binding with its compiled document read.
type bound struct {
	Binding
	index     int
	arguments []boundArgument
	free      []string // inputs that no argument of the document carries
}

// A boundArgument is an argument of the compiled root field.
type boundArgument struct {
	name     string
	pattern  *ast.Value // of variables: where each input stands in the argument
	typ      *ast.Type  // of an argument that is one variable, else nil
	required bool
}

// NewSchema makes the schema of a contract's bindings. Of several bindings of
// one root field the one that is named like the client's operation is called,
// else the first.
func NewSchema(bindings []Binding, schemas *canon.Value) *Schema {
	s := &Schema{
		schemas:    schemas,
		roots:      map[string]*rootType{Query: {name: "Query"}, Mutation: {name: "Mutation"}},
		directives: map[string]bool{"skip": true, "include": true},
	}
	for i, b := range bindings {
		root := s.roots[b.Kind]
		if root == nil {
			continue
		}
		if root.fields == nil {
			root.fields = map[string][]*bound{}
			if b.Type != "" {
				root.name = b.Type
			}
		}
		root.fields[b.Field] = append(root.fields[b.Field], s.bind(i, b))
	}
	return s
}

func (s *Schema) bind(index int, b Binding) *bound {
	out := &bound{Binding: b, index: index}
	d := Parse(b.Document)
	if d.ast == nil {
		out.free = b.Inputs
		return out
	}
	op := d.operation(b.Operation)
	s.allowDirectives(d)
	types := map[string]*ast.VariableDefinition{}
	for _, v := range op.VariableDefinitions {
		types[v.Variable] = v
	}
	carried := map[string]bool{}
	d.eachField(op.SelectionSet, func(f *ast.Field, _ string) {
		if f.Name != b.Field || out.arguments != nil {
			return
		}
		for _, a := range f.Arguments {
			arg := boundArgument{name: a.Name, pattern: a.Value}
			if def := types[a.Value.Raw]; a.Value.Kind == ast.Variable && def != nil {
				arg.typ = def.Type
				arg.required = def.Type.NonNull && def.DefaultValue == nil
			}
			eachVariable(a.Value, func(v *ast.Value) { carried[v.Raw] = true })
			out.arguments = append(out.arguments, arg)
		}
	})
	for _, in := range b.Inputs {
		if !carried[in] {
			out.free = append(out.free, in)
		}
	}
	return out
}

// allowDirectives takes the directives that a compiled document uses for ones
// that the API has.
func (s *Schema) allowDirectives(d *Document) {
	d.eachDefinition(func(set ast.SelectionSet, directives ast.DirectiveList) {
		for _, dir := range directives {
			s.directives[dir.Name] = true
		}
		eachSelection(set, func(_ ast.Selection, directives ast.DirectiveList) {
			for _, dir := range directives {
				s.directives[dir.Name] = true
			}
		})
	})
}

// operation is the operation with a name, else the first.
func (d *Document) operation(name string) *ast.OperationDefinition {
	for _, o := range d.ast.Operations {
		if o.Name != "" && o.Name == name {
			return o
		}
	}
	return d.ast.Operations[0]
}

// field finds what is bound to a root field, nil when nothing is.
func (r *rootType) field(name, operation string) *bound {
	all := r.fields[name]
	if i := slices.IndexFunc(all, func(b *bound) bool { return b.Operation != "" && b.Operation == operation }); i >= 0 {
		return all[i]
	}
	if len(all) > 0 {
		return all[0]
	}
	return nil
}

func (b *bound) argument(name string) *boundArgument {
	for i := range b.arguments {
		if b.arguments[i].name == name {
			return &b.arguments[i]
		}
	}
	return nil
}

// takes reports whether an argument that the compiled document does not have is
// an input of its own.
func (b *bound) takes(name string) bool { return b.Open || slices.Contains(b.free, name) }

// A shape is what is known about the values at a place. The zero shape is
// nothing.
type shape struct {
	schema *canon.Value
	name   string // of the type, "" when it has none
}

// maxHops is how many references, list types and one-branch unions are followed
// to a shape.
const maxHops = 32

// maxAllOf is how deep allOf is followed inside allOf.
const maxAllOf = 8

// shape follows a schema to the type of its values: through references, items
// of lists, and choices of which all but one are null.
func (s *Schema) shape(v *canon.Value, name string) shape {
	for range maxHops {
		switch next, ref := s.step(v); {
		case ref != "":
			v, name = next, ref
		case next != nil:
			v, name = next, ""
		default:
			if name == "" {
				name = ownName(v)
			}
			return shape{v, name}
		}
	}
	return shape{}
}

func (s *Schema) step(v *canon.Value) (next *canon.Value, name string) {
	if ref := v.Get("$ref").Text(); ref != "" {
		name = ref[strings.LastIndexByte(ref, '/')+1:]
		return s.schemas.Get(name), name
	}
	if items := v.Get("items"); items != nil {
		return items, ""
	}
	if v.Get("properties") != nil {
		return nil, ""
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		var branches []*canon.Value
		for _, b := range v.Get(key).Elems() {
			if b.Get("type").Text() != "null" {
				branches = append(branches, b)
			}
		}
		if len(branches) == 1 {
			return branches[0], ""
		}
	}
	return nil, ""
}

// ownName is the type's name that a schema itself gives: a fixed __typename, or
// a title that could be a name.
func ownName(v *canon.Value) string {
	t := v.Get("properties").Get("__typename")
	if name := t.Get("const").Text(); name != "" {
		return name
	}
	if enum := t.Get("enum").Elems(); len(enum) == 1 {
		return enum[0].Text()
	}
	if title := v.Get("title").Text(); isName(title) {
		return title
	}
	return ""
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !startsName(s[i:]) {
			return false
		}
	}
	return true
}

// property is the shape of an object's field.
func (s *Schema) property(of shape, name string) shape {
	var out shape
	if v := s.lookup(of.schema, name, maxAllOf); v != nil {
		out = s.shape(v, "")
	}
	if name == "pageInfo" && out.name == "" && out.scalar() == "" {
		out.name = "PageInfo" // Relay's connections fix the name
	}
	return out
}

func (s *Schema) lookup(schema *canon.Value, name string, depth int) *canon.Value {
	if v := schema.Get("properties").Get(name); v != nil || depth == 0 {
		return v
	}
	for _, part := range schema.Get("allOf").Elems() {
		if v := s.lookup(s.shape(part, "").schema, name, depth-1); v != nil {
			return v
		}
	}
	return nil
}

// scalar names the JSON type of values that have no fields, "" for others and
// for what is not known.
func (of shape) scalar() string {
	t := of.schema.Get("type")
	name := t.Text()
	for _, e := range t.Elems() {
		if e.Text() != "null" && name == "" {
			name = e.Text()
		}
	}
	switch name {
	case "string", "integer", "number", "boolean":
		return name
	}
	return ""
}

// object reports whether the values are objects with declared fields.
func (of shape) object() bool { return len(of.schema.Get("properties").Members()) > 0 }

// closed reports whether the values have no other fields than the declared ones.
func (of shape) closed() bool {
	extra := of.schema.Get("additionalProperties")
	return of.object() && extra.Is(canon.Bool) && !extra.True() && of.schema.Get("allOf") == nil
}

// extends reports whether a type is made of another one, as its schema says.
func (s *Schema) extends(name, other string) bool {
	for _, part := range s.schemas.Get(name).Get("allOf").Elems() {
		if s.shape(part, "").name == other {
			return true
		}
	}
	return false
}
