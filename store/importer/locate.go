package importer

import (
	"bytes"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

// lineOf finds the line of the nth row of a table in a JSON or YAML file, 0 when
// it cannot be found. path are the keys that lead to the table. It reads the
// file again: a bad row is worth that.
func lineOf(file string, path []string, index int) int {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if isYAML(file) {
		return yamlLine(raw, path, index)
	}
	return jsonLine(trimBOM(raw), path, index)
}

func isYAML(file string) bool {
	low := strings.ToLower(file)
	return strings.HasSuffix(low, ".yaml") || strings.HasSuffix(low, ".yml")
}

func jsonLine(raw []byte, path []string, index int) int {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for _, key := range path {
		if !enter(dec, key) {
			return 0
		}
	}
	open, err := dec.ReadToken()
	if err != nil {
		return 0
	}
	if open.Kind() == '{' && index == 1 && len(path) > 0 { // a table of one row
		line, _ := canon.LineColumn(raw, int(dec.InputOffset())-1)
		return line
	}
	for n := 1; ; n++ {
		if open.Kind() == '{' {
			if _, err := dec.ReadToken(); err != nil {
				return 0
			}
		}
		kind := dec.PeekKind() // moves to where the value begins
		if kind == ']' || kind == '}' || kind == 0 {
			return 0
		}
		value, err := dec.ReadValue()
		if err != nil {
			return 0
		}
		if n == index {
			line, _ := canon.LineColumn(raw, int(dec.InputOffset())-len(value))
			return line
		}
	}
}

// enter moves into the value of a key of the object that comes next.
func enter(dec *jsontext.Decoder, key string) bool {
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if t.String() == key {
			return true
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
	return false
}

func yamlLine(raw []byte, path []string, index int) int {
	var doc yaml.Node
	if yaml.Unmarshal(raw, &doc) != nil || len(doc.Content) == 0 {
		return 0
	}
	n := doc.Content[0]
	for _, key := range path {
		found := (*yaml.Node)(nil)
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				found = n.Content[i+1]
			}
		}
		if found == nil {
			return 0
		}
		if n = found; n.Kind == yaml.AliasNode {
			n = n.Alias
		}
	}
	switch {
	case n.Kind == yaml.SequenceNode && index <= len(n.Content):
		return n.Content[index-1].Line
	case n.Kind == yaml.MappingNode && len(path) > 0 && index == 1:
		return n.Line
	case n.Kind == yaml.MappingNode && 2*index <= len(n.Content):
		return n.Content[2*index-2].Line
	}
	return 0
}
