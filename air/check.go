package air

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/near"
)

// A checker walks a document by its shape: it notes what is wrong, drops
// unknown keys and fills in defaults. What needs no change is shared with the
// tree it was given.
type checker struct {
	path   []step
	faults faultList
	paths  [][]step // of the faults kept
}

// normalise checks a whole document and returns it normalised, or what is wrong
// with it and where.
func normalise(tree *Value) (*Value, faultList, [][]step) {
	c := checker{}
	tree = c.value(tree, &valueType{kind: canon.Object, shape: documentShape()})
	return tree, c.faults, c.paths
}

func (c *checker) fault(format string, args ...any) {
	c.faults.add(Fault{Key: keyPath(c.path), Msg: fmt.Sprintf(format, args...)})
	if len(c.paths) < len(c.faults.faults) {
		c.paths = append(c.paths, slices.Clone(c.path))
	}
}

func (c *checker) at(s step, check func()) {
	c.path = append(c.path, s)
	check()
	c.path = c.path[:len(c.path)-1]
}

// value checks v and returns it normalised.
func (c *checker) value(v *Value, t *valueType) *Value {
	if t.kind == canon.Absent {
		return v
	}
	if v.Kind() != t.kind {
		c.fault("%s, want %s%s", found(v), t.wants(), unquoted(v, t))
		return v
	}
	switch t.kind {
	case canon.String:
		c.text(v.Text(), t)
	case canon.Number:
		c.number(v, t)
	case canon.Array:
		return c.list(v, t.elem)
	case canon.Object:
		if s := c.shapeOf(v, t); s != nil {
			return c.object(v, s)
		}
	}
	return v
}

func (c *checker) list(v *Value, t *valueType) *Value {
	elems := v.Elems()
	var changed []*Value
	for i, e := range elems {
		c.path = append(c.path, step{index: i})
		n := c.value(e, t)
		c.path = c.path[:len(c.path)-1]
		if n != e && changed == nil {
			changed = append(make([]*Value, 0, len(elems)), elems[:i]...)
		}
		if changed != nil {
			changed = append(changed, n)
		}
	}
	if changed == nil {
		return v
	}
	return canon.NewArray(changed...)
}

// shapeOf is the shape of an object: its type's own, or the variant that one of
// its keys names; nil for a map, which is kept whole.
func (c *checker) shapeOf(v *Value, t *valueType) *shape {
	if t.by == "" {
		return t.shape
	}
	which := v.Get(t.by)
	if s := t.variants[which.Text()]; s != nil && which.Is(canon.String) {
		return s
	}
	c.at(step{key: t.by}, func() {
		c.fault("%s, want %s%s", found(which), oneOf(t.choices), didYouMean(which.Text(), t.choices))
	})
	return nil
}

func (c *checker) object(v *Value, s *shape) *Value {
	members := v.Members()
	var seen [64]bool // more keys than any shape has
	var changed []canon.Member
	same := true
	for i, m := range members {
		k, known := s.index[m.Key]
		n := m.Value
		if known {
			seen[k] = true
			c.path = append(c.path, step{key: m.Key})
			n = c.value(n, s.fields[k].typ)
			c.path = c.path[:len(c.path)-1]
		} else if s.closed {
			c.at(step{key: m.Key}, func() { c.fault("unknown key, want %s", s.keys()) })
		}
		if same && (!known || n != m.Value) {
			same = false
			changed = append(make([]canon.Member, 0, len(s.fields)), members[:i]...)
		}
		if !same && known {
			changed = append(changed, canon.Member{Key: m.Key, Value: n})
		}
	}
	for k := range s.fields {
		f := &s.fields[k]
		switch {
		case seen[k]:
		case f.required:
			c.missing(v, s, f)
		case f.fallback != nil:
			if same {
				same = false
				changed = append(make([]canon.Member, 0, len(s.fields)), members...)
			}
			changed = append(changed, canon.Member{Key: f.key, Value: f.fallback})
		}
	}
	if !same {
		v = canon.NewObject(changed...)
	}
	c.rules(v, s)
	return v
}

func (c *checker) missing(v *Value, s *shape, f *keySpec) {
	var unknown []string
	for _, m := range v.Members() {
		if _, ok := s.index[m.Key]; !ok {
			unknown = append(unknown, m.Key)
		}
	}
	hint := ""
	if typed := near.Name(f.key, unknown); typed != "" {
		hint = fmt.Sprintf(" (%q is not a known key; did you mean %s?)", typed, f.key)
	}
	c.at(step{key: f.key}, func() { c.fault("missing, want %s%s", f.typ.wants(), hint) })
}

// rules are the checks that no table row states (air-fields.md, first list).
func (c *checker) rules(v *Value, s *shape) {
	switch s.name {
	case "claim":
		if v.Get("relation") != nil && v.Get("id") == nil {
			c.fault("a claim with a relation, want an id too")
		}
	case "agentProjection":
		c.projection(v)
	case "asyncContract":
		for _, key := range []string{"statusOperationId", "statusJobIdParam"} {
			if v.Get("webhook") == nil && v.Get(key) == nil {
				c.at(step{key: key}, func() { c.fault("missing, want a string (or a webhook)") })
			}
		}
	case "workflow":
		c.supersedes(v)
	}
}

// projection wants something to project, and one decision for each field.
func (c *checker) projection(v *Value) {
	include, exclude, rename := v.Get("include"), v.Get("exclude"), v.Get("rename")
	if include == nil && exclude == nil && rename == nil {
		c.fault("empty, want include, exclude or rename")
	}
	excluded := map[string]bool{}
	for _, e := range exclude.Elems() {
		excluded[e.Text()] = true
	}
	for _, e := range include.Elems() {
		if excluded[e.Text()] {
			c.fault("%q is in include and in exclude, want it in one", e.Text())
		}
	}
	targets := map[string]string{}
	for _, m := range rename.Members() {
		if excluded[m.Key] {
			c.fault("%q is in rename and in exclude, want it in one", m.Key)
		}
		to := m.Value.Text()
		if from, taken := targets[to]; taken {
			c.fault("%q and %q are both renamed to %q, want different names", from, m.Key, to)
		}
		targets[to] = m.Key
	}
}

func (c *checker) supersedes(v *Value) {
	steps := map[string]bool{}
	for _, s := range v.Get("steps").Elems() {
		steps[s.Get("operationId").Text()] = true
	}
	for i, e := range v.Get("supersedes").Elems() {
		if !steps[e.Text()] {
			c.at(step{key: "supersedes"}, func() {
				c.at(step{index: i}, func() { c.fault("%q, want an operation of one of the workflow's own steps", e.Text()) })
			})
		}
	}
}

func (c *checker) number(v *Value, t *valueType) {
	n := v.Float()
	switch {
	case t.integer && (n != math.Trunc(n) || math.Abs(n) > 1<<53-1):
		c.fault("%s, want %s", v.Text(), t.wants())
	case t.bounded && (n < t.min || n > t.max || t.above && n == t.min):
		c.fault("%s, want %s", v.Text(), t.wants())
	}
}

func (c *checker) text(s string, t *valueType) {
	if t.enum != nil {
		for _, e := range t.enum {
			if e == s {
				return
			}
		}
		c.fault("%s, want %s%s", quote(s), oneOf(t.enum), didYouMean(s, t.enum))
		return
	}
	if t.bounded {
		if n := float64(utf16Len(s)); n < t.min || n > t.max {
			c.fault("%s, want %s", found(canon.NewString(s)), t.wants())
			return
		}
	}
	if want := formatFault(t.format, s); want != "" {
		c.fault("%s, want %s", quote(s), want)
	}
}

// formatFault says what a string of the format must be, "" when s is.
func formatFault(format, s string) string {
	switch format {
	case "service-id":
		if !isSlug(s, "_-") {
			return "lower-case letters, digits, _ and -, beginning with a letter and ending with a letter or digit"
		}
	case "profile-name":
		if !isSlug(s, "_") {
			return "lower-case letters, digits and _, beginning with a letter and ending with a letter or digit"
		}
	case "content-hash":
		if hex, ok := strings.CutPrefix(s, "sha256:"); !ok || len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
			return "sha256: and 64 lower-case hexadecimal digits"
		}
	case "uri":
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || (u.Scheme == "http" || u.Scheme == "https") && u.Host == "" {
			return "an absolute URI"
		}
	}
	return ""
}

// isSlug reports whether s is at most 64 lower-case letters, digits and bytes
// of extra, begins with a letter and does not end with one of extra.
func isSlug(s, extra string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' || strings.IndexByte(extra, s[len(s)-1]) >= 0 {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(extra, r)
	})
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// wants says what a value of the type is, for errors.
func (t *valueType) wants() string {
	switch {
	case t.enum != nil:
		return oneOf(t.enum)
	case t.integer && t.bounded && math.IsInf(t.max, 1):
		return fmt.Sprintf("an integer of at least %g", t.min)
	case t.integer && t.bounded:
		return fmt.Sprintf("an integer from %.0f to %.0f", t.min, t.max)
	case t.integer:
		return "an integer"
	case t.kind == canon.Number && t.above:
		return fmt.Sprintf("a number above %g", t.min)
	case t.kind == canon.Number && t.bounded:
		return fmt.Sprintf("a number from %g to %g", t.min, t.max)
	case t.kind == canon.String && t.bounded && math.IsInf(t.max, 1):
		return "a string that is not empty"
	case t.kind == canon.String && t.bounded:
		return fmt.Sprintf("a string of %.0f to %.0f characters", t.min, t.max)
	case t.kind == canon.Array:
		return "an array"
	}
	return t.kind.String()
}

// found names a value for an error: a scalar by its text, the rest by kind.
func found(v *Value) string {
	switch v.Kind() {
	case canon.Absent:
		return "missing"
	case canon.String:
		return quote(v.Text())
	case canon.Number, canon.Bool:
		return v.String()
	}
	return v.Kind().String()
}

// unquoted is advice for text that YAML reads as something else.
func unquoted(v *Value, t *valueType) string {
	switch {
	case v.Is(canon.Null):
		return " (or leave the key out)"
	case t.kind == canon.String && (v.Is(canon.Number) || v.Is(canon.Bool)) && t.takes(v.String()):
		return " (put it in quotes)"
	}
	return ""
}

// takes reports whether a string type takes this text.
func (t *valueType) takes(s string) bool {
	if t.enum != nil {
		return slices.Contains(t.enum, s)
	}
	return formatFault(t.format, s) == ""
}

func quote(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

func (s *shape) keys() string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.key
	}
	return oneOf(names)
}

// oneOf lists accepted words: "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
