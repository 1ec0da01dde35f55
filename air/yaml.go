package air

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"gopkg.in/yaml.v3"
)

// parseYAML reads one YAML document as a tree, by the YAML 1.2 core schema: no
// merge keys, no tags but the core ones. What an alias names is shared.
// With somebody to tell of duplicate keys the reader takes what other readers
// take; [ReadTree] says how.
func parseYAML(name string, data []byte, twice func(DuplicateKey)) (*Value, error) {
	r := newBlockReader(data, twice != nil)
	v, ok := r.document()
	shared := r.shared
	if !ok {
		if err := notUTF8(name, data); err != nil {
			return nil, err
		}
		if r.faulty > 0 { // the library is slow, and this much says enough
			data = data[:r.faulty]
		}
		var err error
		if v, shared, err = readYAML(name, data, twice); err != nil {
			return nil, err
		}
	}
	if shared {
		if msg := boundAliases(v); msg != "" {
			return nil, fail(name, Fault{Msg: msg})
		}
	}
	return v, nil
}

// readYAML reads any YAML document, by the YAML library.
func readYAML(name string, data []byte, twice func(DuplicateKey)) (v *Value, shared bool, err error) {
	root, err := yamlTree(name, data)
	if err != nil {
		return nil, false, err
	}
	r := yamlReader{texts: map[string]*Value{}, anchors: map[*yaml.Node]*Value{}, lenient: twice != nil, twice: twice}
	v = r.node(root)
	return v, len(r.anchors) > 0, r.faults.err(name)
}

// yamlTree parses data, which must hold exactly one document.
func yamlTree(name string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fail(name, Fault{Msg: "no document, want a contract as YAML or JSON"})
	case err != nil:
		return nil, fail(name, yamlFault(err))
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, fail(name, Fault{Line: next.Line, Msg: "a second YAML document, want one"})
	case !errors.Is(err, io.EOF):
		return nil, fail(name, yamlFault(err))
	}
	return doc.Content[0], nil
}

// yamlFault takes the line out of the YAML library's message, "yaml: line 3: ...".
func yamlFault(err error) Fault {
	msg := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: ")
	line := 0
	if numbered, ok := strings.CutPrefix(msg, "line "); ok {
		number, text, _ := strings.Cut(numbered, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, msg = n, text
		}
	}
	return Fault{Line: line, Msg: "not YAML: " + msg}
}

// A yamlReader turns YAML nodes into values.
type yamlReader struct {
	texts   map[string]*Value     // strings made so far, shared
	anchors map[*yaml.Node]*Value // what aliases may name; nil while it is read
	path    []step
	faults  faultList
	lenient bool
	twice   func(DuplicateKey) // not nil when lenient
	told    int                // duplicate keys
	merged  int                // keys that merge keys copied
}

func (r *yamlReader) fault(n *yaml.Node, format string, args ...any) *Value {
	r.faults.add(Fault{Line: n.Line, Key: keyPath(r.path), Msg: fmt.Sprintf(format, args...)})
	return canon.NewNull()
}

// node converts a node, once when it is anchored.
func (r *yamlReader) node(n *yaml.Node) *Value {
	if n.Anchor == "" {
		return r.content(n)
	}
	r.anchors[n] = nil
	v := r.content(n)
	r.anchors[n] = v
	return v
}

func (r *yamlReader) content(n *yaml.Node) *Value {
	if len(r.path) > canon.MaxDepth {
		return r.fault(n, "nested deeper than %d", canon.MaxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		if v := r.anchors[n.Alias]; v != nil {
			return v
		}
		return r.fault(n, "the alias *%s stands inside the anchor that it names", n.Value)
	case yaml.ScalarNode:
		return r.scalar(n)
	case yaml.SequenceNode:
		return r.sequence(n)
	}
	return r.mapping(n)
}

func (r *yamlReader) sequence(n *yaml.Node) *Value {
	if !r.core(n, "!!seq") {
		return r.badTag(n)
	}
	elems := make([]*Value, len(n.Content))
	for i, e := range n.Content {
		r.path = append(r.path, step{index: i})
		elems[i] = r.node(e)
		r.path = r.path[:len(r.path)-1]
	}
	return canon.NewArray(elems...)
}

func (r *yamlReader) mapping(n *yaml.Node) *Value {
	if !r.core(n, "!!map") {
		return r.badTag(n)
	}
	members := make([]canon.Member, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if r.lenient && isMerge(n.Content[i]) {
			members = r.merge(members, n.Content[i+1])
			continue
		}
		key, ok := r.key(n.Content[i])
		if !ok {
			continue
		}
		r.path = append(r.path, step{key: key})
		members = append(members, canon.Member{Key: key, Value: r.node(n.Content[i+1])})
		r.path = r.path[:len(r.path)-1]
	}
	count := len(members)
	v := canon.NewObject(members...)
	if len(v.Members()) < count {
		r.duplicates(n)
	}
	return v
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// maxMerged bounds the work that merge keys make, in keys.
const maxMerged = 1 << 20

// merge adds the members of the mappings that a merge key names; what the
// mapping itself says, before or after, wins.
func (r *yamlReader) merge(members []canon.Member, n *yaml.Node) []canon.Member {
	v := r.node(n)
	from := v.Elems()
	if v.Is(canon.Object) {
		from = []*Value{v}
	}
	have := make(map[string]bool, len(members))
	for _, m := range members {
		have[m.Key] = true
	}
	for _, v := range from {
		if r.merged > maxMerged {
			return members
		}
		if r.merged += len(members) + len(v.Members()); r.merged > maxMerged {
			r.fault(n, "merge keys << that copy more than %d keys", maxMerged)
			return members
		}
		for _, m := range v.Members() {
			if !have[m.Key] {
				have[m.Key] = true
				members = append(members, m)
			}
		}
	}
	return members
}

// duplicates names each key of a mapping that stood there before.
func (r *yamlReader) duplicates(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if r.lenient && isMerge(k) {
			continue
		}
		key, _ := r.key(k)
		line, twice := first[key]
		switch {
		case twice && r.lenient:
			if r.told++; r.told <= maxFaults {
				r.twice(DuplicateKey{Key: key, Line: k.Line, First: line})
			}
			continue
		case twice:
			r.fault(k, "the key %q stands twice in one mapping, first on line %d", key, line)
			continue
		}
		first[key] = k.Line
	}
}

// key is the text of a mapping's key. A key that YAML reads as a number or a
// boolean is spelled as JSON spells it.
func (r *yamlReader) key(n *yaml.Node) (string, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		r.fault(n, "a mapping's key that is %s, want text", map[yaml.Kind]string{yaml.SequenceNode: "an array", yaml.MappingNode: "an object"}[n.Kind])
		return "", false
	}
	if isMerge(n) {
		r.fault(n, "a merge key <<, which YAML 1.2 has not: write the keys out")
		return "", false
	}
	v := r.node(n) // not r.scalar: the key may have an anchor
	switch v.Kind() {
	case canon.String:
		return v.Text(), true
	case canon.Null:
		if r.lenient {
			return n.Value, true
		}
		r.fault(n, "a mapping's key that is null, want text (put it in quotes)")
		return "", false
	}
	return v.String(), true
}

// scalar reads a scalar by its style and tag.
func (r *yamlReader) scalar(n *yaml.Node) *Value {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	tagged := n.Style&yaml.TaggedStyle != 0
	if tagged && (n.Tag == "!!str" || r.lenient && !strings.HasPrefix(n.Tag, "!!")) || quoted && !tagged {
		return r.str(n.Value)
	}
	v, msg := plainScalar(n.Value)
	switch {
	case msg != "" && r.lenient:
		return r.str(n.Value)
	case msg != "":
		return r.fault(n, "%s, want a number", msg)
	case v == nil:
		v = r.str(n.Value)
	}
	if tagged && !r.lenient && !taggedAs(n.Tag, v) {
		return r.badTag(n)
	}
	return v
}

func (r *yamlReader) str(s string) *Value {
	v := r.texts[s]
	if v == nil {
		v = canon.NewString(s)
		r.texts[s] = v
	}
	return v
}

// taggedAs reports whether a core tag fits what the text reads as.
func taggedAs(tag string, v *Value) bool {
	switch tag {
	case "!!int":
		return v.Is(canon.Number) && !strings.ContainsAny(v.Text(), ".eE")
	case "!!float":
		return v.Is(canon.Number)
	case "!!bool":
		return v.Is(canon.Bool)
	case "!!null":
		return v.Is(canon.Null)
	}
	return false
}

// core reports whether a collection has no tag or the core schema's own.
func (r *yamlReader) core(n *yaml.Node, tag string) bool {
	return r.lenient || n.Style&yaml.TaggedStyle == 0 || n.Tag == tag
}

func (r *yamlReader) badTag(n *yaml.Node) *Value {
	return r.fault(n, "the tag %s does not fit, want plain YAML without tags", n.Tag)
}

// locate finds the line of a path, or of its nearest parent that is there.
func locate(root *yaml.Node, path []step) int {
	n, line := root, root.Line
	for _, s := range path {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var at int
		if n, at = child(n, s); n == nil {
			break
		}
		line = at
	}
	return line
}

// child is the node one step below n and the line where it is named.
func child(n *yaml.Node, s step) (*yaml.Node, int) {
	switch {
	case n.Kind == yaml.SequenceNode && s.key == "" && s.index < len(n.Content):
		return n.Content[s.index], n.Content[s.index].Line
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s.key {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	}
	return nil, 0
}
