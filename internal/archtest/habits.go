package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxFuncLines = 80  // of a function that is no test
	maxFileLines = 600 // of any file
)

// A habit is a rule about the text of files.
type habit struct {
	name  string
	why   string
	check func(t *Tree, p *Package) []string
}

func habits() []habit {
	return []habit{
		{"no init functions", "what runs at start is called from main, in an order that can be read", checkInit},
		{"no changing package variables", "state has an owner; two simulators in one process must not meet", checkVars},
		{"patterns wait", "every start would pay for a pattern that few of them use; internal/pattern has ones that compile at first use", checkPatterns},
		{"doc comments", "an exported name says its shape, units, defaults and errors", checkDocs},
		{"short functions", "a function that fits a screen can be checked by reading it", checkFuncLength},
		{"short files", "a file has one reason to change", checkFileLength},
		{"no bare TODO", "a note without words helps nobody", checkTodo},
	}
}

type selector struct {
	name string // "os.Exit", by import path and not by local name
	pos  token.Pos
}

// selectors lists the uses of names of imported packages.
func selectors(f *ast.File) (found []selector) {
	imported := map[string]string{}
	for _, spec := range f.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := full[strings.LastIndexByte(full, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = full
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// An identifier that the file itself declares is no package name.
		if id, ok := sel.X.(*ast.Ident); ok && id.Obj == nil && imported[id.Name] != "" {
			found = append(found, selector{imported[id.Name] + "." + sel.Sel.Name, sel.Pos()})
		}
		return true
	})
	return found
}

func checkInit(t *Tree, p *Package) (findings []string) {
	for _, f := range p.Files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				findings = append(findings, t.at(fn.Pos())+" declares init")
			}
		}
	}
	return findings
}

// checkVars finds package variables that hold state: ones without a value (but
// for embedded files), ones made by make or new, and ones that some function
// assigns to. A sync.Pool is allowed: what it holds is never seen.
func checkVars(t *Tree, p *Package) (findings []string) {
	vars := map[string]bool{}
	for _, f := range p.Sources() {
		for _, d := range f.AST.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					vars[name.Name] = name.Name != "_"
					if reason := stateful(gen, v, i); reason != "" {
						findings = append(findings, fmt.Sprintf("%s: %s %s", t.at(name.Pos()), name.Name, reason))
					}
				}
			}
		}
	}
	for _, f := range p.Sources() {
		for _, id := range assigned(f.AST) {
			if vars[id.Name] && packageLevel(f.AST, id) {
				findings = append(findings, fmt.Sprintf("%s assigns to the package variable %s", t.at(id.Pos()), id.Name))
			}
		}
	}
	return findings
}

func stateful(gen *ast.GenDecl, v *ast.ValueSpec, i int) string {
	if len(v.Values) == 0 {
		if commentHas(gen.Doc, "//go:embed") || commentHas(v.Doc, "//go:embed") {
			return ""
		}
		return "has no value, so it waits for one"
	}
	if i >= len(v.Values) {
		return ""
	}
	if call, ok := v.Values[i].(*ast.CallExpr); ok {
		if fn, ok := call.Fun.(*ast.Ident); ok && (fn.Name == "make" || fn.Name == "new") {
			return "is made to be filled"
		}
	}
	return ""
}

func commentHas(group *ast.CommentGroup, prefix string) bool {
	if group == nil {
		return false
	}
	for _, c := range group.List {
		if strings.HasPrefix(c.Text, prefix) {
			return true
		}
	}
	return false
}

// assigned lists the variables that the functions of a file change: by =, op=,
// ++, --, an element or field of them, delete or &.
func assigned(f *ast.File) (ids []*ast.Ident) {
	add := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.Ident:
				ids = append(ids, x)
				return
			default:
				return
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				for _, e := range s.Lhs {
					add(e)
				}
			}
		case *ast.IncDecStmt:
			add(s.X)
		case *ast.UnaryExpr:
			if s.Op == token.AND {
				add(s.X)
			}
		case *ast.CallExpr:
			if fn, ok := s.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear") && len(s.Args) > 0 {
				add(s.Args[0])
			}
		}
		return true
	})
	return ids
}

// packageLevel reports whether an identifier of a file means a variable of the
// package: one that this file declares outside functions, or none of this file.
func packageLevel(f *ast.File, id *ast.Ident) bool {
	return id.Obj == nil || f.Scope.Lookup(id.Name) == id.Obj
}

func checkDocs(t *Tree, p *Package) (findings []string) {
	documented := false
	for _, f := range p.Sources() {
		documented = documented || f.AST.Doc != nil
		if p.Name == "main" {
			continue
		}
		for _, d := range f.AST.Decls {
			for _, name := range undocumented(d) {
				findings = append(findings, fmt.Sprintf("%s: %s has no doc comment", t.at(d.Pos()), name))
			}
		}
	}
	if !documented && len(p.Sources()) > 0 {
		findings = append(findings, p.Dir+": the package has no doc comment")
	}
	return findings
}

func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || len(d.Specs) > 1) {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func checkFuncLength(t *Tree, p *Package) (findings []string) {
	for _, f := range p.Sources() {
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.fset.Position(fn.End()).Line - t.fset.Position(fn.Pos()).Line + 1; n > maxFuncLines {
				findings = append(findings, fmt.Sprintf("%s: %s has %d lines, want at most %d", t.at(fn.Pos()), fn.Name.Name, n, maxFuncLines))
			}
		}
	}
	return findings
}

func checkFileLength(_ *Tree, p *Package) (findings []string) {
	for _, f := range p.Files {
		if f.Lines > maxFileLines {
			findings = append(findings, fmt.Sprintf("%s has %d lines, want at most %d", f.Path, f.Lines, maxFileLines))
		}
	}
	return findings
}

func checkTodo(t *Tree, p *Package) (findings []string) {
	bare := regexp.MustCompile(`\b(TODO|FIXME|XXX)\b(\([^)]*\))?:?\s*$`)
	for _, f := range p.Files {
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				for _, line := range strings.Split(c.Text, "\n") {
					if bare.MatchString(strings.TrimSuffix(line, "*/")) {
						findings = append(findings, t.at(c.Pos())+": a note without words")
					}
				}
			}
		}
	}
	return findings
}
