package scrub

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/anvil-sim/anvil/internal/canon"
)

// yaml walks a node; visit's texts go into it.
func (w *fileWalk) yaml(n *yaml.Node, at *spot, depth int) {
	if depth > canon.MaxDepth {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		msg := readMessage(yamlMessage(n))
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			next := at.child(key, key)
			if msg != nil {
				next.msg = msg
			}
			w.yaml(n.Content[i+1], next, depth+1)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			w.enter(at.path, i)
			w.yaml(e, at.child(strconv.Itoa(i), at.name), depth+1)
		}
	case yaml.ScalarNode:
		w.line = n.Line
		at.base64 = isBytes(n, at.name)
		if clean := w.visit(at, n.Value); clean != n.Value {
			setText(n, clean)
		}
		// An alias repeats what its anchor said: that is found there.
	}
}

func isBytes(n *yaml.Node, name string) bool {
	return n.Tag == "!!binary" || n.Tag == "!binary" || name == "base64_string"
}

// setText puts a text in the place of another: a text, whatever it looks like.
func setText(n *yaml.Node, text string) {
	n.Value = text
	if n.Tag == "!!int" || n.Tag == "!!float" || n.Tag == "!!bool" || n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	if strings.Contains(text, "\n") {
		return
	}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && n.Tag != "!!binary" {
		n.Style = yaml.SingleQuotedStyle
	}
}

// yamlMessage is what readMessage looks at of a mapping: headers and bodies, bytes
// as {"base64_string": text}.
func yamlMessage(n *yaml.Node) *canon.Value {
	var members []canon.Member
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; key {
		case "headers", "body", "content":
			members = append(members, canon.Member{Key: key, Value: yamlValue(n.Content[i+1], key, 0)})
		}
	}
	return canon.NewObject(members...)
}

func yamlValue(n *yaml.Node, name string, depth int) *canon.Value {
	switch {
	case depth > 3:
		return canon.NewNull()
	case n.Kind == yaml.AliasNode && n.Alias != nil:
		return yamlValue(n.Alias, name, depth+1)
	case n.Kind == yaml.ScalarNode && isBytes(n, "") && name != "base64_string":
		return canon.NewObject(canon.Member{Key: "base64_string", Value: canon.NewString(n.Value)})
	case n.Kind == yaml.ScalarNode:
		return canon.NewString(n.Value)
	case n.Kind == yaml.SequenceNode:
		var list []*canon.Value
		for _, e := range n.Content {
			list = append(list, yamlValue(e, "", depth+1))
		}
		return canon.NewArray(list...)
	case n.Kind == yaml.MappingNode:
		var members []canon.Member
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			members = append(members, canon.Member{Key: key, Value: yamlValue(n.Content[i+1], key, depth+1)})
		}
		return canon.NewObject(members...)
	}
	return canon.NewNull()
}

// yamlText writes a document, and makes sure that it says what the nodes do.
func yamlText(name string, doc *yaml.Node) ([]byte, error) {
	for _, plain := range []bool{false, true} {
		if plain {
			quoteBlocks(doc) // in block style some texts cannot be written
		}
		var b bytes.Buffer
		b.WriteString("---\n")
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
			return nil, errors.New(name + ": it cannot be written anew: " + err.Error())
		}
		var again yaml.Node
		if yaml.Unmarshal(b.Bytes(), &again) == nil && sameNodes(doc.Content[0], again.Content[0]) {
			return b.Bytes(), nil
		}
	}
	return nil, errors.New(name + ": written anew it would be another document")
}

func sameNodes(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value && !isBytes(a, "") || len(a.Content) != len(b.Content) || a.ShortTag() != b.ShortTag() {
		return false
	}
	for i := range a.Content {
		if !sameNodes(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

func quoteBlocks(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		n.Style = n.Style&yaml.TaggedStyle | yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		quoteBlocks(c)
	}
}
