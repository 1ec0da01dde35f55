package importer

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

// maxNodes bounds what the aliases of a YAML file may grow to.
const maxNodes = 20 << 20

// yamlTables reads a YAML file, in the shapes that JSON files have.
func yamlTables(path, name string) ([]*table, error) {
	raw, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	doc, err := yamlJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	tables, err := shape(doc, path, name, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tables, nil
}

// yamlJSON spells a YAML document as compact JSON, scalars by YAML 1.2's core
// schema: yes and dates are texts.
func yamlJSON(raw []byte) (out []byte, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("the file is empty, %s", wantJSON)
	}
	w := yamlWriter{left: maxNodes}
	if out, err = w.node(nil, doc.Content[0], 0); err != nil {
		return nil, err
	}
	// Once more for duplicate keys and the one spelling.
	return canon.AppendCompact(nil, out, canon.Lenient)
}

type yamlWriter struct{ left int }

func (w *yamlWriter) node(dst []byte, n *yaml.Node, depth int) (_ []byte, err error) {
	if w.left--; w.left < 0 {
		return dst, fmt.Errorf("line %d: its aliases make it larger than %d nodes", n.Line, maxNodes)
	}
	if depth > canon.MaxDepth {
		return dst, fmt.Errorf("line %d: nested deeper than %d", n.Line, canon.MaxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.node(dst, n.Alias, depth+1)
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, e := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = w.node(dst, e, depth+1); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case yaml.MappingNode:
		return w.mapping(dst, n, depth)
	}
	return yamlScalar(dst, n)
}

func (w *yamlWriter) mapping(dst []byte, n *yaml.Node, depth int) (_ []byte, err error) {
	dst = append(dst, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return dst, fmt.Errorf("line %d: a key is no plain value", key.Line)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, key.Value), ':')
		if dst, err = w.node(dst, n.Content[i+1], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

var (
	yamlInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	yamlBased = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

func yamlScalar(dst []byte, n *yaml.Node) ([]byte, error) {
	v := n.Value
	if n.Tag == "!!binary" {
		return append(canon.AppendString(append(dst, `{"$base64":`...), strings.Join(strings.Fields(v), "")), '}'), nil
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 || n.Tag == "!!str" && n.Style&yaml.TaggedStyle != 0 {
		return canon.AppendString(dst, v), nil
	}
	switch v {
	case "", "~", "null", "Null", "NULL":
		return append(dst, "null"...), nil
	case "true", "True", "TRUE":
		return append(dst, "true"...), nil
	case "false", "False", "FALSE":
		return append(dst, "false"...), nil
	}
	sign, digits := "", strings.TrimLeft(v, "+-")
	if v[0] == '-' {
		sign = "-"
	}
	switch {
	case yamlInt.MatchString(v):
		if digits = strings.TrimLeft(digits, "0"); digits == "" {
			sign, digits = "", "0"
		}
		return append(append(dst, sign...), digits...), nil
	case yamlBased.MatchString(v):
		if whole, ok := new(big.Int).SetString(v, 0); ok {
			return whole.Append(dst, 10), nil
		}
	case yamlFloat.MatchString(v):
		return append(dst, sign+floatJSON(digits)...), nil
	}
	return canon.AppendString(dst, v), nil
}

// floatJSON gives a YAML float the zeros that JSON wants around the point.
func floatJSON(s string) string {
	mantissa, exponent, cut := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, cut = s[:i], s[i+1:], true
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if cut {
		whole += "e" + exponent
	}
	return whole
}
