// Package archtest holds the architecture of this module as tests: which
// package may import which, what the deterministic core may not touch, and the
// habits that keep the code readable. Each rule stands in a table with its
// reason.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Tree is the Go source of one module, test files included. Folders named
// testdata or vendor, modules of their own, and those that begin with a dot or an underscore, are
// left out.
type Tree struct {
	Module   string // module path, from go.mod
	Packages []*Package
	fset     *token.FileSet
}

// A Package is one folder of Go files.
type Package struct {
	Dir   string // slash-separated, relative to the module root; "." for the root
	Name  string // of the files that are no tests
	Files []*File
}

// A File is one parsed Go file.
type File struct {
	Path  string // slash-separated, relative to the module root
	Test  bool   // its name ends in _test.go
	Lines int
	AST   *ast.File
}

// Load parses every Go file of the module whose root is root.
func Load(root fs.FS) (*Tree, error) {
	mod, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return nil, err
	}
	t := &Tree{fset: token.NewFileSet()}
	for line := range strings.Lines(string(mod)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			t.Module = strings.TrimSpace(name)
		}
	}
	if t.Module == "" {
		return nil, fmt.Errorf("go.mod: no module line")
	}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (ignored(path.Base(name)) || otherModule(root, name)):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		return t.add(root, name)
	})
	return t, err
}

// otherModule reports whether a folder is a module of its own.
func otherModule(root fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

func ignored(base string) bool {
	return base == "testdata" || base == "vendor" || base != "." && (base[0] == '.' || base[0] == '_')
}

func (t *Tree) add(root fs.FS, name string) error {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(t.fset, name, src, parser.ParseComments)
	if err != nil {
		return err
	}
	p := t.Package(path.Dir(name))
	if p == nil {
		p = &Package{Dir: path.Dir(name)}
		t.Packages = append(t.Packages, p)
	}
	f := &File{Path: name, Test: strings.HasSuffix(name, "_test.go"), Lines: strings.Count(string(src), "\n"), AST: parsed}
	if !f.Test {
		p.Name = parsed.Name.Name
	}
	p.Files = append(p.Files, f)
	return nil
}

// Package returns the package in a folder, nil when there is none.
func (t *Tree) Package(dir string) *Package {
	for _, p := range t.Packages {
		if p.Dir == dir {
			return p
		}
	}
	return nil
}

// Sources are the files of the package that are no tests.
func (p *Package) Sources() []*File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f *File) bool { return f.Test })
}

// Imports are the import paths of a file, in order.
func (f *File) Imports() []string {
	var paths []string
	for _, spec := range f.AST.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, name)
		}
	}
	return paths
}

// local is the folder of an import path of this module.
func (t *Tree) local(importPath string) (dir string, ok bool) {
	if importPath == t.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Module+"/")
}

// at names a position for a finding: "sim/call.go:12".
func (t *Tree) at(pos token.Pos) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// matches reports whether a folder is the pattern, or below it when the pattern
// ends in "/...".
func matches(pattern, dir string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}
