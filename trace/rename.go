package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A renamer pairs the values of two runs that have another name in each: every
// value of the baseline with one of the other run, and the other way round.
type renamer struct {
	classes []func(key, text string) bool
	there   map[string]string // of the baseline's value: the other run's
	back    map[string]string
	fresh   int // pairs of different values since take
}

func newRenamer(names []string) *renamer {
	if len(names) == 0 {
		return nil
	}
	r := &renamer{there: map[string]string{}, back: map[string]string{}}
	for _, n := range names {
		if class, ok := renameClass(n); ok {
			r.classes = append(r.classes, class)
		}
	}
	return r
}

// take returns how many values were found renamed since the last call.
func (r *renamer) take() (n int) {
	if r != nil {
		n, r.fresh = r.fresh, 0
	}
	return n
}

// renameClass is a test for values by the key that leads to them and their text.
func renameClass(name string) (func(key, text string) bool, bool) {
	switch name {
	case "ids":
		return func(key, text string) bool {
			return slices.Contains(idKeys, key) || likeID(key) || strings.HasSuffix(key, "_ids") || strings.HasSuffix(key, "Ids") || isUUID(text)
		}, true
	case "tokens":
		return func(key, _ string) bool { return endsLike(key, "token", "secret", "etag", "nonce", "signature") }, true
	case "cursors":
		return func(key, _ string) bool {
			return endsLike(key, "cursor", "next", "next_page", "page_token", "pagetoken", "skiptoken", "after", "before")
		}, true
	case "times":
		return func(_, text string) bool { return isTime(text) }, true
	}
	return nil, false
}

func endsLike(key string, words ...string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(key, w) })
}

func isUUID(s string) bool { return len(s) == 36 && shaped(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") }

// isTime tells a date and time of RFC 3339 by its form.
func isTime(s string) bool {
	return len(s) >= 20 && len(s) <= 40 && shaped(s[:19], "dddd-dd-ddTdd:dd:dd")
}

func shaped(s, form string) bool {
	for i := range len(form) {
		c := s[i]
		switch form[i] {
		case 'd':
			if c < '0' || c > '9' {
				return false
			}
		case 'x':
			if !isDigit(c) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}

// renamed reports whether a renaming explains two values; it learns one where a
// value may have another name. x and y are their texts.
func (c *comparer) renamed(x, y string, a, b *canon.Value, s state) bool {
	r := c.names
	if r == nil || c.opts == nil {
		return false
	}
	mayRename := c.pats.matchIn(s, c.pats.rename) >= 0 || slices.ContainsFunc(r.classes, func(f func(string, string) bool) bool {
		return f(c.key, x) && f(c.key, y)
	})
	if mayRename {
		if r.pair(x, y) {
			return true
		}
		c.note = r.conflict(x, y)
		c.add(ValueChanged, a, b)
		c.note = ""
		return true // said already
	}
	return x != y && (r.parts(x, y, c.inPath()))
}

// inPath reports whether the value is a path that the client asked for: its
// segments may be names that nothing has shown yet.
func (c *comparer) inPath() bool {
	p := string(c.path)
	return p == "/request/path" || strings.HasPrefix(p, "/normalized/params/path/") || strings.HasPrefix(p, "/request/input/")
}

// pair holds two values for one under two names, unless one has another partner.
func (r *renamer) pair(x, y string) bool {
	if to, ok := r.there[x]; ok {
		return to == y
	}
	if _, ok := r.back[y]; ok {
		return false
	}
	r.there[x], r.back[y] = y, x
	if x != y {
		r.fresh++
	}
	return true
}

func (r *renamer) conflict(x, y string) string {
	if to, ok := r.there[x]; ok {
		return fmt.Sprintf("%s stands for %s elsewhere", quoteShort(to), quoteShort(x))
	}
	return fmt.Sprintf("%s stands for %s elsewhere", quoteShort(y), quoteShort(r.back[y]))
}

func quoteShort(s string) string {
	return string(canon.AppendString(nil, shorten([]byte(s), 60)))
}

// parts compares two texts that hold names, such as paths and links: what
// stands between the names is equal, and each name is paired already, or may be
// paired here when learn is set.
func (r *renamer) parts(x, y string, learn bool) bool {
	type names struct{ x, y string }
	var found []names
	for x != "" || y != "" {
		i, j := nameLen(x), nameLen(y)
		if nx, ny := x[:i], y[:j]; nx != ny {
			if i == 0 || j == 0 {
				return false
			}
			found = append(found, names{nx, ny})
		}
		if x, y = x[i:], y[j:]; x == "" || y == "" {
			if x != y {
				return false
			}
			break
		}
		if x[0] != y[0] {
			return false
		}
		x, y = x[1:], y[1:]
	}
	for _, n := range found {
		if to, known := r.there[n.x]; known && to == n.y {
			continue
		}
		if !learn || !r.pair(n.x, n.y) {
			return false
		}
	}
	return len(found) > 0
}

func nameLen(s string) int {
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' && c < 0x80 {
			return i
		}
	}
	return len(s)
}
