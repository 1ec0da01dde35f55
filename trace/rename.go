package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A renamer pairs the values of two runs that have another name in each: every
// value of the baseline with one of the other run, and the other way round.
type renamer struct {
	classes []nameClass
	byKey   map[string]bool   // whether a class names a key, of the keys seen
	there   map[string]string // of the baseline's value: the other run's
	back    map[string]string
	fresh   int      // pairs of different values since take
	added   []string // keys of there since begin
}

// A nameClass tells values by the key that leads to them, or by their text.
type nameClass struct {
	byKey  func(key string) bool  // nil: by none
	byText func(text []byte) bool // nil: by none
}

func newRenamer(names []string) *renamer {
	if len(names) == 0 {
		return nil
	}
	r := &renamer{byKey: map[string]bool{}, there: map[string]string{}, back: map[string]string{}}
	for _, n := range names {
		if class, ok := renameClass(n); ok {
			r.classes = append(r.classes, class)
		}
	}
	return r
}

// begin starts what undo takes back.
func (r *renamer) begin() {
	if r != nil {
		r.added = r.added[:0]
	}
}

// undo forgets the pairs that were made since begin.
func (r *renamer) undo() {
	if r == nil {
		return
	}
	for _, x := range r.added {
		y := r.there[x]
		if x != y {
			r.fresh--
		}
		delete(r.there, x)
		delete(r.back, y)
	}
	r.begin()
}

// take returns how many values were found renamed since the last call.
func (r *renamer) take() (n int) {
	if r != nil {
		n, r.fresh = r.fresh, 0
	}
	return n
}

func renameClass(name string) (nameClass, bool) {
	switch name {
	case "ids":
		return nameClass{func(key string) bool {
			return slices.Contains(idKeys, key) || likeID(key) || strings.HasSuffix(key, "_ids") || strings.HasSuffix(key, "Ids")
		}, isUUID}, true
	case "tokens":
		return nameClass{byKey: func(key string) bool { return endsLike(key, "token", "secret", "etag", "nonce", "signature") }}, true
	case "cursors":
		return nameClass{byKey: func(key string) bool {
			return endsLike(key, "cursor", "next", "next_page", "page_token", "pagetoken", "skiptoken", "after", "before")
		}}, true
	case "times":
		return nameClass{byText: isTime}, true
	}
	return nameClass{}, false
}

// namedPaths are where a client says what it asks for: there a text may hold
// names that nothing has shown yet.
func namedPaths() []string {
	return []string{"/request/path", "/normalized/params/path/*/**", "/request/input/*/**"}
}

func endsLike(key string, words ...string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(key, w) })
}

func isUUID(s []byte) bool {
	return len(s) == 36 && shaped(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

// isTime tells a date and time of RFC 3339 by its form.
func isTime(s []byte) bool {
	return len(s) >= 20 && len(s) <= 40 && shaped(s[:19], "dddd-dd-ddTdd:dd:dd")
}

func shaped(s []byte, form string) bool {
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

// renamed reports whether a renaming deals with two values: it explains them, or
// the difference is added. x and y are their texts.
func (c *comparer) renamed(x, y string, a, b *canon.Value, s state) bool {
	r := c.names
	if r == nil || c.opts == nil {
		return false
	}
	switch r.explains(c.pats, s, []byte(c.key), []byte(x), []byte(y)) {
	case nameHolds:
		return true
	case nameConflicts:
		c.note = r.conflict(x, y)
		c.add(ValueChanged, a, b)
		c.note = ""
		return true
	}
	return false
}

// A naming is what a renaming says of two values.
type naming int

const (
	nameUnknown   naming = iota // nothing
	nameHolds                   // they are one value
	nameConflicts               // one of them stands for another one elsewhere
)

// explains looks at two texts under a key, and learns from them where a value
// may have another name.
func (r *renamer) explains(p *patterns, s state, key, x, y []byte) naming {
	if p.matchIn(s, p.rename) >= 0 || r.keyNamed(key) || r.textsNamed(x, y) {
		if r.pair(x, y) {
			return nameHolds
		}
		return nameConflicts
	}
	if !bytes.Equal(x, y) && r.parts(x, y, p.matchIn(s, p.learn) >= 0) {
		return nameHolds
	}
	return nameUnknown
}

// manyKeys bounds the keys whose class is remembered.
const manyKeys = 4096

func (r *renamer) keyNamed(key []byte) bool {
	named, known := r.byKey[string(key)]
	if !known {
		text := string(key)
		named = slices.ContainsFunc(r.classes, func(c nameClass) bool { return c.byKey != nil && c.byKey(text) })
		if len(r.byKey) < manyKeys {
			r.byKey[text] = named
		}
	}
	return named
}

// textsNamed reports whether one class names both texts.
func (r *renamer) textsNamed(x, y []byte) bool {
	for _, c := range r.classes {
		if c.byText != nil && c.byText(x) && c.byText(y) {
			return true
		}
	}
	return false
}

// pair holds two values for one under two names, unless one has another partner.
func (r *renamer) pair(x, y []byte) bool {
	if to, ok := r.there[string(x)]; ok {
		return to == string(y)
	}
	if _, ok := r.back[string(y)]; ok {
		return false
	}
	from, to := string(x), string(y)
	r.there[from], r.back[to] = to, from
	r.added = append(r.added, from)
	if from != to {
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
func (r *renamer) parts(x, y []byte, learn bool) bool {
	type names struct{ x, y []byte }
	var found []names
	for len(x) > 0 || len(y) > 0 {
		i, j := nameLen(x), nameLen(y)
		if nx, ny := x[:i], y[:j]; !bytes.Equal(nx, ny) {
			if i == 0 || j == 0 {
				return false
			}
			found = append(found, names{nx, ny})
		}
		if x, y = x[i:], y[j:]; len(x) == 0 || len(y) == 0 {
			if len(x) != len(y) {
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
		if to, known := r.there[string(n.x)]; known && to == string(n.y) {
			continue
		}
		if !learn || !r.pair(n.x, n.y) {
			return false
		}
	}
	return len(found) > 0
}

func nameLen(s []byte) int {
	for i, c := range s {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' && c < 0x80 {
			return i
		}
	}
	return len(s)
}
