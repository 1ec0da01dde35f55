package values

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/anvil-sim/anvil/internal/canon"
)

// A finding is one fault at its place.
type finding struct {
	path  []string
	text  string
	about about
	got   string   // the type that was found, of a wrong type
	want  []string // types or values that would do, of a wrong type or tag
}

// about is what a fault says of the schema it was found against.
type about int

const (
	content   about = iota // a value of the kind that the schema is for
	wrongType              // another type than the schema is for
	wrongTag               // another constant than the schema names
)

// describe names the first fault in the order of places. The library walks
// maps, so its own order is not one.
func describe(e *jsonschema.ValidationError) string {
	f := slices.MinFunc(findings(nil, e), compareFindings)
	if len(f.path) == 0 {
		return f.text
	}
	var at strings.Builder
	for _, token := range f.path {
		at.WriteString("/" + escape(token))
	}
	return "at '" + at.String() + "': " + f.text
}

func compareFindings(a, b finding) int {
	return cmp.Or(slices.CompareFunc(a.path, b.path, compareTokens), cmp.Compare(a.text, b.text))
}

func compareTokens(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// findings flattens an error to its leaves.
func findings(dst []finding, e *jsonschema.ValidationError) []finding {
	at := e.InstanceLocation
	add := func(text string) []finding { return append(dst, finding{path: at, text: text}) }
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return append(dst, choice(e)...)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return add("matches more than one of the alternatives, want one")
		}
		return append(dst, choice(e)...)
	case *kind.Type:
		return append(dst, typeFinding(at, k.Got, k.Want))
	case *kind.Const:
		return append(dst, constantFinding(at, k.Want))
	case *kind.Enum:
		return append(dst, constantFinding(at, k.Want...))
	case *kind.Not:
		return add("matches a schema that it must not match")
	case *kind.Required:
		return add("lacks the required " + names(k.Missing))
	case *kind.AdditionalProperties:
		return add("has the undeclared " + names(k.Properties))
	}
	if text := bound(e.ErrorKind); text != "" {
		return add(text)
	}
	if len(e.Causes) == 0 {
		return add(fmt.Sprint(wording{e.ErrorKind}))
	}
	for _, cause := range e.Causes {
		dst = findings(dst, cause)
	}
	return dst
}

func typeFinding(at []string, got string, want []string) finding {
	return finding{path: at, text: "got " + got + ", want " + strings.Join(want, " or "), about: wrongType, got: got, want: want}
}

// constantFinding is about a value that is none of the listed ones. One that
// stands alone names its branch of a choice.
func constantFinding(at []string, values ...any) finding {
	want := make([]string, len(values))
	for i, v := range values {
		want[i] = quoted(v)
	}
	f := tagFinding(at, want)
	if len(values) > 1 {
		f.about = content
	}
	return f
}

func tagFinding(at, want []string) finding {
	text := "value must be " + want[0]
	if len(want) > 1 {
		text = "value must be one of " + strings.Join(want, ", ")
	}
	return finding{path: at, text: text, about: wrongTag, want: want}
}

// choice says what a value lacks that matches no branch of a choice. A branch is
// not meant when it is for another type, or names another constant in a property
// (a discriminator's, say). What the one branch that is left says is the fault;
// so is what all branches say.
func choice(e *jsonschema.ValidationError) []finding {
	at := e.InstanceLocation
	branches := make([][]finding, 0, len(e.Causes))
	for _, cause := range e.Causes {
		branches = append(branches, findings(nil, cause))
	}
	if same := inAll(branches); same != nil {
		return same
	}
	var meant [][]finding
	var missed []finding
	for _, b := range branches {
		if i := slices.IndexFunc(b, func(f finding) bool { return f.misses(at) }); i >= 0 {
			missed = append(missed, b[i])
		} else {
			meant = append(meant, b)
		}
	}
	if len(meant) == 1 {
		return meant[0]
	}
	if len(meant) == 0 {
		if f, ok := merged(missed); ok {
			return []finding{f}
		}
	}
	return []finding{{path: at, text: "matches none of the alternatives"}}
}

// misses reports whether a fault in a branch of the choice at a place says that
// the branch is not meant.
func (f finding) misses(at []string) bool {
	switch f.about {
	case wrongType:
		return len(f.path) == len(at)
	case wrongTag:
		return len(f.path) <= len(at)+1
	}
	return false
}

// inAll are the faults that every branch has, nil when there is none.
func inAll(branches [][]finding) (same []finding) {
	if len(branches) == 0 {
		return nil
	}
	for _, f := range branches[0] {
		all := true
		for _, b := range branches[1:] {
			all = all && slices.ContainsFunc(b, func(g finding) bool { return compareFindings(f, g) == 0 })
		}
		if all {
			same = append(same, f)
		}
	}
	return same
}

// merged is one fault for branches that were all missed for one reason. Those
// for another type say less than those that name a constant.
func merged(missed []finding) (finding, bool) {
	if tags := slices.DeleteFunc(slices.Clone(missed), func(f finding) bool { return f.about != wrongTag }); len(tags) > 0 {
		missed = tags
	}
	if len(missed) == 0 {
		return finding{}, false
	}
	first := missed[0]
	var want []string
	for _, f := range missed {
		if f.about != first.about || !slices.Equal(f.path, first.path) {
			return finding{}, false
		}
		for _, w := range f.want {
			if !slices.Contains(want, w) {
				want = append(want, w)
			}
		}
	}
	if first.about == wrongType {
		return typeFinding(first.path, first.got, want), true
	}
	return tagFinding(first.path, want), true
}

// quoted spells a constant of a schema.
func quoted(v any) string {
	switch v := v.(type) {
	case string:
		return "'" + v + "'"
	case []any, map[string]any:
		return "another value"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// bound words the faults of numbers, which the library rounds.
func bound(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "got " + number(k.Got) + ", want at least " + number(k.Want)
	case *kind.Maximum:
		return "got " + number(k.Got) + ", want at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "got " + number(k.Got) + ", want more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "got " + number(k.Got) + ", want less than " + number(k.Want)
	case *kind.MultipleOf:
		return "got " + number(k.Got) + ", want a multiple of " + number(k.Want)
	}
	return ""
}

// number spells a number exactly when it is whole, else as ECMAScript does.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return string(canon.AppendFloat(nil, f))
}

func names(list []string) string {
	list = slices.Sorted(slices.Values(list))
	word := "property '"
	if len(list) > 1 {
		word = "properties '"
	}
	return word + strings.Join(list, "', '") + "'"
}
