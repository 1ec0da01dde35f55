package graphql

import "github.com/vektah/gqlparser/v2/ast"

// eachDefinition calls visit with each operation and fragment.
func (d *Document) eachDefinition(visit func(set ast.SelectionSet, directives ast.DirectiveList)) {
	for _, o := range d.ast.Operations {
		visit(o.SelectionSet, o.Directives)
	}
	for _, f := range d.ast.Fragments {
		visit(f.SelectionSet, f.Directives)
	}
}

// eachSelection calls visit with each selection in a set, however deep; named
// fragments are not entered.
func eachSelection(set ast.SelectionSet, visit func(s ast.Selection, directives ast.DirectiveList)) {
	for _, s := range set {
		visit(s, directivesOf(s))
		switch s := s.(type) {
		case *ast.Field:
			eachSelection(s.SelectionSet, visit)
		case *ast.InlineFragment:
			eachSelection(s.SelectionSet, visit)
		}
	}
}

func directivesOf(s ast.Selection) ast.DirectiveList {
	switch s := s.(type) {
	case *ast.Field:
		return s.Directives
	case *ast.InlineFragment:
		return s.Directives
	case *ast.FragmentSpread:
		return s.Directives
	}
	return nil
}

// eachValue calls visit with a value and all in it.
func eachValue(v *ast.Value, visit func(*ast.Value)) {
	if v == nil {
		return
	}
	visit(v)
	for _, c := range v.Children {
		eachValue(c.Value, visit)
	}
}

func eachVariable(v *ast.Value, visit func(*ast.Value)) {
	eachValue(v, func(v *ast.Value) {
		if v.Kind == ast.Variable {
			visit(v)
		}
	})
}

// reachable calls visit with the selections of an operation, those of the named
// fragments it uses too, each fragment once.
func (d *Document) reachable(set ast.SelectionSet, visit func(s ast.Selection, directives ast.DirectiveList)) {
	seen := map[string]bool{}
	queue := []ast.SelectionSet{set}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		eachSelection(next, func(s ast.Selection, directives ast.DirectiveList) {
			visit(s, directives)
			spread, ok := s.(*ast.FragmentSpread)
			if !ok || seen[spread.Name] {
				return
			}
			seen[spread.Name] = true
			if f := d.fragments[spread.Name]; f != nil {
				queue = append(queue, f.SelectionSet)
			}
		})
	}
}
