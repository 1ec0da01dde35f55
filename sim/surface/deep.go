package surface

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

// OpenAPI defines deepObject for the properties of an object and leaves open how
// deeper values are written. Clients write name[prop][sub] for an object in an
// object, and name[prop][] or name[prop][0] for the elements of an array.

const (
	deepTyped   = 3 // levels of properties whose schemas are looked at
	maxDeepKeys = 8 // levels of a name that are read
)

// A deepNode is a value of a deepObject parameter as its names spell it.
type deepNode struct {
	values []string // in order of appearance
	list   bool     // a name ends in []
	kids   map[string]*deepNode
	order  []string // of kids
}

func (n *deepNode) kid(name string) *deepNode {
	k := n.kids[name]
	if k == nil {
		if n.kids == nil {
			n.kids = map[string]*deepNode{}
		}
		k = &deepNode{}
		n.kids[name], n.order = k, append(n.order, name)
	}
	return k
}

// deepObject reads name[prop]=value. A name that does not fit is no part of the
// parameter.
func (p *paramPlan) deepObject(t *target) sim.Raw {
	root := &deepNode{}
	for i := range t.query {
		q := &t.query[i]
		rest, ok := strings.CutPrefix(q.name, p.Name)
		if !ok {
			continue
		}
		keys, list, ok := deepKeys(rest)
		if !ok {
			continue
		}
		n := root
		for _, k := range keys {
			n = n.kid(k)
		}
		n.values, n.list = append(n.values, q.values...), n.list || list
	}
	if root.kids == nil {
		return nil
	}
	return root.object(p.typ)
}

// deepKeys splits [a][b][]: the keys, and whether the last pair of brackets is
// empty.
func deepKeys(text string) (keys []string, list, ok bool) {
	for text != "" {
		inner, rest, closed := strings.Cut(text[1:], "]")
		if text[0] != '[' || !closed || strings.Contains(inner, "[") || len(keys) == maxDeepKeys {
			return nil, false, false
		}
		if inner == "" {
			return keys, true, rest == "" && len(keys) > 0
		}
		keys, text = append(keys, inner), rest
	}
	return keys, false, len(keys) > 0
}

func (n *deepNode) json(t typing) sim.Raw {
	switch {
	case n.kids != nil && t.kind == "array" && n.indexed():
		return list(t.elem, n.elements())
	case n.kids != nil:
		return n.object(t)
	case t.kind == "array" || n.list:
		return list(t.elem, n.values)
	}
	return scalar(t.kind, n.values[len(n.values)-1])
}

func (n *deepNode) object(t typing) sim.Raw {
	dst := []byte{'{'}
	for i, name := range n.order {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, name), ':')
		dst = append(dst, n.kids[name].json(t.props[name])...)
	}
	return append(dst, '}')
}

// indexed reports whether all keys are places in a list of plain values.
func (n *deepNode) indexed() bool {
	for _, name := range n.order {
		i, err := strconv.ParseUint(name, 10, 16)
		if err != nil || strconv.FormatUint(i, 10) != name || n.kids[name].kids != nil {
			return false
		}
	}
	return true
}

// elements are the values by their places; gaps close up.
func (n *deepNode) elements() (values []string) {
	places := slices.Clone(n.order)
	slices.SortFunc(places, compareIndexes)
	for _, name := range places {
		values = append(values, n.kids[name].values...)
	}
	return append(values, n.values...)
}

func compareIndexes(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
