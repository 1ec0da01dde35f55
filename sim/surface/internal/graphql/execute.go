package graphql

import (
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A Request is one operation of a document, ready to be answered root field by
// root field. It is for one goroutine.
type Request struct {
	Fields []*Field // in the order of the response

	schema    *Schema
	doc       *Document
	variables values
}

// A Field is one root field of a request.
type Field struct {
	Key       string // response key
	Binding   int    // index of the binding that answers it; -1 for __typename
	Variables []byte // the binding's inputs as a JSON object, in canonical spelling
	Location  Location

	root      string // name of the root type
	bound     *bound
	selection *selection
	request   *Request
}

// Prepare picks the operation that a request names, reads its variables, and
// binds the arguments of its root fields. Errors are what GraphQL calls request
// errors: nothing was run.
func (s *Schema) Prepare(d *Document, operation string, variables []byte) (*Request, []*Error) {
	if len(d.errors) > 0 {
		return nil, d.errors
	}
	op, e := d.pick(operation)
	if e != nil {
		return nil, []*Error{e}
	}
	vars, errs := coerce(op, variables)
	if errs != nil {
		return nil, errs
	}
	r := &Request{schema: s, doc: d, variables: vars}
	root := s.roots[string(op.Operation)]
	for _, sel := range r.collect([]ast.SelectionSet{op.SelectionSet}, "", "") {
		f := &Field{Key: sel.key, Binding: -1, Location: Location{sel.at.Line, sel.at.Column}, root: root.name, selection: sel, request: r}
		if b := root.field(sel.name, op.Name); b != nil && sel.name != "__typename" {
			f.Binding, f.bound = b.index, b
			f.Variables, e = b.inputs(sel.first, vars)
		}
		if e != nil {
			errs = append(errs, e)
		}
		r.Fields = append(r.Fields, f)
	}
	return r, errs
}

// pick is the operation of a request: the named one, or the only one.
func (d *Document) pick(name string) (*ast.OperationDefinition, *Error) {
	ops := d.ast.Operations
	if name == "" {
		if len(ops) > 1 {
			return nil, &Error{Message: "Must provide operation name if query contains multiple operations.", Code: CodeInvalid}
		}
		return ops[0], nil
	}
	for _, o := range ops {
		if o.Name == name {
			return o, nil
		}
	}
	return nil, &Error{Message: fmt.Sprintf("Unknown operation named %q.", name), Code: CodeInvalid}
}

// Ignored names the fields below a root field whose arguments nobody reads, as
// field.argument, each once.
func (f *Field) Ignored() (names []string) {
	for _, set := range f.selection.sets {
		f.request.doc.reachable(set, func(s ast.Selection, _ ast.DirectiveList) {
			below, ok := s.(*ast.Field)
			if !ok {
				return
			}
			for _, a := range below.Arguments {
				if name := below.Name + "." + a.Name; !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		})
	}
	return names
}

// inputs turns a field's arguments into the variables of its binding.
func (b *bound) inputs(f *ast.Field, vars values) ([]byte, *Error) {
	in := &object{}
	for _, a := range f.Arguments {
		known := b.argument(a.Name)
		var typ *ast.Type
		if known != nil {
			typ = known.typ
		}
		val, ok := appendValue(nil, a.Value, vars, typ)
		switch {
		case !ok:
			if known != nil && known.required {
				return nil, invalid(a.Position, "Argument %q of required type %q was provided a variable that was not provided a runtime value.", a.Name, known.typ)
			}
		case known == nil:
			in.set(a.Name, val)
		case known.required && string(val) == "null":
			return nil, invalid(a.Position, "Argument %q of non-null type %q must not be null.", a.Name, known.typ)
		default:
			if err := in.unify(known.pattern, val, a); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range b.free {
		if val, ok := vars[name]; ok && !in.has(name) {
			in.set(name, val)
		}
	}
	out := in.json()
	if !canon.Valid(out) { // all but its depth is right by construction
		return nil, invalid(f.Position, "The arguments of field %q nest deeper than %d levels.", f.Name, canon.MaxDepth)
	}
	return out, nil
}

func invalid(pos *ast.Position, format string, args ...any) *Error {
	e := problem(pos, format, args...)
	e.Code = CodeInvalid
	return e
}

// An object collects the variables of a binding.
type object struct {
	names  []string
	values map[string][]byte
}

func (o *object) has(name string) bool { _, ok := o.values[name]; return ok }

func (o *object) set(name string, val []byte) {
	if o.values == nil {
		o.values = map[string][]byte{}
	}
	if !o.has(name) {
		o.names = append(o.names, name)
	}
	o.values[name] = val
}

func (o *object) json() []byte {
	dst := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, name), ':')
		dst = append(dst, o.values[name]...)
	}
	return append(dst, '}')
}

// unify finds the variables of a compiled argument in the value that a client
// gives it: owner: $owner takes the whole value, input: {title: $title} the
// value's title.
func (o *object) unify(pattern *ast.Value, val []byte, a *ast.Argument) (failed *Error) {
	switch pattern.Kind {
	case ast.Variable:
		o.set(pattern.Raw, val)
	case ast.ObjectValue:
		canon.Members(val, func(key, member []byte) bool {
			name := canon.Unquote(key)
			part := pattern.Children.ForName(name)
			if part == nil {
				failed = invalid(a.Position, "Field %q is not an input of argument %q in the contract.", name, a.Name)
				return false
			}
			failed = o.unify(part, member, a)
			return failed == nil
		})
	default:
		if fixed, _ := appendValue(nil, pattern, nil, nil); string(fixed) != string(val) {
			failed = invalid(a.Position, "Argument %q takes only the value %s, which the contract fixes.", a.Name, pattern)
		}
	}
	return failed
}
