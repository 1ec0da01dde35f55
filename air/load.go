package air

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	file, data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// ReadFile reads what [Load] would parse, once: for those who look at it first,
// since a pipe cannot be read again. The file is the one of a bundle directory
// that is read, and what errors call it; the data may be gzipped. Errors are
// those of Load.
func ReadFile(path string) (file string, data []byte, err error) {
	if file, err = contractFile(path); err != nil {
		return "", nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	if info.Size() > MaxSize {
		return "", nil, tooLarge(file, MaxSize)
	}
	if data, err = readAtMost(f, file, info.Size(), MaxSize); err != nil {
		return "", nil, err
	}
	return file, data, nil
}

// Unzip is the text that data holds when it is gzipped, at most [MaxSize] bytes
// of it, else data itself. The name stands in errors, which are a *[LoadError].
func Unzip(name string, data []byte) ([]byte, error) { return unzip(name, data, MaxSize) }

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
	return "", noContract(path)
}

// noContract is the error of a directory without a contract.
type noContract string

func (dir noContract) Error() string {
	return fmt.Sprintf("%s: a directory without a contract, want one of %s in it", string(dir), strings.Join(bundleFiles, ", "))
}

func (noContract) Unwrap() error { return fs.ErrNotExist }

// readAtMost reads r whole, which may hold limit bytes and is likely to hold
// about size. Memory is not cleared before it is read into, as a bytes.Buffer
// does: of a large contract that is a good part of reading it.
func readAtMost(r io.Reader, name string, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, min(size, limit)+bytes.MinRead)
	r = io.LimitReader(r, limit+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, tooLarge(name, limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case len(data) == cap(data):
			data = slices.Grow(data, len(data))
		}
	}
}

func tooLarge(name string, limit int64) error {
	return fail(name, Fault{Msg: fmt.Sprintf("more than %d MiB of text", limit>>20)})
}

// Parse reads a contract from the text of a file, which is YAML or JSON, plain
// or gzipped. The name stands in errors, all of which are a *[LoadError].
//
// JSON is read strictly: a duplicate key is an error. YAML is YAML 1.2 with the
// core schema, one document, without merge keys.
func Parse(name string, data []byte) (*Document, error) {
	data, err := unzip(name, data, MaxSize)
	if err != nil {
		return nil, err
	}
	tree, err := parseTree(name, data, nil)
	if err != nil {
		return nil, err
	}
	tree, faults, paths := normalise(tree)
	if len(faults.faults) > 0 {
		addLines(name, data, faults.faults, paths)
		return nil, faults.err(name)
	}
	return newDocument(tree), nil
}

// FromTree makes a contract of a document that is a tree already; it may keep
// parts of it. The name stands in errors, which are a *[LoadError] without lines.
func FromTree(name string, tree *Value) (*Document, error) {
	tree, faults, _ := normalise(tree)
	if err := faults.err(name); err != nil {
		return nil, err
	}
	return newDocument(tree), nil
}

// Tree is the whole document with its defaults filled in and unknown keys
// dropped, in the order that it was read in.
func (d *Document) Tree() *Value { return d.tree }

// ReadTree reads the text of a YAML or JSON file, plain or gzipped, as a tree,
// without asking what it says. The name stands in errors, all of which are a
// *[LoadError]; a file extension of .yaml or .yml in it makes a text that begins
// with a brace YAML when it is not JSON.
//
// It is meant for documents that others wrote: a duplicate key keeps its first
// place and its last value, YAML merge keys are written out, tags are ignored,
// numbers that are not finite are text. Values that an alias names are shared.
func ReadTree(name string, data []byte) (*Value, error) {
	return ReadTreeKeys(name, data, func(DuplicateKey) {})
}

// A DuplicateKey is a key that stood before in the same mapping. Lines count
// from 1.
type DuplicateKey struct {
	Key         string
	Line, First int // where it stands, and where it stood first
}

// ReadTreeKeys is [ReadTree] that tells of each duplicate key, by line.
func ReadTreeKeys(name string, data []byte, twice func(DuplicateKey)) (*Value, error) {
	data, err := unzip(name, data, MaxSize)
	if err != nil {
		return nil, err
	}
	return parseTree(name, bytes.TrimPrefix(data, []byte("\ufeff")), twice)
}

// unzip returns what data holds when it is gzipped, limit bytes at most, else
// data.
func unzip(name string, data []byte, limit int64) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fail(name, Fault{Msg: "a damaged gzip file: " + err.Error()})
	}
	defer z.Close()
	out, err := readAtMost(z, name, unzippedSize(data), limit)
	var load *LoadError
	if err != nil && !errors.As(err, &load) {
		return nil, fail(name, Fault{Msg: "a damaged gzip file: " + errors.Unwrap(err).Error()})
	}
	return out, err
}

// unzippedSize is the size that a gzip file ends with, as far as it may be
// true: deflate shrinks nothing to less than a 1032nd.
func unzippedSize(data []byte) int64 {
	if len(data) < 4 {
		return 0
	}
	size := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
	return min(size, int64(len(data))*1032)
}

// parseTree reads a tree: leniently, as ReadTree says, when there is somebody to
// tell of duplicate keys.
func parseTree(name string, data []byte, twice func(DuplicateKey)) (*Value, error) {
	text := bytes.TrimLeft(data, " \t\r\n")
	if len(text) == 0 {
		return nil, fail(name, Fault{Msg: "an empty file, want a contract as YAML or JSON"})
	}
	if text[0] != '{' && text[0] != '[' {
		return parseYAML(name, data, twice)
	}
	v, err := parseJSON(data, twice)
	if err == nil {
		return v, nil
	}
	if err := notUTF8(name, data); err != nil {
		return nil, err
	}
	if isYAMLName(name) { // a flow mapping, perhaps
		return parseYAML(name, data, twice)
	}
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return nil, fail(name, Fault{Msg: err.Error()})
	}
	line, column := canon.LineColumn(data, syntax.Offset)
	return nil, fail(name, Fault{Line: line, Column: column, Msg: "not JSON: " + syntax.Msg})
}

func parseJSON(data []byte, twice func(DuplicateKey)) (*Value, error) {
	if twice == nil {
		return canon.ParseLazy(data, canon.Strict, keptWhole)
	}
	type place struct {
		key       string
		at, first int
	}
	var found []place
	v, err := canon.ParseTelling(data, func(key string, at, first int) { found = append(found, place{key, at, first}) })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b place) int { return a.at - b.at })
	for _, p := range found[:min(len(found), maxFaults)] {
		line, _ := canon.LineColumn(data, p.at)
		first, _ := canon.LineColumn(data, p.first)
		twice(DuplicateKey{Key: p.key, Line: line, First: first})
	}
	return v, nil
}

func isYAMLName(name string) bool {
	ext := filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	return ext == ".yaml" || ext == ".yml"
}

// notUTF8 is the error of a text that is not UTF-8. It is asked for when a text
// cannot be read, since both readers refuse such text with worse errors.
func notUTF8(name string, data []byte) error {
	if line := badUTF8(data); line > 0 {
		return fail(name, Fault{Line: line, Msg: "bytes that are not UTF-8"})
	}
	return nil
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

// maxLocated is the most bytes of text that is read again to give faults their
// lines; beyond it that takes seconds, and the keys tell where they are.
const maxLocated = 8 << 20

// addLines gives faults their lines. It reads the text a second time, which
// only a faulty contract costs; JSON is near enough to YAML to be found so.
func addLines(name string, data []byte, faults []Fault, paths [][]step) {
	if len(data) > maxLocated {
		return
	}
	root, err := yamlTree(name, data)
	if err != nil {
		return
	}
	for i := range faults {
		faults[i].Line = locate(root, paths[i])
	}
}
