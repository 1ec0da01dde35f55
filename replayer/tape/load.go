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
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the recording: %w", err)
	}
	return Parse(file, data)
}

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
// accepted.
func Parse(name string, data []byte) (*Tape, error) {
	t := &Tape{Name: name}
	if err := t.parse(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))); err != nil {
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

func (t *Tape) parse(data []byte) error {
	start := bytes.TrimLeft(data, " \t\r\n")
	if len(start) == 0 {
		return errors.New("the file is empty, want a recording: " + accepted)
	}
	read := readYAML
	if start[0] == '{' || start[0] == '[' {
		if t.isLines(start) {
			return t.readLines(data)
		}
		read = readJSON
	}
	root, err := read(data)
	if err != nil {
		return err
	}
	return t.readRoot(root)
}

const accepted = "a go-vcr cassette (version 1 or 2), a HAR, a VCR.py or Ruby VCR cassette, a provider recording or a call trace"

// readRoot tells the format of a whole document and reads its entries.
func (t *Tape) readRoot(root *node) error {
	switch {
	case root.has("http_interactions"):
		t.Format = RubyVCR
		return t.entries(root.get("http_interactions"), "http_interactions", readRuby)
	case root.has("interactions"):
		return t.readInteractions(root)
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

// readInteractions tells go-vcr from VCR.py: both say version and interactions,
// but one writes url and the other uri.
func (t *Tape) readInteractions(root *node) error {
	entries := root.get("interactions")
	version := root.get("version").str()
	first := &node{}
	if list := entries.list(); len(list) > 0 {
		first = list[0]
	}
	if first.get("request").has("uri") || first.get("request").has("host") && !first.get("request").has("url") {
		t.Format = VCRpy
		return t.entries(entries, "interactions", readVCRpy)
	}
	switch version {
	case "1":
		t.Format = GoVCR1
	case "2":
		t.Format = GoVCR2
	case "":
		return errors.New("a cassette without a version: want version: 1 or version: 2 at the top")
	default:
		return fmt.Errorf("a go-vcr cassette of version %s, want 1 or 2", clip(version))
	}
	return t.entries(entries, "interactions", readGoVCR)
}

// entries reads each entry on its own; one that fails is skipped.
func (t *Tape) entries(list *node, name string, read func(*Interaction, *node) (notes []string, err error)) error {
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
