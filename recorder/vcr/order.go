package vcr

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"slices"
	"strings"
)

// canonicalOrder sorts what parallel callers left in order of arrival. Exchanges
// that followed one another keep their order: it is part of what happened. A run
// of exchanges of which each overlapped another is sorted by what was asked, and
// by arrival where that is equal.
func canonicalOrder(items []item) []item {
	out := slices.Clone(items)
	slices.SortStableFunc(out, func(a, b item) int { return cmp.Compare(a.begin, b.begin) })
	for i := 0; i < len(out); {
		j, end := i+1, out[i].end
		for j < len(out) && out[j].begin < end {
			end = max(end, out[j].end)
			j++
		}
		slices.SortStableFunc(out[i:j], func(a, b item) int { return strings.Compare(a.key, b.key) })
		i = j
	}
	return out
}

// sortKey orders requests: by path, so that a collection stands before its
// members, then method, query and body. Placeholders count without their number.
func sortKey(it *Interaction) string {
	path, query, _ := strings.Cut(it.Request.URL, "?")
	if u, err := url.Parse(it.Request.URL); err == nil {
		path = u.EscapedPath()
	}
	methods := []string{"POST", "PUT", "PATCH", "GET", "HEAD", "OPTIONS"}
	rank := slices.Index(methods, it.Request.Method)
	if rank < 0 {
		rank = len(methods)
	}
	key := strings.Join([]string{path, string(rune('a' + rank)), it.Request.Method, query, digest(it.Request.Body)}, "\x00")
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
