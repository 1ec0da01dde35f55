package compile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/compile"
)

// The guide's manifest and profile are ones that are read, and it lists every
// diagnostic.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/compile.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of YAML, want 2", len(blocks))
	}
	if m, err := compile.ParseManifest("anvil.yaml", []byte(blocks[0][1])); err != nil || len(m.Overrides) != 4 {
		t.Errorf("manifest: %v, %v", m, err)
	}
	if _, err := compile.ParseProfile("profile.yaml", []byte(blocks[1][1])); err != nil {
		t.Errorf("profile: %v", err)
	}
	code := regexp.MustCompile(`"((?:approval|async|auth|body|effect|idempotency|input|manifest|name|operation|paging|param|path|ref|response|source)/[a-z_]+)", `)
	found := 0
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range code.FindAllSubmatch(source, -1) {
			found++
			if !strings.Contains(string(text), "`"+string(m[1])+"`") {
				t.Errorf("%s: the guide does not list %s", path, m[1])
			}
		}
		return err
	})
	if err != nil || found < 20 {
		t.Errorf("%d codes (%v)", found, err)
	}
}
