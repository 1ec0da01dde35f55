// Package rules reads the rule files of comparisons and assertions: YAML in
// which every key is known, with the line of each mistake.
package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

// An Error says where a rule file is wrong.
type Error struct {
	File   string
	Line   int // 1-based; 0 for the whole file
	Column int
	Msg    string
	Next   string // what to do, "" when Msg says it
	Err    error  // the cause, which Msg tells; nil when there is none
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s: line %d, column %d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *Error) Hint() string { return e.Next }

// A Node is a value of a rule file that knows where it stands.
type Node struct {
	file string
	y    *yaml.Node
}

// maxNodes bounds a file's values, with those that aliases repeat.
const maxNodes = 200_000

// Parse reads a file of one YAML document, which is a mapping.
func Parse(file string, data []byte) (Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return Node{}, &Error{File: file, Msg: "the rule file is empty"}
		}
		return Node{}, &Error{File: file, Msg: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	n := Node{file, doc.Content[0]}
	if err := dec.Decode(&more); err != io.EOF {
		return Node{}, n.Errorf("holds more than one document, want one")
	}
	left := maxNodes
	if !expand(n.y, &left, 0) {
		return Node{}, n.Errorf("is larger than %d values, or deeper than %d", maxNodes, canon.MaxDepth)
	}
	if n.y.Kind != yaml.MappingNode {
		return Node{}, n.Errorf("found %s, want a mapping", n.kind())
	}
	return n, nil
}

// expand puts the targets of aliases in their places.
func expand(y *yaml.Node, left *int, depth int) bool {
	if *left--; *left < 0 || depth > canon.MaxDepth {
		return false
	}
	for i, c := range y.Content {
		for c.Kind == yaml.AliasNode {
			c = c.Alias
		}
		y.Content[i] = c
		if !expand(c, left, depth+1) {
			return false
		}
	}
	return true
}

// Errorf is an error at the node.
func (n Node) Errorf(format string, args ...any) *Error {
	e := &Error{File: n.file, Msg: fmt.Sprintf(format, args...)}
	if n.y != nil {
		e.Line, e.Column = n.y.Line, n.y.Column
	}
	return e
}

// Fault is an error at the node that err tells.
func (n Node) Fault(err error) *Error {
	e := n.Errorf("%v", err)
	e.Err = err
	return e
}

// Line is the line of the node, 1-based.
func (n Node) Line() int { return n.y.Line }

// Is reports whether the node is there.
func (n Node) Is() bool { return n.y != nil }

// Scalar reports whether the node is one.
func (n Node) Scalar() bool { return n.y != nil && n.y.Kind == yaml.ScalarNode }

// Mapping reports whether the node is one.
func (n Node) Mapping() bool { return n.y != nil && n.y.Kind == yaml.MappingNode }

func (n Node) kind() string {
	switch n.y.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", n.y.Value)
}

// A Field is one key of a mapping.
type Field struct {
	Key   string
	At    Node // the key
	Value Node
}

// Fields are the keys of a mapping in order; a key that stands twice is an error,
// as is one that is not among known, unless known is nil.
func (n Node) Fields(known ...string) ([]Field, error) {
	if !n.Mapping() {
		return nil, n.Errorf("found %s, want a mapping", n.kind())
	}
	var out []Field
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.y.Content); i += 2 {
		k := Node{n.file, n.y.Content[i]}
		if !k.Scalar() {
			return nil, k.Errorf("found %s as a key, want a text", k.kind())
		}
		key := k.y.Value
		if seen[key] {
			return nil, k.Errorf("the key %q stands twice", key)
		}
		seen[key] = true
		if len(known) > 0 && !slices.Contains(known, key) {
			return nil, k.Errorf("unknown key %q, want one of %s", key, strings.Join(known, ", "))
		}
		out = append(out, Field{key, k, Node{n.file, n.y.Content[i+1]}})
	}
	return out, nil
}

// Get is the value of a key, an absent node without one.
func (n Node) Get(key string) Node {
	if n.Mapping() {
		for i := 0; i+1 < len(n.y.Content); i += 2 {
			if n.y.Content[i].Value == key {
				return Node{n.file, n.y.Content[i+1]}
			}
		}
	}
	return Node{file: n.file}
}

// List are the elements of a list; anything else is a list of itself.
func (n Node) List() []Node {
	if n.y == nil {
		return nil
	}
	if n.y.Kind != yaml.SequenceNode {
		return []Node{n}
	}
	out := make([]Node, len(n.y.Content))
	for i, c := range n.y.Content {
		out[i] = Node{n.file, c}
	}
	return out
}

// Sequence are the elements of a list, an error for anything else.
func (n Node) Sequence() ([]Node, error) {
	if n.y == nil || n.y.Kind != yaml.SequenceNode {
		return nil, n.Errorf("found %s, want a list", n.kind())
	}
	return n.List(), nil
}

// Text is a scalar as it is written.
func (n Node) Text() (string, error) {
	if !n.Scalar() || n.y.Tag == "!!null" {
		return "", n.Errorf("found %s, want a text", n.kind())
	}
	return n.y.Value, nil
}

// Texts are the texts of a list, or of one scalar.
func (n Node) Texts() ([]string, error) {
	var out []string
	for _, e := range n.List() {
		s, err := e.Text()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if n.y != nil && len(out) == 0 {
		return nil, n.Errorf("found an empty list, want at least one text")
	}
	return out, nil
}

// Count is a whole number from 0.
func (n Node) Count() (int, error) {
	var i int
	if !n.Scalar() || n.y.Tag != "!!int" || n.y.Decode(&i) != nil || i < 0 {
		return 0, n.Errorf("found %s, want a whole number from 0", n.kind())
	}
	return i, nil
}

// Bool is true or false.
func (n Node) Bool() (bool, error) {
	if n.Scalar() && n.y.Tag == "!!bool" {
		switch n.y.Value {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	}
	return false, n.Errorf("found %s, want true or false", n.kind())
}

// Value is the node as JSON. Numbers must be JSON numbers.
func (n Node) Value() (*canon.Value, error) {
	switch n.y.Kind {
	case yaml.MappingNode:
		fields, err := n.Fields()
		if err != nil {
			return nil, err
		}
		var members []canon.Member
		for _, f := range fields {
			v, err := f.Value.Value()
			if err != nil {
				return nil, err
			}
			members = append(members, canon.Member{Key: f.Key, Value: v})
		}
		return canon.NewObject(members...), nil
	case yaml.SequenceNode:
		var elems []*canon.Value
		for _, e := range n.List() {
			v, err := e.Value()
			if err != nil {
				return nil, err
			}
			elems = append(elems, v)
		}
		return canon.NewArray(elems...), nil
	}
	return n.scalar()
}

func (n Node) scalar() (*canon.Value, error) {
	switch n.y.Tag {
	case "!!null":
		return canon.NewNull(), nil
	case "!!bool":
		b, err := n.Bool()
		return canon.NewBool(b), err
	case "!!int", "!!float":
		if !canon.IsNumber(n.y.Value) {
			return nil, n.Errorf("found the number %s, want it as JSON writes it", n.y.Value)
		}
		return canon.NewNumber(n.y.Value), nil
	}
	return canon.NewString(n.y.Value), nil
}
