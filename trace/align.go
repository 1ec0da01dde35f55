package trace

import (
	"slices"
	"sort"
)

// A pairing is one step of an aligned comparison: a pair, or a call of one
// side; -1 stands for none.
type pairing struct {
	a, b  int32
	moved bool
}

// alignCalls pairs the calls of two runs: the same calls with the same answers in
// the same order first, then between them the same calls with other answers,
// then the same calls elsewhere (moved), then calls of one tool that
// stand in the same gap, the most similar first (changed). The result follows the baseline; what only
// the other run has comes before the next common call. leavesA and leavesB give
// the sorted hashes of a call's values, by which the most similar calls of a gap
// pair; nil pairs them in order.
func alignCalls(a, b []place, leavesA, leavesB func(int32) []uint64) []pairing {
	m := matcher{a: a, b: b, match: make([]int32, len(a)), leavesA: leavesA, leavesB: leavesB}
	for i := range m.match {
		m.match[i] = -1
	}
	withAnswer := func(p *place) uint64 { return mix(p.call, p.answer) }
	m.keyA, m.keyB = keys(a, withAnswer), keys(b, withAnswer)
	m.align(0, len(a), 0, len(b), 0)
	callOnly := func(p *place) uint64 { return p.call }
	m.keyA, m.keyB = keys(a, callOnly), keys(b, callOnly)
	m.gaps(slices.Clone(m.match), func(a0, a1, b0, b1 int) { m.align(a0, a1, b0, b1, 0) })
	m.keyA, m.keyB = nil, nil
	inOrder := slices.Clone(m.match)
	taken := make([]bool, len(b))
	for _, j := range m.match {
		if j >= 0 {
			taken[j] = true
		}
	}
	m.pairMoved(taken)
	moved := slices.Clone(m.match)
	m.gaps(inOrder, func(a0, a1, b0, b1 int) { m.pairByTool(a0, a1, b0, b1, taken) })
	return m.steps(inOrder, moved, taken)
}

type matcher struct {
	a, b       []place
	keyA, keyB []uint64 // what align pairs by
	match      []int32  // of a: its place in b, -1 for none

	leavesA, leavesB func(int32) []uint64
}

func keys(places []place, key func(*place) uint64) []uint64 {
	out := make([]uint64, len(places))
	for i := range places {
		out[i] = key(&places[i])
	}
	return out
}

// maxDepth bounds the recursion between anchors, maxEdits the exact search.
const (
	maxDepth = 64
	maxEdits = 2048
)

// align pairs a[a0:a1] with b[b0:b1] in order.
func (m *matcher) align(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && m.keyA[a0] == m.keyB[b0] {
		m.match[a0] = int32(b0)
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.keyA[a1-1] == m.keyB[b1-1] {
		a1, b1 = a1-1, b1-1
		m.match[a1] = int32(b1)
	}
	if a0 == a1 || b0 == b1 || m.shortest(a0, a1, b0, b1) {
		return
	}
	anchors := m.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 || depth == maxDepth {
		m.greedy(a0, a1, b0, b1)
		return
	}
	for _, p := range anchors {
		m.match[p[0]] = int32(p[1])
		m.align(a0, p[0], b0, p[1], depth+1)
		a0, b0 = p[0]+1, p[1]+1
	}
	m.align(a0, a1, b0, b1, depth+1)
}

// shortest finds a shortest edit script (Myers, "An O(ND) difference
// algorithm") of at most maxEdits edits; false when it takes more.
func (m *matcher) shortest(a0, a1, b0, b1 int) bool {
	n, k := a1-a0, b1-b0
	limit := min(n+k, maxEdits)
	if d := n - k; d > limit || -d > limit {
		return false
	}
	work := 8*(n+k) + maxEdits*maxEdits // equal calls stepped over, which repeats can make many
	var rows [][]int32                  // rows[d][x+d]: how far diagonal x reaches with d edits
	for d := 0; d <= limit; d++ {
		row := make([]int32, 2*d+1)
		for x := -d; x <= d; x += 2 {
			i := reach(rows, d, x)
			for i < n && i-x < k && m.keyA[a0+i] == m.keyB[b0+i-x] {
				i++
				work--
			}
			row[x+d] = int32(i)
			if i >= n && i-x >= k {
				rows = append(rows, row)
				m.trace(rows, a0, b0, n, k)
				return true
			}
		}
		if rows = append(rows, row); work < 0 {
			return false
		}
	}
	return false
}

// reach is where diagonal x begins with d edits, before its run of equal calls.
func reach(rows [][]int32, d, x int) int {
	if d == 0 {
		return 0
	}
	prev := rows[d-1]
	at := func(x int) int { return int(prev[x+d-1]) }
	if x == -d || x != d && at(x-1) < at(x+1) {
		return at(x + 1)
	}
	return at(x-1) + 1
}

// trace goes back from the end and records the equal calls on the way.
func (m *matcher) trace(rows [][]int32, a0, b0, i, j int) {
	for d := len(rows) - 1; d >= 0; d-- {
		x := i - j
		from := reach(rows, d, x)
		for i > from {
			i, j = i-1, j-1
			m.match[a0+i] = int32(b0 + j)
		}
		if d == 0 {
			return
		}
		// The edit before: down when the diagonal came from x+1.
		prev := rows[d-1]
		if x == -d || x != d && prev[x-1+d-1] < prev[x+1+d-1] {
			j--
		} else {
			i--
		}
	}
}

// anchors are the calls that both ranges have exactly once, the longest series
// of them that is in order.
func (m *matcher) anchors(a0, a1, b0, b1 int) [][2]int {
	type once struct{ inA, inB, i, j int32 }
	seen := make(map[uint64]*once)
	for i := a0; i < a1; i++ {
		o := seen[m.keyA[i]]
		if o == nil {
			o = &once{}
			seen[m.keyA[i]] = o
		}
		o.inA, o.i = o.inA+1, int32(i)
	}
	for j := b0; j < b1; j++ {
		if o := seen[m.keyB[j]]; o != nil {
			o.inB, o.j = o.inB+1, int32(j)
		}
	}
	var pairs [][2]int
	for i := a0; i < a1; i++ {
		if o := seen[m.keyA[i]]; o.inA == 1 && o.inB == 1 {
			pairs = append(pairs, [2]int{i, int(o.j)})
		}
	}
	return longestRise(pairs)
}

// longestRise is the longest series of pairs whose second numbers rise.
func longestRise(pairs [][2]int) [][2]int {
	tails, before := []int{}, make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(tails), func(k int) bool { return pairs[tails[k]][1] >= p[1] })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	out := make([][2]int, len(tails))
	i := -1
	if len(tails) > 0 {
		i = tails[len(tails)-1]
	}
	for n := len(out) - 1; n >= 0; n-- {
		out[n] = pairs[i]
		i = before[i]
	}
	return out
}

// greedyWindow is how far greedy looks ahead for the same call.
const greedyWindow = 1024

// greedy pairs each call with the next same one within the window.
func (m *matcher) greedy(a0, a1, b0, b1 int) {
	for i := a0; i < a1 && b0 < b1; i++ {
		for j := b0; j < min(b1, b0+greedyWindow); j++ {
			if m.keyA[i] == m.keyB[j] {
				m.match[i] = int32(j)
				b0 = j + 1
				break
			}
		}
	}
}

// pairMoved pairs what is left by call, the first with the first.
func (m *matcher) pairMoved(taken []bool) {
	left := map[uint64][]int32{}
	for j := range m.b {
		if !taken[j] {
			left[m.b[j].call] = append(left[m.b[j].call], int32(j))
		}
	}
	for i := range m.a {
		if m.match[i] < 0 {
			if js := left[m.a[i].call]; len(js) > 0 {
				m.match[i], left[m.a[i].call] = js[0], js[1:]
				taken[js[0]] = true
			}
		}
	}
}

// gaps calls each with what lies between two pairs that are in order, where
// both sides have something there.
func (m *matcher) gaps(inOrder []int32, each func(a0, a1, b0, b1 int)) {
	a0, b0 := 0, 0
	for i := 0; i <= len(m.a); i++ {
		end := len(m.b)
		if i < len(m.a) {
			if inOrder[i] < 0 {
				continue
			}
			end = int(inOrder[i])
		}
		if a0 < i && b0 < end {
			each(a0, i, b0, end)
		}
		a0, b0 = i+1, end+1
	}
}

// steps puts the pairs in the order of the report.
func (m *matcher) steps(inOrder, moved []int32, taken []bool) []pairing {
	out := make([]pairing, 0, max(len(m.a), len(m.b)))
	next := 0
	insertedTo := func(end int) {
		for ; next < end; next++ {
			if !taken[next] {
				out = append(out, pairing{-1, int32(next), false})
			}
		}
	}
	for i := range m.a {
		if j := inOrder[i]; j >= 0 {
			insertedTo(int(j))
		}
		out = append(out, pairing{int32(i), m.match[i], inOrder[i] < 0 && moved[i] >= 0})
	}
	insertedTo(len(m.b))
	return out
}
