package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A Bundle is a directory with a contract and what it was made from:
//
//	air.yaml          the contract, for people
//	air.json          the same document
//	diagnostics.json  the decisions that a reviewer should look at
//	approvals.json    who approved which bytes of which operation
//	source.json       the files read, with their hashes
//	source/           these files, verbatim
type Bundle struct {
	Tree        *api.Value
	Diagnostics []api.Diagnostic
	Approvals   []Approval
	Sources     []Source
}

// A Source is one file that a contract was made from.
type Source struct {
	Path string // slash-separated, in source/
	Data []byte
	Hash string // SHA-256, hexadecimal
}

// Bundle is the result as a bundle without approvals.
func (r *Result) Bundle() *Bundle {
	b := &Bundle{Tree: r.Tree, Diagnostics: r.Diagnostics}
	for _, f := range r.Sources {
		b.Sources = append(b.Sources, Source{f.Path, f.Data, f.Hash})
	}
	return b
}

// Files of a bundle.
const (
	airYAML         = "air.yaml"
	airJSON         = "air.json"
	diagnosticsFile = "diagnostics.json"
	approvalsFile   = "approvals.json"
	sourceFile      = "source.json"
	sourceDir       = "source"
)

// ReadBundle reads a bundle. The contract is that of air.yaml; a source whose
// bytes are not those that its hash names is an error.
func ReadBundle(dir string) (*Bundle, error) {
	text, err := os.ReadFile(filepath.Join(dir, airYAML))
	if err != nil {
		return nil, noBundle(dir, err)
	}
	b := &Bundle{}
	if b.Tree, err = air.ReadTree(filepath.Join(dir, airYAML), text); err != nil {
		return nil, err
	}
	list, err := readJSON(filepath.Join(dir, diagnosticsFile))
	if err != nil {
		return nil, err
	}
	for _, d := range list.Elems() {
		b.Diagnostics = append(b.Diagnostics, api.Diagnostic{
			Level: d.Get("level").Text(), Code: d.Get("code").Text(), Message: d.Get("message").Text(),
			Operation: d.Get("operationId").Text(), Path: d.Get("path").Text(),
		})
	}
	if b.Approvals, err = readApprovals(dir); err != nil {
		return nil, err
	}
	b.Sources, err = readSources(dir)
	return b, err
}

// noBundle says of what is not the directory of a bundle what it is instead.
func noBundle(dir string, err error) error {
	switch info, statErr := os.Stat(dir); {
	case errors.Is(statErr, fs.ErrNotExist):
		return missingBundle(dir + " does not exist, want the directory of a bundle")
	case statErr == nil && !info.IsDir():
		return fmt.Errorf("%s is a file, want the directory of a bundle, as anvil-sim compile makes it", dir)
	case errors.Is(err, fs.ErrNotExist):
		return missingBundle(dir + " is no bundle: it has no " + airYAML)
	}
	return err
}

// missingBundle is the error of a directory that holds no bundle.
type missingBundle string

func (m missingBundle) Error() string { return string(m) }
func (missingBundle) Unwrap() error   { return fs.ErrNotExist }

// readJSON reads one of a bundle's own files; nil when it is not there.
func readJSON(path string) (*api.Value, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := canon.Parse(text, canon.Strict)
	if err != nil {
		return nil, fmt.Errorf("%s: not JSON: %w", path, err)
	}
	return v, nil
}

func readSources(dir string) ([]Source, error) {
	list, err := readJSON(filepath.Join(dir, sourceFile))
	if err != nil {
		return nil, err
	}
	var out []Source
	for _, e := range list.Elems() {
		name := e.Get("path").Text()
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: the path %q leaves the bundle", filepath.Join(dir, sourceFile), name)
		}
		data, err := os.ReadFile(filepath.Join(dir, sourceDir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		hash := hex.EncodeToString(sum[:])
		if want := e.Get("sha256").Text(); hash != want {
			return nil, fmt.Errorf("%s: its bytes hash to %s, %s says %s; compile the bundle again",
				filepath.Join(dir, sourceDir, name), hash, sourceFile, want)
		}
		out = append(out, Source{name, data, hash})
	}
	return out, nil
}

// Write writes the bundle to a directory, whole or not at all: it is made beside
// it and put in its place at the end. A directory that is there must be a
// bundle, or empty.
func (b *Bundle) Write(dir string) error {
	if _, err := air.FromTree(filepath.Join(dir, airYAML), b.Tree); err != nil {
		return err
	}
	if err := replaceable(dir); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, "."+filepath.Base(filepath.Clean(dir))+".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := b.writeFiles(tmp); err != nil {
		return err
	}
	return swap(tmp, filepath.Clean(dir))
}

// replaceable reports why a directory must not be written over.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) == 0 || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == airYAML }) {
		return nil
	}
	return fmt.Errorf("%s: a directory that is no bundle (it has no %s); it is not written over", dir, airYAML)
}

func (b *Bundle) writeFiles(dir string) error {
	files := []struct {
		name string
		data []byte
	}{
		{airYAML, AppendYAML(nil, b.Tree)},
		{airJSON, append(b.Tree.AppendJSON(nil), '\n')},
		{diagnosticsFile, lines(diagnosticValues(b.Diagnostics))},
		{sourceFile, lines(sourceValues(b.Sources))},
	}
	for _, f := range files {
		if err := writeSynced(filepath.Join(dir, f.name), f.data); err != nil {
			return err
		}
	}
	if len(b.Approvals) > 0 {
		if err := writeSynced(filepath.Join(dir, approvalsFile), lines(approvalValues(b.Approvals))); err != nil {
			return err
		}
	}
	for _, s := range b.Sources {
		path := filepath.Join(dir, sourceDir, filepath.FromSlash(s.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := writeSynced(path, s.Data); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// lines writes a list of objects, one a line, so that a change of one shows as
// one line.
func lines(list []*api.Value) []byte {
	out := []byte("[")
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, "\n  "...)
		out = v.AppendJSON(out)
	}
	if len(list) > 0 {
		out = append(out, '\n')
	}
	return append(out, "]\n"...)
}

func diagnosticValues(list []api.Diagnostic) []*api.Value {
	var out []*api.Value
	for _, d := range list {
		out = append(out, diagnosticValue(d))
	}
	return out
}

func sourceValues(list []Source) []*api.Value {
	var out []*api.Value
	for _, s := range list {
		out = append(out, object("path", s.Path, "sha256", s.Hash, "bytes", len(s.Data)))
	}
	return out
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// swap puts a finished directory in the place of another.
func swap(tmp, dir string) error {
	old := tmp + ".old"
	err := os.Rename(dir, old)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = ""
	case err != nil:
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, dir))
		}
		return err
	}
	if old != "" {
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	return syncDir(filepath.Dir(dir))
}

// Hash is the SHA-256 of the contract's text, hexadecimal: what assurance
// records bind to.
func (b *Bundle) Hash() string {
	sum := sha256.Sum256(AppendYAML(nil, b.Tree))
	return hex.EncodeToString(sum[:])
}

// operationValues are the operations of the contract, in order.
func (b *Bundle) operationValues() []*api.Value { return b.Tree.Get("operations").Elems() }

// withOperations puts operations in the place of those that are there.
func (b *Bundle) withOperations(ops []*api.Value) {
	b.Tree = b.Tree.With("operations", canon.NewArray(ops...))
}

func opID(v *api.Value) string { return v.Get("id").Text() }
