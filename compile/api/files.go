package api

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
)

// Limits of what is read: past them a description is refused.
const (
	maxFiles = 5000
	maxBytes = 256 << 20 // of all files together
)

// A File is one file of a description, as it was read.
type File struct {
	Path string // slash-separated, relative to the import root
	Data []byte // verbatim
	Hash string // SHA-256 of Data, hexadecimal
	Tree *Value
	// Twice are the first of the keys that stand again in one mapping, by line.
	Twice []air.DuplicateKey
	// Entry is true for the file that the description begins in.
	Entry bool
}

// Files reads the files of a description and remembers each. Nothing outside
// the import root is opened, symbolic links included.
type Files struct {
	root  *os.Root
	files map[string]*File
	bytes int
}

// Open prepares to read a description: the entry file and, when references name
// them, other files under root. An empty root is the entry's directory.
func Open(entry, root string) (files *Files, name string, err error) {
	if root == "" {
		root = filepath.Dir(entry)
	}
	rel, err := below(root, entry)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, "", fmt.Errorf("%s lies outside the import root %s", entry, root)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, "", err
	}
	return &Files{root: dir, files: map[string]*File{}}, filepath.ToSlash(rel), nil
}

// below is entry as seen from root; each may be relative to the current folder.
func below(root, entry string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if entry, err = filepath.Abs(entry); err != nil {
		return "", err
	}
	return filepath.Rel(root, entry)
}

// OpenRead is Open for an entry file that was read already: data is what it holds.
func OpenRead(entry, root string, data []byte) (files *Files, name string, err error) {
	if files, name, err = Open(entry, root); err != nil {
		return nil, "", err
	}
	if files.bytes = len(data); files.bytes > maxBytes {
		return nil, "", errors.Join(tooMuch(name), files.Close())
	}
	if err := files.add(path.Clean(name), data); err != nil {
		return nil, "", errors.Join(err, files.Close())
	}
	return files, name, nil
}

// Memory is a description of one file that is in memory; there are no others.
func Memory(name string, data []byte) (*Files, error) {
	f := &Files{files: map[string]*File{}}
	return f, f.add(name, data)
}

// Close releases the import root.
func (f *Files) Close() error {
	if f.root == nil {
		return nil
	}
	return f.root.Close()
}

// ErrEscape is what Get returns for a path that leaves the import root.
var ErrEscape = errors.New("leaves the import root")

// Get reads a file, once. The error is [ErrEscape], an error of the os package,
// or an *air.LoadError for a file that is neither YAML nor JSON.
func (f *Files) Get(name string) (*File, error) {
	name = path.Clean(name)
	if have, ok := f.files[name]; ok {
		return have, nil
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, ErrEscape
	}
	if len(f.files) >= maxFiles {
		return nil, fmt.Errorf("more than %d files", maxFiles)
	}
	data, err := f.read(name)
	if err != nil {
		return nil, err
	}
	if err := f.add(name, data); err != nil {
		return nil, err
	}
	return f.files[name], nil
}

func (f *Files) add(name string, data []byte) error {
	file := &File{Path: name, Data: data}
	tree, err := air.ReadTreeKeys(name, data, func(k air.DuplicateKey) { file.Twice = append(file.Twice, k) })
	if err != nil {
		if what := Foreign(data); what != "" {
			return fmt.Errorf("%s: it looks like %s, want an OpenAPI 3.0 or 3.1 or a Swagger 2.0 description", name, what)
		}
		return err
	}
	slices.SortStableFunc(file.Twice, func(a, b air.DuplicateKey) int { return a.Line - b.Line })
	sum := sha256.Sum256(data)
	file.Hash, file.Tree = hex.EncodeToString(sum[:]), tree
	f.files[name] = file
	return nil
}

func (f *Files) read(name string) ([]byte, error) {
	if f.root == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	// Asked before it is opened: opening a named pipe waits for its writer.
	info, err := f.root.Stat(filepath.FromSlash(name))
	if err != nil {
		// os.Root does not export the error of an escaping link.
		if strings.Contains(err.Error(), "escapes") {
			return nil, ErrEscape
		}
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	in, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, int64(maxBytes-f.bytes)+1))
	if err != nil {
		return nil, err
	}
	if f.bytes += len(data); f.bytes > maxBytes {
		return nil, tooMuch(name)
	}
	return data, nil
}

func tooMuch(name string) error {
	return fmt.Errorf("%s: more than %d MiB in all files together", name, maxBytes>>20)
}

// All lists the files that were read, by path.
func (f *Files) All() []*File {
	var list []*File
	for _, file := range f.files {
		list = append(list, file)
	}
	slices.SortFunc(list, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return list
}
