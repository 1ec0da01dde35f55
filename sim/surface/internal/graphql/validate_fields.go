package graphql

import (
	"math"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// rootFields checks what an operation selects: the bound root fields, their
// arguments, and the shape of what is below them.
func (v *validator) rootFields(op *ast.OperationDefinition) {
	root := v.schema.roots[string(op.Operation)]
	v.doc.eachField(op.SelectionSet, func(f *ast.Field, condition string) {
		if condition != "" && condition != root.name {
			v.problem(f.Position, "Fields of type %q cannot stand here: the root type is %q.", condition, root.name)
			return
		}
		switch f.Name {
		case "__typename":
			return
		case "__schema", "__type":
			e := problem(f.Position, "Introspection is not served: the contract binds operations and holds no GraphQL schema.")
			e.Code = CodeUnsupported
			v.add(e)
			return
		}
		b := root.field(f.Name, op.Name)
		if b == nil {
			e := problem(f.Position, "Cannot query field %q on type %q.", f.Name, root.name)
			e.Code = CodeUnsupported
			v.add(e)
			return
		}
		v.rootArguments(f, b, root.name)
	})
	v.merge([]ast.SelectionSet{op.SelectionSet}, shape{}, func(name string) shape {
		if b := root.field(name, op.Name); b != nil {
			return v.schema.shape(b.Output, b.OutputName)
		}
		return shape{}
	})
}

func (v *validator) rootArguments(f *ast.Field, b *bound, root string) {
	for _, a := range f.Arguments {
		if known := b.argument(a.Name); known != nil {
			v.literal(a.Value, known.typ)
		} else if !b.takes(a.Name) {
			v.problem(a.Position, "Unknown argument %q on field \"%s.%s\".", a.Name, root, f.Name)
		}
	}
	for _, known := range b.arguments {
		if known.required && f.Arguments.ForName(known.name) == nil {
			v.problem(f.Position, "Field %q argument %q of type %q is required, but it was not provided.", f.Name, known.name, known.typ)
		}
	}
}

// A group is the fields of one object that share a response key.
type group struct {
	key    string
	fields []groupField
	byCond map[string]*ast.Field // the first field of each condition
}

type groupField struct {
	*ast.Field
	condition string
}

// merge checks the selection sets of one object: fields under one response key
// must be one field, and fields have sub-selections where their shape asks for
// it.
func (v *validator) merge(sets []ast.SelectionSet, parent shape, shapeOf func(name string) shape) {
	if v.left < 0 {
		return
	}
	for _, g := range v.group(sets) {
		below := map[string][]ast.SelectionSet{}
		var names []string
		for _, f := range g.fields {
			v.declared(f, parent)
			if !v.leaf(f.Field, shapeOf(f.Name)) || f.SelectionSet == nil {
				continue
			}
			if below[f.Name] == nil {
				names = append(names, f.Name)
			}
			below[f.Name] = append(below[f.Name], f.SelectionSet)
		}
		for _, name := range names {
			of := shapeOf(name)
			v.merge(below[name], of, func(child string) shape { return v.schema.property(of, child) })
		}
	}
}

// group collects the fields of one object by response key, in document order,
// and reports those that cannot be one field.
func (v *validator) group(sets []ast.SelectionSet) (groups []*group) {
	byKey := map[string]*group{}
	seen := map[string]bool{}
	for _, set := range sets {
		v.doc.walkFields(set, "", seen, func(f *ast.Field, condition string) {
			if v.left--; v.left < 0 {
				if v.left == -1 {
					v.problem(f.Position, "The document selects more than %d fields once its fragments are expanded.", maxFields)
				}
				return
			}
			g := byKey[f.Alias]
			if g == nil {
				g = &group{key: f.Alias, byCond: map[string]*ast.Field{}}
				byKey[f.Alias] = g
				groups = append(groups, g)
			}
			v.conflict(g, f, condition)
			g.fields = append(g.fields, groupField{f, condition})
		})
	}
	return groups
}

// conflict reports a field that stands for the same objects as another one of
// its key and is another field.
func (v *validator) conflict(g *group, f *ast.Field, condition string) {
	same, any := g.byCond[condition], g.byCond[""]
	switch {
	case condition == "" && any == nil:
		for _, other := range g.fields {
			v.compare(g.key, other.Field, f)
		}
	case same != nil:
		v.compare(g.key, same, f)
	case any != nil:
		v.compare(g.key, any, f)
	}
	if same == nil {
		g.byCond[condition] = f
	}
}

func (v *validator) compare(key string, a, b *ast.Field) {
	reason := ""
	switch {
	case a.Name != b.Name:
		reason = strconv.Quote(a.Name) + " and " + strconv.Quote(b.Name) + " are different fields"
	case !sameArguments(a.Arguments, b.Arguments):
		reason = "they have differing arguments"
	default:
		return
	}
	v.add(problem(a.Position, "Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was intentional.",
		key, reason).also(b.Position))
}

func sameArguments(a, b ast.ArgumentList) bool {
	if len(a) != len(b) {
		return false
	}
	for _, arg := range a {
		other := b.ForName(arg.Name)
		if other == nil || other.Value.String() != arg.Value.String() {
			return false
		}
	}
	return true
}

// leaf checks whether a field has a sub-selection as far as its shape tells, and
// reports whether it may be followed.
func (v *validator) leaf(f *ast.Field, of shape) bool {
	kind := of.scalar()
	if f.Name == "__typename" {
		kind = "string"
	}
	switch {
	case kind != "" && f.SelectionSet != nil:
		v.problem(f.Position, "Field %q must not have a selection since type %q has no subfields.", f.Name, kind)
	case f.SelectionSet == nil && of.object():
		v.problem(f.Position, "Field %q%s must have a selection of subfields. Did you mean \"%s { ... }\"?", f.Name, of.ofType(), f.Name)
	default:
		return true
	}
	return false
}

func (of shape) ofType() string {
	if of.name == "" {
		return ""
	}
	return " of type " + strconv.Quote(of.name)
}

// declared reports a field of an object that has no other fields than the
// declared ones.
func (v *validator) declared(f groupField, of shape) {
	if f.Name == "__typename" || !of.closed() || f.condition != "" && f.condition != of.name {
		return
	}
	if of.schema.Get("properties").Get(f.Name) == nil {
		v.problem(f.Position, "Cannot query field %q on type %q.", f.Name, of.name)
	}
}

// literal checks a value against a type of the compiled document: the built-in
// scalars in it, lists and nulls. Other types are the vendor's to check.
func (v *validator) literal(val *ast.Value, typ *ast.Type) {
	switch {
	case typ == nil || val == nil:
	case val.Kind == ast.Variable:
		v.position(val, typ)
	case val.Kind == ast.NullValue:
		if typ.NonNull {
			v.problem(val.Position, "Expected value of type %q, found null.", typ)
		}
	case typ.Elem != nil && val.Kind == ast.ListValue:
		for _, c := range val.Children {
			v.literal(c.Value, typ.Elem)
		}
	case typ.Elem != nil:
		v.literal(val, typ.Elem)
	default:
		if reason := scalarReason(val, typ.NamedType); reason != "" {
			v.problem(placeOf(val), "%s: %s", reason, val)
		}
	}
}

// scalarReason says why a literal is not of a built-in scalar, "" when it may be.
func scalarReason(val *ast.Value, name string) string {
	switch k := val.Kind; name {
	case "Int":
		if k != ast.IntValue {
			return "Int cannot represent non-integer value"
		}
		if n, err := strconv.ParseInt(val.Raw, 10, 64); err != nil || n > math.MaxInt32 || n < math.MinInt32 {
			return "Int cannot represent non 32-bit signed integer value"
		}
	case "Float":
		if k != ast.IntValue && k != ast.FloatValue {
			return "Float cannot represent non numeric value"
		}
	case "String":
		if k != ast.StringValue && k != ast.BlockValue {
			return "String cannot represent a non string value"
		}
	case "Boolean":
		if k != ast.BooleanValue {
			return "Boolean cannot represent a non boolean value"
		}
	case "ID":
		if k != ast.StringValue && k != ast.BlockValue && k != ast.IntValue {
			return "ID cannot represent a non-string and non-integer value"
		}
	}
	return ""
}

// position checks that a variable's type fits where it is used.
func (v *validator) position(val *ast.Value, typ *ast.Type) {
	def := v.defined[val.Raw]
	if def == nil || def.Type == nil {
		return
	}
	hasDefault := def.DefaultValue != nil && def.DefaultValue.Kind != ast.NullValue
	if !fits(def.Type, typ, hasDefault) {
		v.add(problem(def.Position, "Variable \"$%s\" of type %q used in position expecting type %q.", val.Raw, def.Type, typ).also(val.Position))
	}
}

// fits reports whether a variable of a type may stand where another is expected.
// A default makes a nullable variable good for a non-null place.
func fits(have, want *ast.Type, hasDefault bool) bool {
	if want.NonNull && !have.NonNull && !hasDefault {
		return false
	}
	if want.Elem != nil {
		return have.Elem != nil && fits(have.Elem, want.Elem, false)
	}
	return have.Elem == nil && have.NamedType == want.NamedType
}
