package compile_test

import (
	"path/filepath"
	"testing"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"os"
)

// GitHub's description: read as a tree only, compiled, and made a contract that
// can be served.
func BenchmarkGitHub(b *testing.B) {
	path := filepath.Join(specDir, "openapi3/github-rest.json.gz")
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("tree", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := air.ReadTree(path, data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := compile.CompileText("github.json.gz", data, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("serve", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := compile.Document(path, nil, &compile.Options{Approve: "all"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bundle", func(b *testing.B) {
		b.ReportAllocs()
		r, err := compile.Compile(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		dir := filepath.Join(b.TempDir(), "bundle")
		for b.Loop() {
			if err := r.Bundle().Write(dir); err != nil {
				b.Fatal(err)
			}
		}
	})
}
