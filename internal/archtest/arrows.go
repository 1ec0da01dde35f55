package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// leaves are the packages that everything may stand on.
const leaves = "internal/canon internal/media internal/ndjson internal/near internal/parallel internal/pattern internal/plural internal/secretname"

// An arrow says what a package may import from this module.
type arrow struct {
	from string // a folder, or a folder and all below it: "compile/..."
	to   string // patterns separated by spaces; "*" is everything
	why  string
}

// arrows has one row for every package. The first row that matches counts.
func arrows() []arrow {
	return []arrow{
		{"internal/canon", "", "the JSON policy stands below everything, so it can know nothing"},
		{"internal/ndjson", "internal/canon", "framing of lines knows text, not what a line means"},
		{"internal/cli", leaves, "what the commands share is about commands, not about simulation"},
		{"internal/conformance", leaves, "the referee must not share code with what it judges"},
		{"internal/archtest", "", "the rules must build when the rest does not"},
		{"internal/...", leaves, "internal helpers are leaves"},
		{"air/synth", "internal/canon", "seeded values need a schema and nothing of a contract"},
		{"air/route", "air " + leaves, "which operation a call is of is a matter of the contract alone"},
		{"air", leaves, "the contract model knows nobody who uses it"},
		{"provider/providertest", "provider " + leaves, "the kit checks a provider as its author sees it"},
		{"provider", leaves, "a provider author's dependency tree is this package"},
		{"trace", leaves, "a trace is read where no simulator is installed"},
		{"trace/...", "trace trace/... " + leaves, "expressions, rules, formats and pages stand on traces; no contract, no simulator"},
		{"compile/...", "air compile/... " + leaves, "compilers make contracts; what serves them is none of their business"},
		{"sim/surface/internal/...", leaves, "reading documents needs no simulator"},
		{"sim/surface", "sim air air/route provider trace sim/surface/internal/... " + leaves, "HTTP in and out stands on the core, never beside a storage"},
		{"sim/stdio", "provider " + leaves, "the host of a provider process knows the protocol alone"},
		{"sim/values", "air " + leaves, "a check of values knows schemas and no calls"},
		{"sim", "air air/synth provider trace " + leaves, "the core decides; it must not know how a call came or where state lives"},
		{"store/...", "provider air air/synth store/... " + leaves, "storages meet only in cmd"},
		{"recorder/...", "provider air air/route recorder/... internal/wholefile internal/coding " + leaves, "storages meet only in cmd"},
		{"replayer/...", "provider air air/route trace replayer/... internal/coding " + leaves, "storages meet only in cmd; a trace is a recording"},
		{"cmd/...", "*", "wiring"},
		{"bench", "*", "measuring"},
		{"testdata/...", "*", "data"},
	}
}

// checkArrows finds imports against the table, packages that no row covers, and
// rows that can never be reached.
func checkArrows(t *Tree, table []arrow) (findings []string) {
	used := make([]bool, len(table))
	for _, p := range t.Packages {
		i := slices.IndexFunc(table, func(a arrow) bool { return matches(a.from, p.Dir) })
		if i < 0 {
			findings = append(findings, fmt.Sprintf("%s: no arrow covers this package; add a row that says what it may import", p.Dir))
			continue
		}
		used[i] = true
		findings = append(findings, t.arrowFindings(p, table[i])...)
	}
	for i, a := range table {
		covers := slices.ContainsFunc(t.Packages, func(p *Package) bool { return matches(a.from, p.Dir) })
		if covers && !used[i] && !strings.HasSuffix(a.from, "/...") {
			findings = append(findings, fmt.Sprintf("arrow of %s: an earlier row hides it", a.from))
		}
	}
	return findings
}

func (t *Tree) arrowFindings(p *Package, a arrow) (findings []string) {
	if a.to == "*" {
		return nil
	}
	allowed := strings.Fields(a.to)
	for _, f := range p.Sources() {
		for _, name := range f.Imports() {
			if dir, ok := t.local(name); ok && dir != p.Dir && !matchesAny(allowed, dir) {
				findings = append(findings, fmt.Sprintf("%s imports %s, %s may import only [%s]: %s", f.Path, dir, a.from, a.to, a.why))
			}
		}
	}
	return findings
}

// A ban says which imports or calls may not stand in some packages.
type ban struct {
	what    string // import paths ("net/http") and calls ("time.Now"), separated by spaces
	in      string // patterns of folders; "*" is everywhere
	except  string // patterns of folders
	tests   bool   // test files too
	through bool   // also through imports inside this module
	why     string
}

func bans() []ban {
	return []ban{
		{what: "net/http net os os/exec os/signal syscall database/sql log math/rand math/rand/v2 crypto/rand runtime " +
			"time.Now time.Since time.Until time.Sleep time.After time.AfterFunc time.NewTimer time.NewTicker time.Tick",
			in: "sim air/synth", why: "determinism is an import rule, not a promise"},
		{what: "math/rand crypto/rand rand.Int rand.IntN rand.Int32 rand.Int32N rand.Int64 rand.Int64N rand.N rand.Uint32 rand.Uint32N " +
			"rand.Uint64 rand.Uint64N rand.Uint rand.UintN rand.Float32 rand.Float64 rand.NormFloat64 rand.ExpFloat64 rand.Perm rand.Shuffle",
			in: "*", except: "cmd/... bench",
			why: "the same calls give the same bytes; a generator of math/rand/v2 that is given its seed does too"},
		{what: "time.Now time.Since time.Until", in: "*", except: "cmd/... bench sim/stdio internal/cli internal/conformance",
			why: "a clock in an answer or a trace makes two runs differ; deadlines of a provider are the exception"},
		{what: "time.Sleep", in: "*", tests: true, why: "a sleep is too short on a slow machine and too long on a quick one; wait for the thing itself"},
		{what: "os.Exit os.Getenv os.LookupEnv os.Environ os.Args log.Fatal log.Fatalf log.Fatalln github.com/spf13/cobra github.com/spf13/pflag flag",
			in: "*", except: "cmd/... internal/cli bench", why: "a library takes its settings from its caller and returns its errors"},
		{what: "C github.com/mattn/go-sqlite3", in: "trace/... cmd/anvil-trace", through: true,
			why: "anvil-trace is one static file: CGO_ENABLED=0 go build ./cmd/anvil-trace"},
		{what: "net/http", in: "air/... compile/... trace/... store/... internal/canon internal/ndjson", except: "",
			why: "HTTP is spoken by the surface and the recorder"},
		{what: "database/sql github.com/mattn/go-sqlite3", in: "*", except: "store/... cmd/... bench",
			why: "one package knows SQLite and its settings"},
		{what: "github.com/dnaeon/go-vcr/v2/cassette github.com/dnaeon/go-vcr/v2/recorder", in: "*", except: "recorder/... replayer/... cmd/... bench",
			why: "its defaults need deciding in one place"},
		{what: "unsafe", in: "*", except: "store/internal/native", why: "it stands where memory is shared with C, and nowhere else"},
		{what: "encoding/gob reflect.DeepEqual", in: "*", why: "no use here is worth its surprises"},
	}
}

// checkBans finds what a ban forbids, and bans whose every package exists but
// that look at none.
func checkBans(t *Tree, table []ban) (findings []string) {
	for _, b := range table {
		looked := false
		for _, p := range t.Packages {
			if b.in != "*" && !matchesAny(strings.Fields(b.in), p.Dir) || matchesAny(strings.Fields(b.except), p.Dir) {
				continue
			}
			looked = true
			findings = append(findings, t.banFindings(p, b)...)
		}
		exists := func(p *Package) bool { return b.in == "*" || matchesAny(strings.Fields(b.in), p.Dir) }
		if !looked && slices.ContainsFunc(t.Packages, exists) {
			findings = append(findings, fmt.Sprintf("ban of %s: it excepts every package that it is for", b.what))
		}
	}
	return findings
}

func (t *Tree) banFindings(p *Package, b ban) (findings []string) {
	banned := strings.Fields(b.what)
	for _, f := range p.Files {
		if f.Test && !b.tests {
			continue
		}
		for _, name := range f.Imports() {
			if slices.Contains(banned, name) {
				findings = append(findings, fmt.Sprintf("%s imports %s: %s", f.Path, name, b.why))
			}
		}
		for _, s := range selectors(f.AST) {
			if slices.Contains(banned, s.name) {
				findings = append(findings, fmt.Sprintf("%s uses %s: %s", t.at(s.pos), s.name, b.why))
			}
		}
	}
	if b.through {
		findings = append(findings, t.reaches(p, banned, b.why)...)
	}
	return findings
}

// reaches follows the imports of this module and finds banned ones on the way.
func (t *Tree) reaches(from *Package, banned []string, why string) (findings []string) {
	seen := map[string]bool{from.Dir: true}
	for queue := []*Package{from}; len(queue) > 0; queue = queue[1:] {
		for _, f := range queue[0].Sources() {
			for _, name := range f.Imports() {
				dir, ok := t.local(name)
				if !ok && queue[0] != from && slices.Contains(banned, name) {
					findings = append(findings, fmt.Sprintf("%s reaches %s through %s: %s", from.Dir, name, f.Path, why))
				}
				if next := t.Package(dir); ok && next != nil && !seen[dir] {
					seen[dir] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return findings
}
