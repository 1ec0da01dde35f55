package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// arrays compares two arrays: elements with the same id when all have one, else
// place by place when there are as many, else what a bounded alignment pairs.
func (c *comparer) arrays(a, b *canon.Value, s state) {
	x, y := a.Elems(), b.Elems()
	if key, idsA, idsB := c.elementIDs(x, y, s); key != "" && c.share(idsA, idsB) {
		c.arraysByID(key, x, y, idsA, idsB, s)
		return
	}
	if len(x) == len(y) {
		for i := range x {
			c.element(i, x[i], y[i], s)
		}
		return
	}
	c.arraysByPlace(x, y, s)
}

// share reports whether ids say more than places do: they are not the same in
// the same order, and not all different. Under a renaming ids that share nothing
// are new names.
func (c *comparer) share(idsA, idsB []string) bool {
	if slices.Equal(idsA, idsB) {
		return false
	}
	set := make(map[string]bool, len(idsA))
	for _, id := range idsA {
		set[id] = true
	}
	return len(idsA) != len(idsB) && c.names == nil || slices.ContainsFunc(idsB, func(id string) bool { return set[id] })
}

func (c *comparer) element(i int, a, b *canon.Value, s state) {
	c.under(strconv.Itoa(i), c.key, a, b, c.pats.index(s, i))
}

// idKeys are the names of members that identify an object, best first; after
// them any name that ends like one.
var idKeys = []string{"id", "_id", "uuid", "guid", "sys_id", "key", "slug"}

func likeID(key string) bool {
	return strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID")
}

// elementIDs returns the key that gives every element of either side an id of
// its own there, with all the ids; "" when there is none.
func (c *comparer) elementIDs(x, y []*canon.Value, s state) (key string, idsA, idsB []string) {
	if len(x) == 0 || len(y) == 0 || !x[0].Is(canon.Object) {
		return "", nil, nil
	}
	candidates := slices.Clone(idKeys)
	for _, m := range x[0].Members() {
		if likeID(m.Key) && !slices.Contains(candidates, m.Key) {
			candidates = append(candidates, m.Key)
		}
	}
	for _, key := range candidates {
		if x[0].Get(key) == nil {
			continue
		}
		if idsA = c.idsBy(key, x, s, ""); idsA == nil {
			continue
		}
		if idsB = c.idsBy(key, y, s, c.idB); idsB != nil {
			return key, idsA, idsB
		}
	}
	return "", nil, nil
}

// idsBy returns the value of key in each element, nil when one has none, two
// share one or it is ignored. The request id renumbered counts as the
// baseline's.
func (c *comparer) idsBy(key string, elems []*canon.Value, s state, renumbered string) []string {
	ids := make([]string, 0, len(elems))
	seen := make(map[string]bool, len(elems))
	for i, e := range elems {
		v := e.Get(key)
		if !v.Is(canon.String) && !v.Is(canon.Number) || c.pats.match(c.pats.name(c.pats.index(s, i), key)) >= 0 {
			return nil
		}
		if renumbered != "" && v.Is(canon.String) && v.Text() == renumbered {
			v = canon.NewString(c.idA)
		}
		id := string(canon.AppendIdentity(nil, v))
		if seen[id] {
			return nil
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}

func (c *comparer) arraysByID(key string, x, y []*canon.Value, idsA, idsB []string, s state) {
	placeB := make(map[string]int, len(idsB))
	for j, id := range idsB {
		placeB[id] = j
	}
	common, last, inOrder := make(map[string]bool, len(idsA)), -1, true
	for i, id := range idsA {
		j, ok := placeB[id]
		if !ok {
			c.element(i, x[i], nil, s)
			continue
		}
		common[id] = true
		inOrder = inOrder && j > last
		last = j
		c.element(i, x[i], y[j], s)
	}
	for j, id := range idsB {
		if !common[id] {
			c.element(j, nil, y[j], s)
		}
	}
	if !inOrder {
		c.add(ValueReordered, idList(key, x, idsA, common), idList(key, y, idsB, common))
	}
}

// idList lists the ids that both sides have, as they stand in elems.
func idList(key string, elems []*canon.Value, ids []string, common map[string]bool) *canon.Value {
	var list []*canon.Value
	for i, id := range ids {
		if common[id] {
			list = append(list, elems[i].Get(key))
		}
	}
	return canon.NewArray(list...)
}

// alignCells bounds the table with which elements without ids are aligned.
const alignCells = 1 << 18

// arraysByPlace pairs what is equal at both ends and, where the middle is small
// enough, in the middle; what is left pairs place by place.
func (c *comparer) arraysByPlace(x, y []*canon.Value, s state) {
	idA, idB := identities(x), identities(y)
	from := 0
	for from < len(x) && from < len(y) && idA[from] == idB[from] {
		from++
	}
	endA, endB := len(x), len(y)
	for endA > from && endB > from && idA[endA-1] == idB[endB-1] {
		endA--
		endB--
	}
	i, j := from, from
	if (endA-from)*(endB-from) <= alignCells {
		for _, p := range commonPairs(idA[from:endA], idB[from:endB]) {
			c.gap(x[:from+p[0]], y[:from+p[1]], i, j, s)
			i, j = from+p[0]+1, from+p[1]+1
		}
	}
	c.gap(x[:endA], y[:endB], i, j, s)
}

// gap compares x[i:] with y[j:] place by place.
func (c *comparer) gap(x, y []*canon.Value, i, j int, s state) {
	for ; i < len(x) && j < len(y); i, j = i+1, j+1 {
		c.element(i, x[i], y[j], s)
	}
	for ; i < len(x); i++ {
		c.element(i, x[i], nil, s)
	}
	for ; j < len(y); j++ {
		c.element(j, nil, y[j], s)
	}
}

func identities(elems []*canon.Value) []string {
	ids := make([]string, len(elems))
	for i, e := range elems {
		ids[i] = string(canon.AppendIdentity(nil, e))
	}
	return ids
}

// commonPairs is a longest common subsequence, as pairs of places.
func commonPairs(a, b []string) (pairs [][2]int) {
	w := len(b) + 1
	table := make([]int32, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*w+j] = table[(i+1)*w+j+1] + 1
			} else {
				table[i*w+j] = max(table[(i+1)*w+j], table[i*w+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case table[(i+1)*w+j] >= table[i*w+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
