package scrub

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A FileFinding is a finding in a file.
type FileFinding struct {
	File        string
	Line        int // from 1, 0 when the format does not say
	Interaction int // from 0, -1 outside of interactions
	Finding
}

// String is the finding for a message: "tape.yaml:12: interaction 0, response.body: ...".
func (f FileFinding) String() string {
	at := f.File
	if f.Line > 0 {
		at += ":" + strconv.Itoa(f.Line)
	}
	if f.Interaction >= 0 {
		at += fmt.Sprintf(": interaction %d", f.Interaction)
	}
	return at + ": " + f.Finding.String()
}

// ScanFile looks for secrets in a recording of any format that is YAML, JSON or one
// JSON value a line: cassettes, HAR, provider recordings, traces. Bodies are looked
// at without their base64 and content codings. The error says why the file cannot
// be read.
func ScanFile(name string, data []byte, rules *Rules) ([]FileFinding, error) {
	if rules == nil {
		rules = &Rules{}
	}
	var found []FileFinding
	detector := newDetector()
	w := &fileWalk{interaction: -1}
	w.visit = func(at *spot, text string) string {
		for _, f := range at.judge(&Scrubber{rules, NewVault(0), detector}, text) {
			found = append(found, FileFinding{name, w.line, w.interaction, f})
		}
		return text
	}
	if _, err := w.file(name, data); err != nil {
		return nil, err
	}
	return found, nil
}

// judge says what is wrong with a text at its place: what scrubbing would hide, else
// what the gate behind scrubbing would stop.
func (at *spot) judge(s *Scrubber, text string) (found []Finding) {
	place := at.place()
	if at.isLength() {
		return s.ScanText(place, []byte(text)) // the body is judged at its own place
	}
	at.scrub(s, text)
	for _, secret := range s.vault.secrets() {
		if bare := strings.TrimSpace(secret); len(bare) >= 6 && !redacted(bare) && !s.rules.allows(bare) {
			found = append(found, Finding{place, "secret", hint(bare)})
		}
	}
	if len(found) == 0 {
		found = s.ScanText(place, at.plain(text))
	}
	return found
}

// A Redaction is what [RedactFile] did.
type Redaction struct {
	Replaced int // values
	Secrets  int // different ones among them
	// Left are values that still look like secrets: the result may not be written.
	Left []FileFinding
}

// RedactFile scrubs a recording of any format that [ScanFile] reads, as a recorder
// would have: the same secret becomes the same placeholder wherever it stands in the
// file, counted on from those that are there, and volatile values become fixed ones.
// A body keeps its base64 and content codings, a Content-Length that was right stays
// right. JSON keeps its layout, YAML is laid out anew; a file without anything to
// hide is returned as it is.
func RedactFile(name string, data []byte, rules *Rules) ([]byte, *Redaction, error) {
	if rules == nil {
		rules = &Rules{}
	}
	s := &Scrubber{rules, NewVault(highest(data)), newDetector()}
	changed := false
	visit := func(at *spot, text string) string {
		clean := at.scrub(s, text)
		changed = changed || clean != text
		return clean
	}
	// What is a secret in one place is one everywhere before it, so all are found
	// before the first one is replaced.
	learn := &fileWalk{interaction: -1, visit: func(at *spot, text string) string {
		at.scrub(s, text)
		return text
	}}
	if _, err := learn.file(name, data); err != nil {
		return nil, nil, err
	}
	before, _ := s.Count()
	w := &fileWalk{interaction: -1, visit: visit, lengths: true}
	out, err := w.file(name, data)
	if err != nil {
		return nil, nil, err
	}
	r := &Redaction{}
	r.Replaced, r.Secrets = s.Count()
	r.Replaced -= before
	if !changed {
		out = data
	}
	r.Left, err = ScanFile(name, out, rules)
	return out, r, err
}

// highest is the highest number of a placeholder in a text.
func highest(data []byte) int {
	most := 0
	for {
		_, rest, ok := bytes.Cut(data, []byte(Placeholder))
		if !ok {
			return most
		}
		end := 0
		for end < len(rest) && end < 9 && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, _ := strconv.Atoi(string(rest[:end]))
		most, data = max(most, n), rest[end:]
	}
}

// A fileWalk goes through all texts of a file.
type fileWalk struct {
	visit       func(at *spot, text string) string // the text that shall stand there
	lengths     bool                               // correct declared lengths
	interaction int
	line        int
}

// file walks a file and returns it with what visit put in.
func (w *fileWalk) file(name string, data []byte) ([]byte, error) {
	first := bytes.TrimSpace(data)
	switch {
	case len(first) == 0:
		return data, nil
	case first[0] == '{' || first[0] == '[':
		if canon.Valid(data) {
			return w.jsonText(data)
		}
		if out, err := w.jsonLines(data); err == nil {
			return out, nil
		}
	}
	w.interaction, w.line = -1, 0
	if w.lengths { // it is laid out anew: the marks of a recording that was killed go
		data = bytes.ReplaceAll(data, []byte("\n#..\n"), []byte("\n"))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, errors.New(name + ": " + strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind == 0 {
		return data, nil
	}
	w.yaml(doc.Content[0], &spot{}, 0)
	if !w.lengths {
		return data, nil
	}
	return yamlText(name, &doc)
}
