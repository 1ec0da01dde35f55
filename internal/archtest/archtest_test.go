package archtest

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the snapshots of the public API")

func loadModule(t *testing.T) *Tree {
	t.Helper()
	tree, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if tree.Package("internal/archtest") == nil {
		t.Fatal("the module was not found: this package is not in it")
	}
	return tree
}

func report(t *testing.T, findings []string) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

func TestArrows(t *testing.T) { report(t, checkArrows(loadModule(t), arrows())) }

func TestBans(t *testing.T) { report(t, checkBans(loadModule(t), bans())) }

func TestHabits(t *testing.T) {
	tree := loadModule(t)
	for _, h := range habits() {
		t.Run(h.name, func(t *testing.T) {
			for _, p := range tree.Packages {
				for _, f := range h.check(tree, p) {
					t.Errorf("%s (%s)", f, h.why)
				}
			}
		})
	}
}

// The public API is what these files say. After a change that is meant:
// go test ./internal/archtest -update
func TestAPI(t *testing.T) {
	tree := loadModule(t)
	stale := map[string]bool{}
	old, err := filepath.Glob("testdata/api/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		stale[name] = true
	}
	for _, p := range tree.Public() {
		got, err := tree.API(p)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("testdata", "api", strings.ReplaceAll(p.Dir, "/", "_")+".txt")
		delete(stale, name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%v; to write it: go test ./internal/archtest -update", err)
			continue
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("the API of %s changed (-was +is); when it is meant: go test ./internal/archtest -update\n%s", p.Dir, diff)
		}
	}
	for name := range stale {
		if !*update {
			t.Errorf("%s describes a package that is gone; go test ./internal/archtest -update removes it", name)
		} else if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// Each rule finds what it is for in a tree that breaks all of them.
func TestRulesCanFail(t *testing.T) {
	tree, err := Load(os.DirFS("testdata/bad"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	all = append(all, checkArrows(tree, arrows())...)
	all = append(all, checkBans(tree, bans())...)
	for _, h := range habits() {
		for _, p := range tree.Packages {
			all = append(all, h.check(tree, p)...)
		}
	}
	text := strings.Join(all, "\n") + "\n"
	want, err := os.ReadFile("testdata/bad/findings.txt")
	if *update {
		err = os.WriteFile("testdata/bad/findings.txt", []byte(text), 0o644)
		want = []byte(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("findings in testdata/bad (-want +got):\n%s", diff)
	}
	for _, must := range []string{
		"imports sim/surface", "no arrow covers this package", "imports net/http", "uses time.Now", "uses time.Sleep",
		"uses os.Exit", "reaches github.com/mattn/go-sqlite3 through store/store.go", "declares init",
		"has no value", "made to be filled", "assigns to the package variable table", "has no doc comment",
		"the package has no doc comment", "has 82 lines", "has 601 lines", "a note without words",
		"regexp.MustCompile for a package variable", "missing closing )", "is worked out",
	} {
		if !strings.Contains(text, must) {
			t.Errorf("no rule finds %q in testdata/bad", must)
		}
	}
}

// A row that nothing can reach is a mistake in the table.
func TestHiddenRows(t *testing.T) {
	tree, err := Load(os.DirFS("testdata/bad"))
	if err != nil {
		t.Fatal(err)
	}
	table := []arrow{{from: "sim/...", to: "*"}, {from: "sim", to: ""}, {from: "nowhere", to: ""}}
	found := strings.Join(checkArrows(tree, table), "\n")
	if !strings.Contains(found, "arrow of sim: an earlier row hides it") || strings.Contains(found, "nowhere") {
		t.Errorf("findings of a table with a hidden row:\n%s", found)
	}
	useless := []ban{{what: "os", in: "sim", except: "sim/..."}, {what: "os", in: "nowhere"}}
	found = strings.Join(checkBans(tree, useless), "\n")
	if found != "ban of os: it excepts every package that it is for" {
		t.Errorf("findings of a ban that looks at nothing:\n%s", found)
	}
}

func TestLoadNeedsModule(t *testing.T) {
	if _, err := Load(os.DirFS(t.TempDir())); err == nil {
		t.Error("a folder without go.mod loads")
	}
	if _, err := fs.Stat(os.DirFS("testdata/bad"), "go.mod"); err != nil {
		t.Error(err)
	}
}
