package graphql

import (
	"errors"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// maxTokens is how long a document may be. The longest that clients in the wild
// send have a few thousand tokens; the parser itself bounds the nesting.
const maxTokens = 100_000

// The kinds of operations.
const (
	Query        = "query"
	Mutation     = "mutation"
	Subscription = "subscription"
)

// A Document is a read document. It is immutable.
type Document struct {
	ast       *ast.QueryDocument // nil when it could not be read
	fragments map[string]*ast.FragmentDefinition
	errors    []*Error
}

// Parse reads a document. What is wrong with its syntax is in Errors.
func Parse(text string) *Document {
	parsed, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	switch {
	case err != nil:
		return &Document{errors: []*Error{syntaxError(err)}}
	case len(parsed.Operations) == 0:
		return &Document{errors: []*Error{{Message: "Syntax Error: the document has no operation.", Code: CodeInvalid}}}
	}
	d := &Document{ast: parsed, fragments: make(map[string]*ast.FragmentDefinition, len(parsed.Fragments))}
	for _, f := range parsed.Fragments {
		if d.fragments[f.Name] == nil {
			d.fragments[f.Name] = f
		}
	}
	return d
}

func syntaxError(err error) *Error {
	e := &Error{Message: "Syntax Error: " + err.Error(), Code: CodeInvalid}
	var g *gqlerror.Error
	if errors.As(err, &g) {
		e.Message = "Syntax Error: " + strings.TrimSuffix(g.Message, ".") + "."
		for _, l := range g.Locations {
			e.Locations = append(e.Locations, Location{l.Line, l.Column})
		}
	}
	return e
}

// Errors is what is wrong with the document, nil when nothing is. A document
// that a [Reader] with a schema read was also validated.
func (d *Document) Errors() []*Error { return d.errors }

// A RootField is what the plain reading takes from a document.
type RootField struct {
	Kind  string // Query, Mutation or Subscription
	Name  string
	Alias string // "" when it has none
}

// RootFields lists the root fields of the operation that has the name, of the
// first operation when none has; fragments are looked into, directives are not.
// It is empty when the document could not be read.
func (d *Document) RootFields(operation string) []RootField {
	if d.ast == nil {
		return nil
	}
	op := d.ast.Operations[0]
	for _, o := range d.ast.Operations {
		if o.Name != "" && o.Name == operation {
			op = o
			break
		}
	}
	var fields []RootField
	d.eachField(op.SelectionSet, func(f *ast.Field, _ string) {
		r := RootField{Kind: string(op.Operation), Name: f.Name}
		if f.Alias != f.Name {
			r.Alias = f.Alias
		}
		fields = append(fields, r)
	})
	return fields
}

// eachField calls visit with the fields of a selection set, those of its
// fragments in their place, each named fragment once. The condition is the type
// of the nearest fragment around the field, "" outside of one.
func (d *Document) eachField(set ast.SelectionSet, visit func(f *ast.Field, condition string)) {
	d.walkFields(set, "", map[string]bool{}, visit)
}

func (d *Document) walkFields(set ast.SelectionSet, condition string, seen map[string]bool, visit func(*ast.Field, string)) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			visit(s, condition)
		case *ast.InlineFragment:
			c := s.TypeCondition
			if c == "" {
				c = condition
			}
			d.walkFields(s.SelectionSet, c, seen, visit)
		case *ast.FragmentSpread:
			if f := d.fragments[s.Name]; f != nil && !seen[s.Name] {
				seen[s.Name] = true
				d.walkFields(f.SelectionSet, f.TypeCondition, seen, visit)
			}
		}
	}
}

// KindOf is the kind of the operation in a document that cannot be read: by its
// first word.
func KindOf(text string) string {
	text = strings.TrimLeft(text, "\uFEFF \t\r\n,")
	for _, kind := range []string{Mutation, Subscription} {
		if rest, ok := strings.CutPrefix(text, kind); ok && !startsName(rest) {
			return kind
		}
	}
	return Query
}

func startsName(s string) bool {
	return s != "" && (s[0] == '_' || s[0] >= '0' && s[0] <= '9' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 'a' && s[0] <= 'z')
}
