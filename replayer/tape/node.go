package tape

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A kind is what a node is.
type kind uint8

const (
	nullNode kind = iota
	scalarNode
	listNode
	mapNode
)

// A node is one value of a YAML or JSON file: what the readers share. The nil
// node is absent, and answers for every method.
type node struct {
	kind  kind
	tag   string // as written, "" without one
	text  string // of a scalar
	raw   []byte // of a scalar with a long text, which then is not in text
	line  int    // 0 when it is not known
	keys  []string
	elems []*node // of a list, or the values of keys
}

// get is the value of a key of a map, the last one when it stands there twice.
func (n *node) get(key string) *node {
	if n == nil || n.kind != mapNode {
		return nil
	}
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i] == key {
			return n.elems[i]
		}
	}
	return nil
}

func (n *node) has(key string) bool { return n.get(key) != nil }

// list are the elements of a list.
func (n *node) list() []*node {
	if n == nil || n.kind != listNode {
		return nil
	}
	return n.elems
}

// empty reports whether a node is absent or null.
func (n *node) empty() bool { return n == nil || n.kind == nullNode }

// str is the text of a scalar, "" for anything else.
func (n *node) str() string {
	switch {
	case n == nil || n.kind != scalarNode:
		return ""
	case n.raw != nil:
		return string(n.raw)
	}
	return n.text
}

func (n *node) at() int {
	if n == nil {
		return 0
	}
	return n.line
}

// what names a node for an error.
func (n *node) what() string {
	switch {
	case n == nil:
		return "nothing"
	case n.kind == nullNode:
		return "null"
	case n.kind == listNode:
		return "a list"
	case n.kind == mapNode:
		return "a mapping"
	}
	return strconv.Quote(clip(n.str()))
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// integer reads a scalar as a whole number.
func (n *node) integer(name string) (int, error) {
	v, err := strconv.Atoi(n.str())
	if err != nil {
		return 0, fmt.Errorf("%s is %s, want a whole number", name, n.what())
	}
	return v, nil
}

// bytes reads a scalar as a body: !!binary is base64, null is empty.
func (n *node) bytes(name string) ([]byte, error) {
	switch {
	case n.empty():
		return nil, nil
	case n.kind != scalarNode:
		return nil, fmt.Errorf("%s is %s, want text", name, n.what())
	case isBinary(n.tag):
		if raw, ok := base64Lines(n.raw); ok {
			return raw, nil
		}
		return base64Text(name, n.str())
	case n.raw != nil:
		return n.raw, nil
	}
	return []byte(n.text), nil
}

func isBinary(tag string) bool {
	return tag == "!!binary" || tag == "!binary" || tag == "tag:yaml.org,2002:binary"
}

// base64Text decodes base64 with white space in it, padded or not.
func base64Text(name, text string) ([]byte, error) {
	text = strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, text)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		var unpadded error
		if raw, unpadded = base64.RawStdEncoding.DecodeString(text); unpadded != nil {
			return nil, fmt.Errorf("%s is no base64: %w", name, err)
		}
	}
	return raw, nil
}

// base64Lines decodes base64 in lines without a copy of the text; false for what
// has to be looked at closer.
func base64Lines(text []byte) ([]byte, bool) {
	raw := make([]byte, 0, base64.StdEncoding.DecodedLen(len(text)))
	var part [4096]byte
	n := 0
	for i, c := range text {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			part[n] = c
			n++
		}
		if last := i+1 == len(text); n == len(part) || last {
			if !last && bytes.IndexByte(part[:n], '=') >= 0 {
				return nil, false
			}
			var err error
			if raw, err = base64.StdEncoding.AppendDecode(raw, part[:n]); err != nil {
				return nil, false
			}
			n = 0
		}
	}
	return raw, len(text) > 0
}

// readYAML reads the first document of a YAML text.
func readYAML(data []byte) (*node, error) {
	if n, ok := fastYAML(data); ok {
		return n, nil
	}
	return fullYAML(data)
}

func fullYAML(data []byte) (*node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind == 0 {
		return nil, nil
	}
	c := converter{}
	return c.convert(&doc, 0)
}

// A converter shares what aliases name, so that a small file cannot grow large.
type converter struct {
	shared map[*yaml.Node]*node // nil while the node is being read
}

func (c *converter) convert(y *yaml.Node, depth int) (*node, error) {
	if depth > canon.MaxDepth {
		return nil, fmt.Errorf("line %d: nested deeper than %d", y.Line, canon.MaxDepth)
	}
	switch y.Kind {
	case yaml.DocumentNode:
		return c.convert(y.Content[0], depth+1)
	case yaml.AliasNode:
		n, seen := c.shared[y.Alias]
		if seen && n == nil {
			return nil, fmt.Errorf("line %d: the alias *%s contains itself", y.Line, y.Value)
		}
		if seen {
			return n, nil
		}
		return c.convert(y.Alias, depth+1)
	}
	if y.Anchor != "" {
		if c.shared == nil {
			c.shared = map[*yaml.Node]*node{}
		}
		c.shared[y] = nil
	}
	n := &node{line: y.Line}
	if y.Style&yaml.TaggedStyle != 0 {
		n.tag = y.Tag
	}
	if err := c.fill(n, y, depth); err != nil {
		return nil, err
	}
	if y.Anchor != "" {
		c.shared[y] = n
	}
	return n, nil
}

func (c *converter) fill(n *node, y *yaml.Node, depth int) error {
	switch y.Kind {
	case yaml.SequenceNode:
		n.kind = listNode
		for _, e := range y.Content {
			v, err := c.convert(e, depth+1)
			if err != nil {
				return err
			}
			n.elems = append(n.elems, v)
		}
	case yaml.MappingNode:
		n.kind = mapNode
		for i := 0; i+1 < len(y.Content); i += 2 {
			v, err := c.convert(y.Content[i+1], depth+1)
			if err != nil {
				return err
			}
			n.keys = append(n.keys, y.Content[i].Value)
			n.elems = append(n.elems, v)
		}
	default:
		n.kind, n.text = scalarNode, y.Value
		if y.Style&(yaml.TaggedStyle|yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 && isNull(y.Value) {
			n.kind, n.text = nullNode, ""
		}
	}
	return nil
}

func isNull(plain string) bool {
	switch plain {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// readJSON reads a JSON text.
func readJSON(data []byte) (*node, error) {
	v, err := canon.Parse(data, canon.Lenient)
	if err != nil {
		var syntax *canon.SyntaxError
		if errors.As(err, &syntax) {
			line, column := canon.LineColumn(data, syntax.Offset)
			return nil, fmt.Errorf("line %d, column %d: %s", line, column, syntax.Msg)
		}
		return nil, err
	}
	return fromValue(v), nil
}

func fromValue(v *canon.Value) *node {
	n := new(node)
	switch v.Kind() {
	case canon.Null, canon.Absent:
	case canon.Array:
		n.kind = listNode
		for _, e := range v.Elems() {
			n.elems = append(n.elems, fromValue(e))
		}
	case canon.Object:
		n.kind = mapNode
		for _, m := range v.Members() {
			n.keys = append(n.keys, m.Key)
			n.elems = append(n.elems, fromValue(m.Value))
		}
	case canon.Bool:
		n.kind, n.text = scalarNode, strconv.FormatBool(v.True())
	default:
		n.kind, n.text = scalarNode, v.Text()
	}
	return n
}
