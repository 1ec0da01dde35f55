package graphql

import (
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// The codes of errors that this package makes: those of the calls' own errors.
const (
	CodeInvalid     = "validation_error"
	CodeUnsupported = "unsupported_operation"
	CodeMismatch    = "schema_mismatch"
)

const (
	maxErrors = 50     // that are reported of one document
	maxFields = 50_000 // that a document may select once its fragments are expanded
)

// A validator finds what is wrong with a document.
type validator struct {
	schema *Schema
	doc    *Document
	errs   []*Error
	seen   map[string]bool // errors by text and place: fragments are met again
	left   int             // of maxFields

	// Of the operation that is being checked.
	defined map[string]*ast.VariableDefinition
}

// validate checks a document by the rules of the GraphQL specification that need
// no more schema than there is.
func (s *Schema) validate(d *Document) []*Error {
	v := &validator{schema: s, doc: d, seen: map[string]bool{}, left: maxFields}
	v.operations()
	v.fragments()
	d.eachDefinition(v.structure)
	if len(v.errs) > 0 {
		return v.errs // what follows walks along fragments
	}
	for _, op := range d.ast.Operations {
		v.variables(op)
		v.rootFields(op)
	}
	return v.errs
}

func (v *validator) add(e *Error) {
	key := fmt.Sprint(e.Message, e.Locations)
	if v.seen[key] || len(v.errs) >= maxErrors {
		return
	}
	v.seen[key] = true
	if e.Code == "" {
		e.Code = CodeInvalid
	}
	v.errs = append(v.errs, e)
}

func (v *validator) problem(pos *ast.Position, format string, args ...any) {
	v.add(problem(pos, format, args...))
}

func (v *validator) operations() {
	ops := v.doc.ast.Operations
	first := map[string]*ast.OperationDefinition{}
	for _, o := range ops {
		switch {
		case o.Name == "" && len(ops) > 1:
			v.problem(o.Position, "This anonymous operation must be the only defined operation.")
		case o.Name != "" && first[o.Name] != nil:
			v.add(problem(first[o.Name].Position, "There can be only one operation named %q.", o.Name).also(o.Position))
		}
		if first[o.Name] == nil {
			first[o.Name] = o
		}
		if o.Operation == Subscription {
			e := problem(o.Position, "Subscriptions are not served: they have no request and response form.")
			e.Code = CodeUnsupported
			v.add(e)
		}
	}
}

func (v *validator) fragments() {
	used := map[string]bool{}
	v.doc.eachDefinition(func(set ast.SelectionSet, _ ast.DirectiveList) {
		eachSelection(set, func(s ast.Selection, _ ast.DirectiveList) {
			if spread, ok := s.(*ast.FragmentSpread); ok && v.doc.fragments[spread.Name] == nil {
				v.problem(spread.Position, "Unknown fragment %q.", spread.Name)
			}
		})
	})
	for _, o := range v.doc.ast.Operations {
		v.doc.reachable(o.SelectionSet, func(s ast.Selection, _ ast.DirectiveList) {
			if spread, ok := s.(*ast.FragmentSpread); ok {
				used[spread.Name] = true
			}
		})
	}
	for _, f := range v.doc.ast.Fragments {
		first := v.doc.fragments[f.Name]
		switch {
		case first != f:
			v.add(problem(first.Position, "There can be only one fragment named %q.", f.Name).also(f.Position))
		case !used[f.Name]:
			v.problem(f.Position, "Fragment %q is never used.", f.Name)
		case len(f.VariableDefinition) > 0:
			v.problem(f.Position, "Fragment %q defines variables, which GraphQL does not allow.", f.Name)
		}
	}
	v.cycles()
}

// cycles finds fragments that spread themselves.
func (v *validator) cycles() {
	const onPath, done = 1, 2
	state := map[string]int{}
	var visit func(f *ast.FragmentDefinition)
	visit = func(f *ast.FragmentDefinition) {
		state[f.Name] = onPath
		eachSelection(f.SelectionSet, func(s ast.Selection, _ ast.DirectiveList) {
			spread, ok := s.(*ast.FragmentSpread)
			if !ok {
				return
			}
			next := v.doc.fragments[spread.Name]
			switch {
			case next == nil || state[spread.Name] == done:
			case state[spread.Name] == onPath:
				v.problem(spread.Position, "Cannot spread fragment %q within itself.", spread.Name)
			default:
				visit(next)
			}
		})
		state[f.Name] = done
	}
	for _, f := range v.doc.ast.Fragments {
		if state[f.Name] == 0 && v.doc.fragments[f.Name] == f {
			visit(f)
		}
	}
}

// structure checks one definition: directives, and names that may stand once.
func (v *validator) structure(set ast.SelectionSet, directives ast.DirectiveList) {
	v.directives(directives, false)
	eachSelection(set, func(s ast.Selection, directives ast.DirectiveList) {
		v.directives(directives, true)
		if f, ok := s.(*ast.Field); ok {
			v.arguments(f.Arguments)
		}
	})
}

func (v *validator) arguments(args ast.ArgumentList) {
	first := map[string]*ast.Argument{}
	for _, a := range args {
		if f := first[a.Name]; f != nil {
			v.add(problem(f.Position, "There can be only one argument named %q.", a.Name).also(a.Position))
			continue
		}
		first[a.Name] = a
		eachValue(a.Value, v.objectFields)
	}
}

func (v *validator) objectFields(val *ast.Value) {
	if val.Kind != ast.ObjectValue {
		return
	}
	first := map[string]*ast.ChildValue{}
	for _, c := range val.Children {
		if f := first[c.Name]; f != nil {
			v.add(problem(f.Position, "There can be only one input field named %q.", c.Name).also(c.Position))
			continue
		}
		first[c.Name] = c
	}
}

func (v *validator) directives(list ast.DirectiveList, selection bool) {
	for i, d := range list {
		conditional := d.Name == "skip" || d.Name == "include"
		switch {
		case !v.schema.directives[d.Name]:
			v.problem(d.Position, "Unknown directive \"@%s\".", d.Name)
			continue
		case conditional && !selection:
			v.problem(d.Position, "Directive \"@%s\" may not be used on an operation or a fragment definition.", d.Name)
			continue
		case conditional && slices.ContainsFunc(list[:i], func(o *ast.Directive) bool { return o.Name == d.Name }):
			v.problem(d.Position, "The directive \"@%s\" can only be used once at this location.", d.Name)
		}
		v.arguments(d.Arguments)
		if conditional {
			v.condition(d)
		}
	}
}

// condition checks the argument of skip and include.
func (v *validator) condition(d *ast.Directive) {
	for _, a := range d.Arguments {
		if a.Name != "if" {
			v.problem(a.Position, "Unknown argument %q on directive \"@%s\".", a.Name, d.Name)
		}
	}
	a := d.Arguments.ForName("if")
	switch {
	case a == nil:
		v.problem(d.Position, "Directive \"@%s\" argument \"if\" of type \"Boolean!\" is required, but it was not provided.", d.Name)
	case a.Value.Kind != ast.Variable && a.Value.Kind != ast.BooleanValue:
		v.problem(placeOf(a.Value), "Boolean cannot represent a non boolean value: %s", a.Value)
	}
}

// variables checks the variables that an operation defines and uses.
func (v *validator) variables(op *ast.OperationDefinition) {
	v.defined = map[string]*ast.VariableDefinition{}
	for _, def := range op.VariableDefinitions {
		if v.defined[def.Variable] != nil {
			v.add(problem(v.defined[def.Variable].Position, "There can be only one variable named \"$%s\".", def.Variable).also(def.Position))
			continue
		}
		v.defined[def.Variable] = def
		if def.DefaultValue != nil {
			v.literal(def.DefaultValue, def.Type)
		}
	}
	used := v.used(op)
	var free map[string]bool
	for _, def := range op.VariableDefinitions {
		if used[def.Variable] {
			continue
		}
		if free == nil {
			free = v.free(op)
		}
		if !free[def.Variable] {
			v.problem(def.Position, "Variable \"$%s\" is never used%s.", def.Variable, inOperation(op))
		}
	}
}

// used is the variables that an operation uses; ones that it does not define are
// reported.
func (v *validator) used(op *ast.OperationDefinition) map[string]bool {
	used := map[string]bool{}
	all := func(args ast.ArgumentList) {
		for _, a := range args {
			eachVariable(a.Value, func(val *ast.Value) {
				used[val.Raw] = true
				if v.defined[val.Raw] == nil {
					v.problem(val.Position, "Variable \"$%s\" is not defined%s.", val.Raw, byOperation(op))
				}
			})
		}
	}
	for _, d := range op.Directives {
		all(d.Arguments)
	}
	v.doc.reachable(op.SelectionSet, func(s ast.Selection, directives ast.DirectiveList) {
		for _, d := range directives {
			all(d.Arguments)
			if a := d.Arguments.ForName("if"); a != nil && (d.Name == "skip" || d.Name == "include") {
				v.literal(a.Value, ast.NonNullNamedType("Boolean", nil))
			}
		}
		if f, ok := s.(*ast.Field); ok {
			all(f.Arguments)
		}
	})
	return used
}

// free is the inputs of an operation's root fields that no argument carries:
// compiled documents define variables for them and do not use them.
func (v *validator) free(op *ast.OperationDefinition) map[string]bool {
	root, free := v.schema.roots[string(op.Operation)], map[string]bool{}
	v.doc.eachField(op.SelectionSet, func(f *ast.Field, _ string) {
		if b := root.field(f.Name, op.Name); b != nil {
			for _, name := range b.free {
				free[name] = true
			}
		}
	})
	return free
}

func byOperation(op *ast.OperationDefinition) string {
	if op.Name == "" {
		return ""
	}
	return fmt.Sprintf(" by operation %q", op.Name)
}

func inOperation(op *ast.OperationDefinition) string {
	if op.Name == "" {
		return ""
	}
	return fmt.Sprintf(" in operation %q", op.Name)
}
