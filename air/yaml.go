package air

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"gopkg.in/yaml.v3"
)

// parseYAML reads one YAML document as a tree, by the YAML 1.2 core schema: no
// merge keys, no tags but the core ones. What an alias names is shared.
//
// Lenient reading is for documents that others wrote for YAML 1.1 readers: merge
// keys are written out, a duplicate key keeps its first place and its last value,
// unknown tags are ignored and numbers that are not finite are text.
func parseYAML(name string, data []byte, lenient bool) (*Value, error) {
	root, err := yamlTree(name, data)
	if err != nil {
		return nil, err
	}
	r := yamlReader{texts: map[string]*Value{}, anchors: map[*yaml.Node]*anchored{}, lenient: lenient}
	b := r.node(root)
	if err := r.faults.err(name); err != nil {
		return nil, err
	}
	return b.value, nil
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

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// yamlFault takes the line out of the YAML library's message.
func yamlFault(err error) Fault {
	msg := strings.ReplaceAll(err.Error(), "\n", " ")
	m := yamlLine.FindStringSubmatch(msg)
	line, _ := strconv.Atoi(m[1])
	return Fault{Line: line, Msg: "not YAML: " + msg[len(m[0]):]}
}

// maxExpanded bounds what a document would be with every alias written out,
// in bytes: digests walk it so.
const maxExpanded = 1 << 30

// A yamlReader turns YAML nodes into values.
type yamlReader struct {
	texts   map[string]*Value // strings made so far, shared
	anchors map[*yaml.Node]*anchored
	path    []step
	faults  faultList
	bomb    bool
	lenient bool
	merged  int // keys copied by merge keys
}

// built is a value with what it takes when every alias in it is written out.
type built struct {
	value  *Value
	cost   int // bytes, about
	height int // levels of nesting
}

// anchored is a node that an alias may name.
type anchored struct {
	built
	done bool
}

func (r *yamlReader) fault(n *yaml.Node, format string, args ...any) built {
	r.faults.add(Fault{Line: n.Line, Key: keyPath(r.path), Msg: fmt.Sprintf(format, args...)})
	return built{value: canon.NewNull(), cost: 1}
}

// node converts a node, once when it is anchored.
func (r *yamlReader) node(n *yaml.Node) built {
	if n.Anchor == "" {
		return r.content(n)
	}
	a := &anchored{}
	r.anchors[n] = a
	a.built = r.content(n)
	a.done = true
	return a.built
}

func (r *yamlReader) content(n *yaml.Node) built {
	if len(r.path) > canon.MaxDepth {
		return r.fault(n, "nested deeper than %d", canon.MaxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.alias(n)
	case yaml.ScalarNode:
		v := r.scalar(n)
		return built{value: v, cost: len(v.Text()) + 4}
	case yaml.SequenceNode:
		return r.sequence(n)
	}
	return r.mapping(n)
}

func (r *yamlReader) alias(n *yaml.Node) built {
	a := r.anchors[n.Alias]
	switch {
	case a == nil || !a.done:
		return r.fault(n, "the alias *%s stands inside the anchor that it names", n.Value)
	case len(r.path)+a.height > canon.MaxDepth:
		return r.fault(n, "the alias *%s nests deeper than %d", n.Value, canon.MaxDepth)
	}
	return a.built
}

// spend adds the cost of a part and refuses, once, a document that grows out of
// bounds when its aliases are written out.
func (r *yamlReader) spend(n *yaml.Node, whole *built, part built) {
	whole.cost = min(whole.cost+part.cost, maxExpanded+1)
	whole.height = max(whole.height, part.height+1)
	if whole.cost > maxExpanded && !r.bomb {
		r.bomb = true
		r.fault(n, "more than %d MiB with its aliases written out", maxExpanded>>20)
	}
}

func (r *yamlReader) sequence(n *yaml.Node) built {
	if !r.core(n, "!!seq") {
		return r.badTag(n)
	}
	elems := make([]*Value, len(n.Content))
	out := built{cost: 2}
	for i, e := range n.Content {
		r.path = append(r.path, step{index: i})
		b := r.node(e)
		r.spend(e, &out, b)
		r.path = r.path[:len(r.path)-1]
		elems[i] = b.value
	}
	out.value = canon.NewArray(elems...)
	return out
}

func (r *yamlReader) mapping(n *yaml.Node) built {
	if !r.core(n, "!!map") {
		return r.badTag(n)
	}
	members := make([]canon.Member, 0, len(n.Content)/2)
	out := built{cost: 2}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if r.lenient && isMerge(n.Content[i]) {
			members = r.merge(members, n.Content[i+1], &out)
			continue
		}
		key, ok := r.key(n.Content[i])
		if !ok {
			continue
		}
		r.path = append(r.path, step{key: key})
		b := r.node(n.Content[i+1])
		r.spend(n.Content[i], &out, b)
		r.path = r.path[:len(r.path)-1]
		out.cost += len(key) + 4
		members = append(members, canon.Member{Key: key, Value: b.value})
	}
	count := len(members)
	out.value = canon.NewObject(members...)
	if len(out.value.Members()) < count && !r.lenient {
		r.duplicates(n)
	}
	return out
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// merge adds the members of the mappings that a merge key names; what the
// mapping itself says, before or after, wins.
func (r *yamlReader) merge(members []canon.Member, n *yaml.Node, out *built) []canon.Member {
	b := r.node(n)
	r.spend(n, out, b)
	from := b.value.Elems()
	if b.value.Is(canon.Object) {
		from = []*Value{b.value}
	}
	have := make(map[string]bool, len(members))
	for _, m := range members {
		have[m.Key] = true
	}
	for _, v := range from {
		if r.merged += len(members) + len(v.Members()); r.merged > maxMerged {
			if !r.bomb {
				r.bomb = true
				r.fault(n, "more than %d keys merged by <<", maxMerged)
			}
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

// maxMerged bounds the keys that merge keys copy, in one document.
const maxMerged = 1 << 20

// duplicates names each key of a mapping that stood there before.
func (r *yamlReader) duplicates(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		key, _ := r.key(k)
		if line, twice := first[key]; twice {
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
		r.fault(n, "a mapping's key that is %s, want text", found(r.node(n).value))
		return "", false
	}
	if isMerge(n) {
		r.fault(n, "a merge key <<, which YAML 1.2 has not: write the keys out")
		return "", false
	}
	v := r.node(n).value // not r.scalar: the key may have an anchor
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
		return r.fault(n, "%s, want a number", msg).value
	case v == nil:
		v = r.str(n.Value)
	}
	if tagged && !r.lenient && !taggedAs(n.Tag, v) {
		return r.badTag(n).value
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

func (r *yamlReader) badTag(n *yaml.Node) built {
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
