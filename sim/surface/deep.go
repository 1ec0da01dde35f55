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
// object, name[prop][] or name[prop][0] for the elements of an array, and
// name[prop][0][sub] for those that are objects. In a form, a field that the
// contract gives this style is spelled so too, and may itself be an array.

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
		if keys, list, ok := deepKeys(rest); ok && len(keys) > 0 {
			root.add(keys, list, q.values)
		}
	}
	if root.kids == nil {
		return nil
	}
	return root.object(p.typ)
}

// add puts values at a path of keys.
func (n *deepNode) add(keys []string, list bool, values []string) {
	for _, k := range keys {
		n = n.kid(k)
	}
	n.values, n.list = append(n.values, values...), n.list || list
}

// deepField finds the field of a form that a name with brackets belongs to; ok is
// false for a name that is none.
func (p *plan) deepField(name string) (field string, keys []string, list, ok bool) {
	i := strings.IndexByte(name, '[')
	if i < 0 {
		return "", nil, false, false
	}
	if _, exact := p.declaredField(name); exact {
		return "", nil, false, false
	}
	t := p.fieldTyping(name[:i])
	if !t.deep {
		return "", nil, false, false
	}
	keys, list, ok = deepKeys(name[i:])
	return name[:i], keys, list, ok && (len(keys) > 0 || t.kind == "array")
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
			return keys, true, rest == ""
		}
		keys, text = append(keys, inner), rest
	}
	return keys, false, len(keys) > 0
}

func (n *deepNode) json(t typing) sim.Raw {
	switch {
	case n.kids != nil && t.kind == "array" && n.indexed():
		return n.elements(t)
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

// indexed reports whether all keys are places in a list.
func (n *deepNode) indexed() bool {
	for _, name := range n.order {
		i, err := strconv.ParseUint(name, 10, 16)
		if err != nil || strconv.FormatUint(i, 10) != name {
			return false
		}
	}
	return true
}

// elements are the values of a list by their places; gaps close up.
func (n *deepNode) elements(t typing) sim.Raw {
	places := slices.Clone(n.order)
	slices.SortFunc(places, compareIndexes)
	var elems []sim.Raw
	plain := func(texts []string) {
		for _, text := range texts {
			elems = append(elems, scalar(t.elem, text))
		}
	}
	for _, name := range places {
		switch kid := n.kids[name]; {
		case kid.kids == nil:
			plain(kid.values)
		case t.item != nil:
			elems = append(elems, kid.object(*t.item))
		default:
			elems = append(elems, kid.object(typing{}))
		}
	}
	plain(n.values)
	return sim.JoinArray(elems)
}

func compareIndexes(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
