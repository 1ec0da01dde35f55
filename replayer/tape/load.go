package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads recordings. A folder is all its tapes, subfolders too, in name
// order; in a folder, files that are hidden or whose name does not end in .yaml,
// .yml, .json, .jsonl, .har or .cassette are passed over, while a file that is
// named itself is read whatever its name. The errors of all files are joined.
func Load(paths ...string) ([]*Tape, error) {
	var tapes []*Tape
	files, err := Files(paths...)
	errs := []error{err}
	for _, file := range files {
		t, err := LoadFile(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		tapes = append(tapes, t)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return tapes, nil
}

// Files are the files that [Load] reads, in order. Those of paths that are there
// come with the error, which names the others.
func Files(paths ...string) ([]string, error) {
	var files []string
	var errs []error
	for _, path := range paths {
		found, err := expand(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		files = append(files, found...)
	}
	return files, errors.Join(errs...)
}

// LoadFile reads one recording.
func LoadFile(file string) (*Tape, error) {
	data, regular, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the recording: %w", err)
	}
	s := &source{data: data}
	if regular { // a pipe gives its bytes once
		s.again = func() ([]byte, error) {
			if data, _, err = readFile(file); err != nil {
				err = fmt.Errorf("cannot read the recording: %w", err)
			}
			return data, err
		}
	}
	return s.parse(file)
}

// A source is the bytes of a recording.
type source struct {
	data  []byte
	again func() ([]byte, error) // reads them anew after a change; nil when data must not change
}

// text is the recording behind a byte order mark.
func (s *source) text() []byte { return bytes.TrimPrefix(s.data, []byte("\xEF\xBB\xBF")) }

func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the recording: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && file != path:
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && slices.Contains(extensions, strings.ToLower(filepath.Ext(file))):
			files = append(files, file)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("the folder %s holds no recording: want a file named %s", path, strings.Join(extensions, ", "))
	}
	return files, err
}

var extensions = []string{".yaml", ".yml", ".json", ".jsonl", ".har", ".cassette"}

// Parse reads a recording; name is for messages. The format is told by the
// content. The error names the file, the place, what was found and what is
// accepted. Bodies of the tape may be parts of data, which must not change.
func Parse(name string, data []byte) (*Tape, error) { return (&source{data: data}).parse(name) }

func (s *source) parse(name string) (*Tape, error) {
	t := &Tape{Name: name}
	if err := t.parse(s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(t.Interactions) == 0 && len(t.Skipped) > 0 {
		return nil, fmt.Errorf("%s: a %s without an entry that can be replayed: %s%s", name, t.Format, t.Skipped[0], more(len(t.Skipped)-1))
	}
	return t, nil
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

func (t *Tape) parse(s *source) error {
	data := s.text()
	start := bytes.TrimLeft(data, " \t\r\n")
	if len(start) == 0 {
		return errors.New("the file is empty, want a recording: " + accepted)
	}
	if start[0] != '{' && start[0] != '[' {
		return t.parseYAML(s)
	}
	if t.isLines(start) {
		return t.readLines(data)
	}
	root, err := readJSON(data)
	if err != nil {
		return err
	}
	return t.readRoot(root)
}

// parseYAML leaves to the full reader what the fast one does not read.
func (t *Tape) parseYAML(s *source) error {
	ok, wrote := t.stream(s.text(), s.again != nil)
	if ok {
		return nil
	}
	if wrote {
		s.data = nil // before they are held twice
		var err error
		if s.data, err = s.again(); err != nil {
			return err
		}
	}
	root, err := readYAML(s.text())
	if err != nil {
		return err
	}
	return t.readRoot(root)
}

const accepted = "a go-vcr cassette (version 1 or 2), a HAR, a VCR.py or Ruby VCR cassette, a provider recording or a call trace"

// readRoot tells the format of a whole document and reads its entries.
func (t *Tape) readRoot(root *node) error {
	switch {
	case root.has(rubyEntries):
		return t.readVCR(root, rubyEntries)
	case root.has(vcrEntries):
		return t.readVCR(root, vcrEntries)
	case root.has("log"):
		t.Format = HAR
		entries := root.get("log").get("entries")
		if entries == nil {
			return fmt.Errorf("a HAR without log.entries: log is %s", root.get("log").what())
		}
		return t.entries(entries, "log.entries", readHAREntry)
	case root.has("request") && root.has("response"):
		t.Format = HAR // one entry, cut out of a log
		return t.entries(&node{kind: listNode, elems: []*node{root}}, "", readHAREntry)
	case len(root.list()) > 0 && root.elems[0].has("request"):
		t.Format = VCRpy // before version 1
		return t.entries(root, "", readVCRpy)
	}
	return fmt.Errorf("no recording: found %s at the top%s, want %s", root.what(), keyList(root), accepted)
}

func keyList(n *node) string {
	if n == nil || len(n.keys) == 0 {
		return ""
	}
	return " with the keys " + clip(strings.Join(n.keys, ", "))
}

// The keys of a list of entries.
const (
	vcrEntries  = "interactions"      // of go-vcr and VCR.py
	rubyEntries = "http_interactions" // of Ruby VCR
)

// readerOf tells Ruby VCR, go-vcr and VCR.py apart. The last two say version and
// interactions, but one writes url and the other uri.
func readerOf(root *node, key string, first *node) (Format, entryReader, error) {
	req := first.get("request")
	switch {
	case key == rubyEntries:
		return RubyVCR, readRuby, nil
	case req.has("uri"), req.has("host") && !req.has("url"):
		return VCRpy, readVCRpy, nil
	}
	switch version := root.get("version").str(); version {
	case "1":
		return GoVCR1, readGoVCR, nil
	case "2":
		return GoVCR2, readGoVCR, nil
	case "":
		return "", nil, errors.New("a cassette without a version: want version: 1 or version: 2 at the top")
	default:
		return "", nil, fmt.Errorf("a go-vcr cassette of version %s, want 1 or 2", clip(version))
	}
}

// readVCR reads the entries under a key.
func (t *Tape) readVCR(root *node, key string) (err error) {
	entries := root.get(key)
	var first *node
	if list := entries.list(); len(list) > 0 {
		first = list[0]
	}
	var read entryReader
	if t.Format, read, err = readerOf(root, key, first); err != nil {
		return err
	}
	return t.entries(entries, key, read)
}

// entries reads each entry on its own; one that fails is skipped.
func (t *Tape) entries(list *node, name string, read entryReader) error {
	if list.empty() {
		return nil
	}
	if list.kind != listNode {
		return fmt.Errorf("%s is %s, want a list", name, list.what())
	}
	for i, n := range list.elems {
		it := &Interaction{Tape: t.Name, Position: i, Line: n.at()}
		notes, err := read(it, n)
		t.add(it, notes, err)
	}
	return nil
}

func (t *Tape) add(it *Interaction, notes []string, err error) {
	if err == nil {
		err = it.check()
	}
	if err != nil {
		t.Skipped = append(t.Skipped, Skip{it.Position, it.Line, err.Error()})
		return
	}
	for _, note := range notes {
		t.Notes = append(t.Notes, Skip{it.Position, it.Line, note})
	}
	t.Interactions = append(t.Interactions, it)
}

// check refuses what cannot be replayed whatever the format.
func (i *Interaction) check() error {
	i.Request.Method = strings.ToUpper(i.Request.Method)
	switch s := i.Response.Status; {
	case i.Call != nil:
		return nil
	case i.Request.Method == "":
		return errors.New("the request has no method")
	case i.Request.URL == "":
		return errors.New("the request has no URL")
	case i.Failure != nil:
		return nil
	case s == 101:
		return errors.New("status 101: an upgraded connection (a WebSocket) cannot be replayed")
	case s < 200 || s > 999:
		return fmt.Errorf("status %d, want 200 to 999", s)
	}
	return nil
}
