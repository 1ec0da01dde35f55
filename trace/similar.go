package trace

import (
	"bytes"
	"cmp"
	"slices"
)

// maxLikely bounds the pairs of calls of one tool in one gap that are compared
// for their likeness; of more the first goes with the first.
const maxLikely = 4096

// pairByTool pairs what is left of a gap by tool: the two calls that are most
// alike first, of equally alike ones those that come first.
func (m *matcher) pairByTool(a0, a1, b0, b1 int, taken []bool) {
	left := map[uint32][]int32{}
	for j := b0; j < b1; j++ {
		if !taken[j] {
			left[m.b[j].tool] = append(left[m.b[j].tool], int32(j))
		}
	}
	byTool, order := map[uint32][]int32{}, []uint32{}
	for i := a0; i < a1; i++ {
		if t := m.a[i].tool; m.match[i] < 0 && len(left[t]) > 0 {
			if byTool[t] == nil {
				order = append(order, t)
			}
			byTool[t] = append(byTool[t], int32(i))
		}
	}
	for _, tool := range order {
		m.pairAlike(byTool[tool], left[tool], taken)
	}
}

func (m *matcher) pairAlike(is, js []int32, taken []bool) {
	type likely struct {
		i, j  int
		score int
	}
	n := min(len(is), len(js))
	pair := func(i, j int) {
		m.match[is[i]] = js[j]
		taken[js[j]] = true
	}
	if m.leavesA == nil || len(is)*len(js) == 1 || len(is)*len(js) > maxLikely {
		for i := range n {
			pair(i, i)
		}
		return
	}
	x, y := leavesOf(is, m.leavesA), leavesOf(js, m.leavesB)
	all := make([]likely, 0, len(is)*len(js))
	for i := range is {
		for j := range js {
			all = append(all, likely{i, j, likeness(x[i], y[j])})
		}
	}
	slices.SortStableFunc(all, func(p, q likely) int {
		return cmp.Or(cmp.Compare(q.score, p.score), cmp.Compare(p.i+p.j, q.i+q.j), cmp.Compare(p.i, q.i))
	})
	doneI, doneJ := make([]bool, len(is)), make([]bool, len(js))
	for _, l := range all {
		if !doneI[l.i] && !doneJ[l.j] {
			doneI[l.i], doneJ[l.j] = true, true
			pair(l.i, l.j)
		}
	}
}

func leavesOf(list []int32, leaves func(int32) []uint64) [][]uint64 {
	out := make([][]uint64, len(list))
	for k, i := range list {
		out[k] = leaves(i)
	}
	return out
}

// likeness is how many of two calls' values are the same, of 1000.
func likeness(x, y []uint64) int {
	common, i, j := 0, 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i] == y[j]:
			common, i, j = common+1, i+1, j+1
		case x[i] < y[j]:
			i++
		default:
			j++
		}
	}
	return 2000 * common / max(1, len(x)+len(y))
}

// maxLeaves bounds the values of a call that its likeness is told by.
const maxLeaves = 1024

// leaves hashes what a call asked and got, value by value with its keys, sorted:
// calls with many in common are alike.
func leaves(entry []byte) []uint64 {
	l := leafer{}
	for _, key := range []string{"request", "status", "response", "result"} {
		if key == "result" && len(l.out) > 0 && lookup(entry, "response") != nil {
			break
		}
		if val := lookup(entry, key); val != nil {
			l.value(val, hashBytes(31, []byte(key)))
		}
	}
	slices.Sort(l.out)
	return l.out
}

type leafer struct{ out []uint64 }

func (l *leafer) value(b []byte, path uint64) {
	if len(l.out) == maxLeaves {
		return
	}
	switch b[0] {
	case '{':
		w := walk(b)
		for key, val, ok := w.member(); ok; key, val, ok = w.member() {
			if k := string(key); k != `"headers"` && k != `"context"` {
				l.value(val, mix(path, hashString(key)))
			}
		}
	case '[':
		w := walk(b)
		for val, ok := w.element(); ok; val, ok = w.element() {
			l.value(val, mix(path, 37))
		}
	case '"':
		for part := range bytes.SplitSeq(b[1:len(b)-1], []byte("/")) {
			l.out = append(l.out, mix(path, hashBytes(13, part)))
		}
	default:
		l.out = append(l.out, mix(path, hashScalar(b)))
	}
}
