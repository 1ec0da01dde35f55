package store

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

//go:embed map.schema.json
var mapSchema string

// MapSchema is the JSON Schema (2020-12) of map files, for editors.
func MapSchema() string { return mapSchema }

// A Map overrides what is mapped by rule between operations and tables. Its form
// is documented in docs/fixtures.md and by [MapSchema].
type Map struct {
	name string
	file mapFile
}

type mapFile struct {
	Schema     string                   `yaml:"$schema"`
	Version    int                      `yaml:"version"`
	Tables     map[string]*tableMap     `yaml:"tables"`
	Operations map[string]*operationMap `yaml:"operations"`
}

type tableMap struct {
	ID       string               `yaml:"id"`
	Columns  namedNodes           `yaml:"columns"`
	Hidden   []string             `yaml:"hidden"`
	JSON     []string             `yaml:"json"`
	Booleans []string             `yaml:"booleans"`
	Extras   string               `yaml:"extras"`
	Defaults namedNodes           `yaml:"defaults"`
	Join     map[string]*joinSpec `yaml:"join"`
}

type joinSpec struct {
	Table   string     `yaml:"table"`
	On      namedNodes `yaml:"on"`
	Many    bool       `yaml:"many"`
	Columns namedNodes `yaml:"columns"`
	Limit   *int       `yaml:"limit"`
}

type operationMap struct {
	Table   string     `yaml:"table"`
	Do      string     `yaml:"do"`
	Key     namedNodes `yaml:"key"`
	Filters namedNodes `yaml:"filters"`
	Set     namedNodes `yaml:"set"`
	SQL     string     `yaml:"sql"`
	Result  string     `yaml:"result"`
	Errors  struct {
		NoRow      string `yaml:"no_row"`
		Constraint string `yaml:"constraint"`
	} `yaml:"errors"`
}

// namedNodes is a YAML mapping in its order; a list of names maps each to itself.
type namedNodes []namedNode

type namedNode struct {
	name string
	node *yaml.Node
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *namedNodes) UnmarshalYAML(node *yaml.Node) error {
	switch node.Kind {
	case yaml.SequenceNode:
		for _, e := range node.Content {
			if e.Kind != yaml.ScalarNode {
				return fmt.Errorf("line %d: want names in the list", e.Line)
			}
			*n = append(*n, namedNode{e.Value, e})
		}
		return n.twice()
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			*n = append(*n, namedNode{node.Content[i].Value, node.Content[i+1]})
		}
		return n.twice()
	}
	return fmt.Errorf("line %d: found %q, want names with values", node.Line, node.Value)
}

// twice refuses a name that stands a second time.
func (n *namedNodes) twice() error {
	for i, e := range *n {
		if slices.ContainsFunc((*n)[:i], func(other namedNode) bool { return other.name == e.name }) {
			return fmt.Errorf("line %d: %q is given twice", e.node.Line, e.name)
		}
	}
	return nil
}

// LoadMap reads a map file.
func LoadMap(path string) (*Map, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("map: %w", err)
	}
	defer f.Close()
	const most = 4 << 20
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	if len(data) > most {
		return nil, fmt.Errorf("map %s: the file is larger than %d bytes", path, most)
	}
	return ParseMap(path, data)
}

// ParseMap reads the text of a map, YAML or JSON; name stands in errors.
func ParseMap(name string, data []byte) (*Map, error) {
	m := &Map{name: name}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&m.file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("map %s: %s", name, mapFault(err))
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("map %s: found a second document, want one", name)
	}
	if m.file.Version != 0 && m.file.Version != 1 {
		return nil, fmt.Errorf("map %s: version: found %d, want 1", name, m.file.Version)
	}
	return m, nil
}

// mapFault says what the YAML decoder found in this project's words.
func mapFault(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	text = strings.ReplaceAll(text, "\n  ", "; ")
	for _, t := range []struct{ yaml, plain string }{
		{"cannot unmarshal !!seq into ", "found a list, want "}, {"cannot unmarshal !!map into ", "found names with values, want "},
		{"cannot unmarshal !!str ", "found the text "}, {"cannot unmarshal !!int ", "found the number "}, {"cannot unmarshal !!bool ", "found "},
		{"cannot unmarshal !!float ", "found the number "}, {"` into ", "`, want "},
		{"want map[string]*store.", "want store."}, {"want store.mapFile", "want version, tables and operations"},
		{"want store.tableMap", "want names with values"}, {"want store.operationMap", "want names with values"},
		{"want store.joinSpec", "want names with values"}, {"want []string", "want a list of names"},
		{"want int", "want a whole number"}, {"want bool", "want true or false"}, {"want string", "want a text"},
	} {
		text = strings.ReplaceAll(text, t.yaml, t.plain)
	}
	for _, t := range []struct{ of, keys string }{
		{"store.mapFile", "version, tables, operations"},
		{"store.tableMap", "id, columns, hidden, json, booleans, extras, defaults, join"},
		{"store.joinSpec", "table, on, many, columns, limit"},
		{"store.operationMap", "table, do, key, filters, set, sql, result, errors"},
	} {
		text = strings.ReplaceAll(text, "field ", "unknown key ")
		text = strings.ReplaceAll(text, " not found in type "+t.of, ", want one of "+t.keys)
	}
	return text
}

// constant turns a YAML value into a constant or a reference: text that begins
// with a colon is a reference, with two a text with one.
func constant(node *yaml.Node) (ref *reference, raw []byte, err error) {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" && strings.HasPrefix(node.Value, ":") {
		if rest, ok := strings.CutPrefix(node.Value, "::"); ok {
			return nil, quoteText(":" + rest), nil
		}
		r, err := parseReference(node.Value[1:])
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", node.Line, err)
		}
		return &r, nil, nil
	}
	v, err := plainValue(node, 0)
	if err != nil {
		return nil, nil, err
	}
	return nil, v.AppendJSON(nil), nil
}

func plainValue(node *yaml.Node, depth int) (*canon.Value, error) {
	if depth > 32 {
		return nil, fmt.Errorf("line %d: nested deeper than 32", node.Line)
	}
	switch node.Kind {
	case yaml.SequenceNode:
		var elems []*canon.Value
		for _, e := range node.Content {
			v, err := plainValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			elems = append(elems, v)
		}
		return canon.NewArray(elems...), nil
	case yaml.MappingNode:
		var members []canon.Member
		for i := 0; i+1 < len(node.Content); i += 2 {
			v, err := plainValue(node.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			members = append(members, canon.Member{Key: node.Content[i].Value, Value: v})
		}
		return canon.NewObject(members...), nil
	case yaml.ScalarNode:
		switch {
		case node.Tag == "!!null":
			return canon.NewNull(), nil
		case node.Tag == "!!bool" && slices.Contains([]string{"true", "false"}, node.Value):
			return canon.NewBool(node.Value == "true"), nil
		case (node.Tag == "!!int" || node.Tag == "!!float") && canon.IsNumber(node.Value):
			return canon.NewNumber(node.Value), nil
		}
		return canon.NewString(node.Value), nil
	}
	return nil, fmt.Errorf("line %d: want a plain value, no alias", node.Line)
}
