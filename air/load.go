package air

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
)

// MaxSize is the most bytes of contract text, unzipped, that is read.
const MaxSize = 256 << 20

// bundleFiles are the names of the contract in a bundle directory; the first
// that is there is the one that is read.
var bundleFiles = []string{"air.yaml", "air.yaml.gz", "air.json", "air.json.gz"}

// Load reads a contract: a bundle directory, or a YAML or JSON file, plain or
// gzipped (told by the content, not by the name). In a directory air.yaml is
// read, else air.yaml.gz, air.json, air.json.gz: the YAML document is the one
// that people edit, so an air.json beside it is not looked at.
//
// A contract that cannot be understood is a *[LoadError] with all its faults; a
// file that cannot be read is an error of the os package.
func Load(path string) (*Document, error) {
	file, err := contractFile(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAtMost(f, file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

func contractFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, name := range bundleFiles {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: a directory without a contract, want one of %s in it: %w", path, strings.Join(bundleFiles, ", "), fs.ErrNotExist)
}

// readAtMost reads r whole, which may hold MaxSize bytes.
func readAtMost(r io.Reader, name string) ([]byte, error) {
	var buf bytes.Buffer
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Size() < MaxSize {
			buf.Grow(int(info.Size()) + bytes.MinRead)
		}
	}
	n, err := io.Copy(&buf, io.LimitReader(r, MaxSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case n > MaxSize:
		return nil, fail(name, Fault{Msg: fmt.Sprintf("more than %d MiB of text", MaxSize>>20)})
	}
	return buf.Bytes(), nil
}

// Parse reads a contract from the text of a file, which is YAML or JSON, plain
// or gzipped. The name stands in errors, all of which are a *[LoadError].
//
// JSON is read strictly: a duplicate key is an error. YAML is YAML 1.2 with the
// core schema, one document, without merge keys.
func Parse(name string, data []byte) (*Document, error) {
	data, err := unzip(name, data)
	if err != nil {
		return nil, err
	}
	tree, err := parseTree(name, data, false)
	if err != nil {
		return nil, err
	}
	return fromTree(name, tree, data)
}

// FromTree checks and normalises a contract that was made in memory. The name
// stands in errors, all of which are a *[LoadError].
func FromTree(name string, tree *Value) (*Document, error) { return fromTree(name, tree, nil) }

func fromTree(name string, tree *Value, text []byte) (*Document, error) {
	c := checker{}
	tree = c.value(tree, &valueType{kind: canon.Object, shape: documentShape()})
	if len(c.faults.faults) > 0 {
		if text != nil {
			addLines(name, text, c.faults.faults, c.paths)
		}
		return nil, c.faults.err(name)
	}
	return newDocument(tree), nil
}

// ReadTree reads the text of a YAML or JSON file, plain or gzipped, as a tree,
// without asking what it says. The name stands in errors, all of which are a
// *[LoadError]; a file extension of .yaml or .yml in it makes a text that begins
// with a brace YAML when it is not JSON.
//
// It is meant for documents that others wrote: a duplicate key keeps its first
// place and its last value, YAML merge keys are written out, tags are ignored.
// Values that an alias names are shared.
func ReadTree(name string, data []byte) (*Value, error) {
	data, err := unzip(name, data)
	if err != nil {
		return nil, err
	}
	return parseTree(name, bytes.TrimPrefix(data, []byte("\ufeff")), true)
}

// unzip returns what data holds when it is gzipped, else data.
func unzip(name string, data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fail(name, Fault{Msg: "a damaged gzip file: " + err.Error()})
	}
	defer z.Close()
	out, err := readAtMost(z, name)
	var load *LoadError
	if err != nil && !errors.As(err, &load) {
		return nil, fail(name, Fault{Msg: "a damaged gzip file: " + errors.Unwrap(err).Error()})
	}
	return out, err
}

func parseTree(name string, data []byte, lenient bool) (*Value, error) {
	text := bytes.TrimLeft(data, " \t\r\n")
	if len(text) == 0 {
		return nil, fail(name, Fault{Msg: "an empty file, want a contract as YAML or JSON"})
	}
	if line := badUTF8(data); line > 0 {
		return nil, fail(name, Fault{Line: line, Msg: "bytes that are not UTF-8"})
	}
	if text[0] != '{' && text[0] != '[' {
		return parseYAML(name, data, lenient)
	}
	policy := canon.Strict
	if lenient {
		policy = canon.Lenient
	}
	v, err := canon.Parse(data, policy)
	if err == nil {
		return v, nil
	}
	if isYAMLName(name) { // a flow mapping, perhaps
		return parseYAML(name, data, lenient)
	}
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return nil, fail(name, Fault{Msg: err.Error()})
	}
	line, column := canon.LineColumn(data, syntax.Offset)
	return nil, fail(name, Fault{Line: line, Column: column, Msg: "not JSON: " + syntax.Msg})
}

func isYAMLName(name string) bool {
	ext := filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	return ext == ".yaml" || ext == ".yml"
}

// badUTF8 is the line of the first byte that is not UTF-8, 0 when all is.
func badUTF8(data []byte) int {
	if utf8.Valid(data) {
		return 0
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			line, _ := canon.LineColumn(data, at)
			return line
		}
		at += size
	}
}

// addLines gives faults their lines. It reads the text a second time, which
// only a faulty contract costs; JSON is near enough to YAML to be found so.
func addLines(name string, data []byte, faults []Fault, paths [][]step) {
	root, err := yamlTree(name, data)
	if err != nil {
		return
	}
	for i := range faults {
		faults[i].Line = locate(root, paths[i])
	}
}
