package trace

import (
	"fmt"
	"slices"
	"strings"
)

// A Selector chooses calls. Each field that is not empty is a condition of its
// own: one of its values must hold. All conditions must hold; none chooses every
// call.
type Selector struct {
	Tool, Operation   []string // exact, or with * for any text
	Status            []string // "409", or a class: "4xx"
	Code              []string // the result's error code; "none" is a success
	Kind              []string // list, read or mutation
	Principal, Tenant []string
	Seq               []string // "7", "3-9", "12-"
	// Where is one more condition, nil for none.
	Where func(v *View) (bool, error)
}

// A Filter is a compiled Selector. Its Match may run in several goroutines.
type Filter struct {
	conditions []condition
	where      func(v *View) (bool, error)
	names      *names // nil without exact tools and operations
}

type condition struct {
	name  string
	holds func(v *View) bool
}

// Compile checks the selector's values. The error is an *OptionError.
func (s *Selector) Compile() (*Filter, error) {
	f := &Filter{where: s.Where}
	f.expect(s)
	f.texts("tool", s.Tool, (*View).Tool)
	f.texts("operation", s.Operation, (*View).Operation)
	if err := f.status(s.Status); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.Kind, func(k string) bool { return k != "list" && k != "read" && k != "mutation" }) {
		return nil, &OptionError{Option: "--kind", Msg: fmt.Sprintf("found %q, want list, read or mutation", strings.Join(s.Kind, ","))}
	}
	f.texts("kind", s.Kind, (*View).Kind)
	f.texts("code", s.Code, func(v *View) string {
		if c := v.Code(); c != "" {
			return c
		}
		return "none"
	})
	f.texts("principal", s.Principal, (*View).Principal)
	f.texts("tenant", s.Tenant, (*View).Tenant)
	if err := f.seq(s.Seq); err != nil {
		return nil, err
	}
	// Conditions about what stands late in a line come last.
	return f, nil
}

func (f *Filter) add(name string, holds func(v *View) bool) {
	f.conditions = append(f.conditions, condition{name, holds})
}

func (f *Filter) texts(name string, want []string, get func(*View) string) {
	if len(want) == 0 {
		return
	}
	var patterns []string
	for _, w := range want {
		if strings.Contains(w, "*") {
			patterns = append(patterns, w)
		}
	}
	f.add(name, func(v *View) bool {
		got := get(v)
		return slices.Contains(want, got) || slices.ContainsFunc(patterns, func(p string) bool { return wild(p, got) })
	})
}

// wild matches a text against a pattern in which * stands for any text.
func wild(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 || !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}

func (f *Filter) status(want []string) error {
	for _, w := range want {
		ok := len(w) == 3 && w[0] >= '1' && w[0] <= '5' && (w[1:] == "xx" || isDigit(w[1]) && isDigit(w[2]))
		if !ok {
			return &OptionError{Option: "--status", Msg: fmt.Sprintf("found %q, want a status such as 409, or a class such as 4xx", w)}
		}
	}
	if len(want) > 0 {
		f.add("status", func(v *View) bool {
			got := v.Get("status")
			return len(got) == 3 && slices.ContainsFunc(want, func(w string) bool {
				return w == string(got) || w[1:] == "xx" && w[0] == got[0]
			})
		})
	}
	return nil
}

func (f *Filter) seq(want []string) error {
	type span struct{ from, to int64 }
	var spans []span
	for _, w := range want {
		from, to, ranged := strings.Cut(w, "-")
		a, n := parseSeq([]byte(from))
		b, m := a, len(to)
		if ranged && to == "" {
			b = 1<<63 - 1
		} else if ranged {
			b, m = parseSeq([]byte(to))
		}
		if n == 0 || n != len(from) || m != len(to) || b < a {
			return &OptionError{Option: "--seq", Msg: fmt.Sprintf("found %q, want a number or a range such as 3-9 or 12-", w)}
		}
		spans = append(spans, span{a, b})
	}
	if len(spans) > 0 {
		f.add("seq", func(v *View) bool {
			seq, _ := parseSeq(v.Get("seq"))
			return slices.ContainsFunc(spans, func(s span) bool { return s.from <= seq && seq <= s.to })
		})
	}
	return nil
}

// Match reports whether the call is chosen. The error is Where's.
func (f *Filter) Match(v *View) (bool, error) {
	for i := range f.conditions {
		if !f.conditions[i].holds(v) {
			return false, nil
		}
	}
	if f.where == nil {
		return true, nil
	}
	return f.where(v)
}

// Weight is what Near gives for a call that is chosen.
func (f *Filter) Weight() (n int) {
	for i := range f.conditions {
		n += 1 + f.conditions[i].extra()
	}
	if f.where != nil {
		n++
	}
	return n
}

func (c *condition) extra() int {
	if c.name == "tool" || c.name == "operation" {
		return 16
	}
	return 0
}

// Near weighs the conditions that hold, for the call nearest to one that was
// looked for, and names those that do not. The same tool or operation weighs
// more than all the rest.
func (f *Filter) Near(v *View) (weight int, fail []string) {
	for i := range f.conditions {
		if f.conditions[i].holds(v) {
			weight++
			weight += f.conditions[i].extra()
		} else {
			fail = append(fail, f.conditions[i].name)
		}
	}
	if f.where != nil {
		if ok, err := f.where(v); ok && err == nil {
			weight++
		} else {
			fail = append(fail, "where")
		}
	}
	return weight, fail
}
