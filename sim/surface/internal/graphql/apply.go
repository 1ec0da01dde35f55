package graphql

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A selection is one field of an object that a request asks for.
type selection struct {
	key, name string
	first     *ast.Field
	at        *ast.Position
	condition string // type of the nearest fragment around the first field
	sets      []ast.SelectionSet
	of        shape                   // of the field's values, below a root field
	children  map[string][]*selection // by the type that the values say they are
}

// collect lists the fields that selection sets ask of an object: fragments
// entered when their type condition applies, directives followed, fields of one
// response key merged. The actual type is what the object says it is, "" when it
// says nothing: then every condition applies.
func (r *Request) collect(sets []ast.SelectionSet, actual, declared string) []*selection {
	c := collector{r: r, actual: actual, declared: declared, byKey: map[string]*selection{}, seen: map[string]bool{}}
	for _, set := range sets {
		c.set(set, "")
	}
	return c.out
}

type collector struct {
	r                *Request
	actual, declared string
	byKey            map[string]*selection
	seen             map[string]bool
	out              []*selection
}

func (c *collector) set(set ast.SelectionSet, condition string) {
	for _, s := range set {
		if !c.r.included(directivesOf(s)) {
			continue
		}
		switch s := s.(type) {
		case *ast.Field:
			c.field(s, condition)
		case *ast.InlineFragment:
			c.fragment(s.TypeCondition, s.SelectionSet, condition)
		case *ast.FragmentSpread:
			if f := c.r.doc.fragments[s.Name]; !c.seen[s.Name] {
				c.seen[s.Name] = true
				c.fragment(f.TypeCondition, f.SelectionSet, condition)
			}
		}
	}
}

func (c *collector) fragment(typ string, set ast.SelectionSet, outer string) {
	if typ == "" {
		typ = outer
	}
	if typ == "" || c.actual == "" || typ == c.actual || typ == c.declared || c.r.schema.extends(c.actual, typ) {
		c.set(set, typ)
	}
}

func (c *collector) field(f *ast.Field, condition string) {
	s := c.byKey[f.Alias]
	if s == nil {
		s = &selection{key: f.Alias, name: f.Name, first: f, at: f.Position, condition: condition}
		c.byKey[f.Alias] = s
		c.out = append(c.out, s)
	}
	if f.SelectionSet != nil {
		s.sets = append(s.sets, f.SelectionSet)
	}
}

// included follows skip and include.
func (r *Request) included(directives ast.DirectiveList) bool {
	for _, d := range directives {
		if d.Name != "skip" && d.Name != "include" {
			continue
		}
		val, _ := appendValue(nil, d.Arguments.ForName("if").Value, r.variables, nil)
		if (string(val) == "true") == (d.Name == "skip") {
			return false
		}
	}
	return true
}

// Typename is the value of the root field __typename.
func (f *Field) Typename() []byte { return canon.AppendString(nil, f.root) }

// Select appends the field's value as its selection set asks for it. The value
// is what the state answered, in canonical spelling. Errors are values that have
// no fields where the request selects some; null stands in their place.
func (f *Field) Select(dst, value []byte) ([]byte, []*Error) {
	p := &projection{r: f.request, path: []any{f.Key}}
	dst = p.value(dst, value, f.selection, f.request.schema.shape(f.bound.Output, f.bound.OutputName))
	return dst, p.errs
}

// A projection applies selections to one value.
type projection struct {
	r    *Request
	path []any
	errs []*Error
}

func (p *projection) value(dst, val []byte, s *selection, of shape) []byte {
	switch {
	case len(val) == 0:
		return append(dst, "null"...)
	case s.sets == nil || string(val) == "null":
		return append(dst, val...)
	case val[0] == '[':
		return p.list(dst, val, s, of)
	case val[0] == '{':
		return p.object(dst, val, s, of)
	}
	if len(p.errs) < maxErrors {
		e := problem(s.at, "Field %q selects subfields, and the state answered %s.", s.name, short(val))
		e.Path, e.Code = slices.Clone(p.path), CodeMismatch
		p.errs = append(p.errs, e)
	}
	return append(dst, "null"...)
}

func (p *projection) list(dst, val []byte, s *selection, of shape) []byte {
	dst = append(dst, '[')
	i := 0
	canon.Elements(val, func(e []byte) bool {
		if i > 0 {
			dst = append(dst, ',')
		}
		p.path = append(p.path, i)
		dst = p.value(dst, e, s, of)
		p.path = p.path[:len(p.path)-1]
		i++
		return true
	})
	return append(dst, ']')
}

func (p *projection) object(dst, val []byte, s *selection, of shape) []byte {
	raw, _ := canon.Lookup(val, "__typename")
	actual := ""
	if len(raw) > 0 && raw[0] == '"' {
		actual = canon.Unquote(raw)
	}
	children, ok := s.children[actual]
	if !ok {
		children = p.r.collect(s.sets, actual, of.name)
		for _, c := range children {
			c.of = p.r.schema.property(of, c.name)
		}
		if s.children == nil {
			s.children = map[string][]*selection{}
		}
		s.children[actual] = children
	}
	var buf [32][]byte
	found := members(buf[:0], val, children)
	dst = append(dst, '{')
	for i, c := range children {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, c.key), ':')
		if c.name == "__typename" {
			dst = appendTypename(dst, actual, c, of)
			continue
		}
		p.path = append(p.path, c.key)
		dst = p.value(dst, found[i], c, c.of)
		p.path = p.path[:len(p.path)-1]
	}
	return append(dst, '}')
}

// members finds the values of the selected fields in one pass over an object.
func members(found [][]byte, val []byte, children []*selection) [][]byte {
	found = append(found, make([][]byte, len(children))...)
	canon.Members(val, func(key, member []byte) bool {
		for i, c := range children {
			// GraphQL names need no escape, so the key stands as it is.
			if string(key[1:len(key)-1]) == c.name {
				found[i] = member
			}
		}
		return true
	})
	return found
}

// appendTypename appends the type's name: what the object says, else what the
// contract says, else the type of the fragment that asks; null when nobody does.
func appendTypename(dst []byte, actual string, s *selection, of shape) []byte {
	for _, name := range []string{actual, of.name, s.condition} {
		if name != "" {
			return canon.AppendString(dst, name)
		}
	}
	return append(dst, "null"...)
}
