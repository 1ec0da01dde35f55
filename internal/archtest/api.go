package archtest

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/token"
	"slices"
	"strings"
)

// API prints the exported names of a package: one declaration after another,
// sorted, without bodies, comments and unexported fields.
func (t *Tree) API(p *Package) (string, error) {
	var decls []string
	for _, f := range p.Sources() {
		for _, d := range f.AST.Decls {
			for _, part := range exportedParts(d) {
				var b bytes.Buffer
				if err := (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&b, token.NewFileSet(), part); err != nil {
					return "", err
				}
				decls = append(decls, b.String())
			}
		}
	}
	slices.Sort(decls)
	return strings.Join(decls, "\n") + "\n", nil
}

// Public are the packages that other modules can import.
func (t *Tree) Public() []*Package {
	return slices.DeleteFunc(slices.Clone(t.Packages), func(p *Package) bool {
		return p.Name == "main" || p.Name == "" || slices.Contains(strings.Split(p.Dir, "/"), "internal")
	})
}

func exportedParts(d ast.Decl) (parts []ast.Node) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			parts = append(parts, &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s := exportedSpec(spec); s != nil {
				parts = append(parts, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{s}})
			}
		}
	}
	return parts
}

func exportedSpec(spec ast.Spec) ast.Spec {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			return &ast.TypeSpec{Name: s.Name, TypeParams: s.TypeParams, Assign: s.Assign, Type: exportedType(s.Type)}
		}
	case *ast.ValueSpec:
		var names []*ast.Ident
		for _, n := range s.Names {
			if n.IsExported() {
				names = append(names, n)
			}
		}
		if len(names) > 0 {
			return &ast.ValueSpec{Names: names, Type: s.Type, Values: basicValues(s.Values)}
		}
	}
	return nil
}

// basicValues keeps the values that are literals: the ones that a user sees.
func basicValues(values []ast.Expr) []ast.Expr {
	for _, v := range values {
		if _, ok := v.(*ast.BasicLit); !ok {
			return nil
		}
	}
	return values
}

func exportedType(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.StructType:
		return &ast.StructType{Struct: x.Struct, Fields: exportedFields(x.Fields)}
	case *ast.InterfaceType:
		return &ast.InterfaceType{Interface: x.Interface, Methods: plainFields(x.Methods)}
	}
	return e
}

func exportedFields(list *ast.FieldList) *ast.FieldList {
	out := &ast.FieldList{Opening: list.Opening, Closing: list.Closing}
	for _, f := range plainFields(list).List {
		f.Names = slices.DeleteFunc(slices.Clone(f.Names), func(n *ast.Ident) bool { return !n.IsExported() })
		if len(f.Names) > 0 || embedded(f) {
			out.List = append(out.List, f)
		}
	}
	return out
}

// embedded reports whether a field (its unexported names taken away) was
// declared without a name.
func embedded(f *ast.Field) bool {
	return f.Names == nil
}

// plainFields are the fields without their comments.
func plainFields(list *ast.FieldList) *ast.FieldList {
	out := &ast.FieldList{Opening: list.Opening, Closing: list.Closing}
	for _, f := range list.List {
		out.List = append(out.List, &ast.Field{Names: f.Names, Type: f.Type, Tag: f.Tag})
	}
	return out
}
