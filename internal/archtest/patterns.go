package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// checkPatterns finds regular expressions that are compiled when the process
// starts, and lazy ones whose text no compiler has seen: it must stand in the
// source, and compile.
func checkPatterns(t *Tree, p *Package) (findings []string) {
	for _, f := range p.Sources() {
		used := map[token.Pos]string{}
		for _, s := range selectors(f.AST) {
			used[s.pos] = s.name
		}
		for _, d := range f.AST.Decls {
			if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.VAR {
				findings = append(findings, atStart(t, gen, used)...)
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !strings.HasSuffix(used[call.Fun.Pos()], "/internal/pattern.Of") || len(call.Args) != 1 {
				return true
			}
			if err := compiles(call.Args[0]); err != nil {
				findings = append(findings, fmt.Sprintf("%s: %v", t.at(call.Pos()), err))
			}
			return true
		})
	}
	return findings
}

// atStart finds what compiles a pattern in the values of package variables, but
// for what their functions do when they are called.
func atStart(t *Tree, gen *ast.GenDecl, used map[token.Pos]string) (findings []string) {
	ast.Inspect(gen, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if name := used[x.Pos()]; strings.HasPrefix(name, "regexp.MustCompile") || strings.HasPrefix(name, "regexp.Compile") {
				findings = append(findings, fmt.Sprintf("%s uses %s for a package variable, want pattern.Of", t.at(x.Pos()), name))
			}
		}
		return true
	})
	return findings
}

// compiles tells why the text of a pattern cannot be used.
func compiles(e ast.Expr) error {
	text, ok := literal(e)
	if !ok {
		return errors.New("the text of a pattern is worked out, want a literal, which can be compiled here")
	}
	_, err := regexp.Compile(text)
	return err
}

// literal is the text of a string, or of several with + between them.
func literal(e ast.Expr) (string, bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(x.X)
		right, also := literal(x.Y)
		return left + right, ok && also && x.Op == token.ADD
	}
	return "", false
}
