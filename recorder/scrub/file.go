package scrub

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/ndjson"
	"github.com/anvil-sim/anvil/internal/secretname"
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
// JSON value a line: cassettes, HAR, provider recordings, traces. The error says why
// the file cannot be read.
func ScanFile(name string, data []byte, rules *Rules) ([]FileFinding, error) {
	if rules == nil {
		rules = &Rules{}
	}
	w := &fileWalk{file: name, rules: rules, detector: newDetector(), interaction: -1}
	first := bytes.TrimSpace(data)
	switch {
	case len(first) == 0:
		return nil, nil
	case first[0] == '{' || first[0] == '[':
		if v, err := canon.Parse(data, canon.Lenient); err == nil {
			w.json(v, nil, "", 0)
			return w.found, nil
		}
		if err := w.jsonLines(data); err == nil {
			return w.found, nil
		}
	}
	w.found, w.interaction = nil, -1
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, errors.New(name + ": " + strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind != 0 {
		w.yaml(doc.Content[0], nil, "", 0)
	}
	return w.found, nil
}

// A fileWalk goes through all values of a file.
type fileWalk struct {
	file        string
	rules       *Rules
	detector    *detector
	interaction int
	line        int
	found       []FileFinding
}

func (w *fileWalk) jsonLines(data []byte) error {
	lines := ndjson.NewReader(bytes.NewReader(data), 1<<30)
	for n := 0; ; n++ {
		line, err := lines.Next()
		if err != nil {
			return nil // the data is in memory: this is its end
		}
		if len(bytes.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		v, err := canon.Parse(line.Bytes, canon.Lenient)
		if err != nil {
			if !line.Ended && n > 0 {
				return nil // cut off by a kill
			}
			return err
		}
		w.interaction, w.line = n, line.Number
		w.json(v, nil, "", 0)
	}
}

// enter notes the interaction that a step into a list begins.
func (w *fileWalk) enter(path []string, i int) {
	last := ""
	if len(path) > 0 {
		last = path[len(path)-1]
	}
	if len(path) == 0 || len(path) <= 2 && (last == "interactions" || last == "http_interactions" || last == "entries") {
		w.interaction = i
	}
}

func (w *fileWalk) json(v *canon.Value, path []string, name string, depth int) {
	switch v.Kind() {
	case canon.Object:
		pair := v.Get("name").Text()
		for _, m := range v.Members() {
			as := m.Key
			if pair != "" && m.Key == "value" {
				as = pair
			}
			w.json(m.Value, append(path, m.Key), as, depth+1)
		}
	case canon.Array:
		for i, e := range v.Elems() {
			if w.line == 0 {
				w.enter(path, i)
			}
			w.json(e, append(path, strconv.Itoa(i)), name, depth+1)
		}
	case canon.String, canon.Number:
		w.scalar(path, name, v.Text())
	}
}

func (w *fileWalk) yaml(n *yaml.Node, path []string, name string, depth int) {
	if depth > canon.MaxDepth {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			w.yaml(n.Content[i+1], append(path, key), key, depth+1)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			w.enter(path, i)
			w.yaml(e, append(path, strconv.Itoa(i)), name, depth+1)
		}
	case yaml.ScalarNode:
		w.line = n.Line
		text := n.Value
		if n.Tag == "!!binary" || n.Tag == "!binary" || name == "base64_string" {
			if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err == nil {
				text = string(raw)
			}
		}
		w.scalar(path, name, text)
		// An alias repeats what its anchor said: that is found there.
	}
}

// scalar judges one text by its place: what scrubbing would hide is a finding, and
// so is what the gate behind scrubbing would stop.
func (w *fileWalk) scalar(path []string, name, text string) {
	if len(text) < 4 {
		return
	}
	vault := NewVault(0)
	s := &Scrubber{w.rules, vault, w.detector}
	n := secretname.Normal(name)
	switch {
	case slices.Contains(path, "headers"):
		s.field(n, text)
	case n == "url" || n == "uri":
		s.URL(text)
	case n == "querystring" || slices.Contains(path, "queryString") || slices.Contains(path, "form"):
		s.pairs([]byte(name + "=" + strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B").Replace(text)))
	case w.rules.secretField(n) && !slices.Contains(path, "cookies"):
		s.hide(text)
	case n == "body" || n == "text" || n == "string":
		kind := ""
		if formLike([]byte(text)) && !strings.ContainsAny(text, " \n<") {
			kind = "application/x-www-form-urlencoded"
		}
		s.Body(kind, []byte(text))
	default:
		s.nested([]byte(text))
	}
	place := w.place(path)
	seen := false
	for _, secret := range vault.secrets() {
		if bare := strings.TrimSpace(secret); len(bare) >= 6 && !redacted(bare) && !w.rules.allows(bare) {
			seen = true
			w.add(Finding{place, "secret", hint(bare)})
		}
	}
	if !seen {
		for _, f := range s.ScanText(place, []byte(text)) {
			w.add(f)
		}
	}
}

func (w *fileWalk) add(f Finding) {
	w.found = append(w.found, FileFinding{w.file, w.line, w.interaction, f})
}

// place is a path without the steps that lead to the interaction.
func (w *fileWalk) place(path []string) string {
	for i, step := range path {
		if step == "request" || step == "response" {
			return strings.Join(path[i:], ".")
		}
	}
	return strings.Join(path, ".")
}
