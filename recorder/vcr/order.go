package vcr

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"slices"
	"strings"
)

// canonicalOrder takes what parallel callers left in order of arrival to an order
// that does not depend on their timing. A recording in which no two exchanges
// overlapped keeps its order. Any other is sorted by what was asked, as far as that
// leaves effects behind their causes: a read stays behind the writes to its
// resource, its collection or its members that were over before it began, and they
// behind the reads before them. Equal requests stay in order of arrival.
func canonicalOrder(items []item) []item {
	byBegin := slices.Clone(items)
	slices.SortStableFunc(byBegin, func(a, b item) int { return cmp.Compare(a.begin, b.begin) })
	overlap, end := false, uint64(0)
	for _, it := range byBegin {
		overlap = overlap || it.begin < end
		end = max(end, it.end)
	}
	if !overlap {
		return byBegin
	}
	return sorted(byBegin)
}

// Order is the canonical order of the exchanges of a recording, as positions in
// list, when nothing is known of their timing: that of a clean end, with every two
// exchanges taken for parallel that are not cause and effect. What is in this order
// already stays as it is, where no exchange has more than maxCauses causes.
func Order(list []*Interaction) []int {
	items := make([]item, len(list))
	for i, it := range list {
		at := uint64(i + 1)
		items[i] = item{begin: at, end: at, key: sortKey(it), method: it.Request.Method, path: pathOf(it.Request.URL)}
	}
	order := make([]int, len(list))
	for i, it := range sorted(items) {
		order[i] = int(it.begin - 1)
	}
	return order
}

// sorted takes exchanges, which stand by their beginning, to canonical order.
func sorted(byBegin []item) []item {
	after, waits := edges(byBegin)
	ready := &queue{items: byBegin}
	for i := range byBegin {
		if waits[i] == 0 {
			heap.Push(ready, i)
		}
	}
	out := make([]item, 0, len(byBegin))
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		out = append(out, byBegin[i])
		for _, j := range after[i] {
			if waits[j]--; waits[j] == 0 {
				heap.Push(ready, j)
			}
		}
	}
	return out
}

// maxCauses bounds how many earlier exchanges of one path are looked at.
const maxCauses = 16

// edges says which exchanges stay behind which.
func edges(items []item) (after [][]int, waits []int) {
	after, waits = make([][]int, len(items)), make([]int, len(items))
	own, below := map[string][]int{}, map[string][]int{} // exchanges at a path, and at or below it
	for j, b := range items {
		seen := map[int]bool{}
		look := func(list []int) {
			for _, i := range list[max(0, len(list)-maxCauses):] {
				if a := items[i]; a.end < b.begin && !seen[i] && (a.key == b.key || conflict(a.method, b.method)) {
					seen[i] = true
					after[i] = append(after[i], j)
					waits[j]++
				}
			}
		}
		look(below[b.path])
		for q := parent(b.path); q != ""; q = parent(q) {
			look(own[q])
		}
		own[b.path] = append(own[b.path], j)
		for q := b.path; q != ""; q = parent(q) {
			below[q] = append(below[q], j)
		}
	}
	return after, waits
}

// conflict reports whether the order of two methods at related paths matters: not
// of two reads, and not of two POST, which make two things.
func conflict(a, b string) bool {
	reads := func(m string) bool { return m == "GET" || m == "HEAD" || m == "OPTIONS" }
	return !(reads(a) && reads(b)) && !(a == "POST" && b == "POST")
}

func parent(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}

// A queue hands out the exchanges that wait for nothing, by their key.
type queue struct {
	items []item
	ready []int
}

// Len implements heap.Interface.
func (q *queue) Len() int { return len(q.ready) }

// Less implements heap.Interface.
func (q *queue) Less(i, j int) bool {
	a, b := q.items[q.ready[i]], q.items[q.ready[j]]
	return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.begin, b.begin)) < 0
}

// Swap implements heap.Interface.
func (q *queue) Swap(i, j int) { q.ready[i], q.ready[j] = q.ready[j], q.ready[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { q.ready = append(q.ready, x.(int)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := q.ready[len(q.ready)-1]
	q.ready = q.ready[:len(q.ready)-1]
	return last
}

// pathOf is the path of a URL, without a slash at its end.
func pathOf(text string) string {
	path, _, _ := strings.Cut(text, "?")
	if u, err := url.Parse(text); err == nil {
		path = u.Host + u.EscapedPath()
	}
	return strings.TrimSuffix(path, "/")
}

// sortKey orders requests: by path, so that a collection stands before its
// members, then method, query and body. Placeholders count without their number.
func sortKey(it *Interaction) string {
	_, query, _ := strings.Cut(it.Request.URL, "?")
	methods := []string{"POST", "PUT", "PATCH", "GET", "HEAD", "OPTIONS"}
	rank := slices.Index(methods, it.Request.Method)
	if rank < 0 {
		rank = len(methods)
	}
	key := strings.Join([]string{pathOf(it.Request.URL), string(rune('a' + rank)), it.Request.Method, query, digest(it.Request.Body)}, "\x00")
	return unnumbered(key)
}

func digest(b Body) string {
	if b == nil {
		return ""
	}
	r, err := b.Open()
	if err != nil {
		return ""
	}
	h := sha256.New()
	n := NewNumberer(h)
	n.fixed = true
	if _, err := io.Copy(n, r); err != nil || n.Flush() != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
