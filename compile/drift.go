package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// A Severity weighs a change.
type Severity int

// The severities, the least first.
const (
	Same       Severity = iota
	Compatible          // clients see no difference that matters
	Additive            // clients can do more
	Breaking            // a client that worked may not work
	Safety              // what may happen, to whom or how often is another
)

var severityNames = [...]string{"same", "compatible", "additive", "breaking", "safety-sensitive"}

// String names the severity.
func (s Severity) String() string { return severityNames[s] }

// A Change is one difference of one operation.
type Change struct {
	Operation string
	Severity  Severity
	What      string
}

// Drift lists what changed between two contracts, operation by operation: those
// of the old one in its order, then new ones.
func Drift(before, after *air.Document) []Change {
	d := drift{before: before, after: after}
	byID := map[string]*air.Operation{}
	for _, o := range after.Operations {
		byID[o.ID] = o
	}
	seen := map[string]bool{}
	for _, o := range before.Operations {
		seen[o.ID] = true
		if n := byID[o.ID]; n != nil {
			d.operation(o, n)
		} else {
			d.add(o.ID, Breaking, "the operation is gone")
		}
	}
	for _, o := range after.Operations {
		if !seen[o.ID] {
			d.add(o.ID, Additive, "a new operation")
		}
	}
	return d.changes
}

// Worst is the weightiest severity among changes.
func Worst(changes []Change) Severity {
	worst := Same
	for _, c := range changes {
		worst = max(worst, c.Severity)
	}
	return worst
}

type drift struct {
	before, after *air.Document
	changes       []Change
}

func (d *drift) add(id string, s Severity, format string, args ...any) {
	d.changes = append(d.changes, Change{id, s, fmt.Sprintf(format, args...)})
}

func (d *drift) operation(a, b *air.Operation) {
	id := a.ID
	if a.Method != b.Method || a.Path != b.Path {
		d.add(id, Breaking, "%s %s became %s %s", strings.ToUpper(a.Method), a.Path, strings.ToUpper(b.Method), b.Path)
	}
	if a.ToolName != b.ToolName {
		d.add(id, Breaking, "the tool %s is called %s", a.ToolName, b.ToolName)
	}
	d.safety(a, b)
	d.schema(id, "input", a.InputSchema(), b.InputSchema(), true)
	d.schema(id, "output", d.before.Response(a), d.after.Response(b), false)
	d.answers(a, b)
	if !same(a.Tree().Get("pagination"), b.Tree().Get("pagination")) {
		d.add(id, Breaking, "paging: %s became %s", orNone(pagingText(a)), orNone(pagingText(b)))
	}
	if x, y := a.Tree().Get("input").Get("body").Get("contentType"), b.Tree().Get("input").Get("body").Get("contentType"); x != nil && y != nil && !same(x, y) {
		d.add(id, Breaking, "the body was %s and is %s", x.Text(), y.Text())
	}
	if a.Description != b.Description || a.DisplayName != b.DisplayName {
		d.add(id, Compatible, "its text changed")
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func same(a, b *api.Value) bool {
	return a == b || a != nil && b != nil && string(canon.AppendIdentity(nil, a)) == string(canon.AppendIdentity(nil, b))
}

// safety compares what the surface signature calls effect and auth.
func (d *drift) safety(a, b *air.Operation) {
	for _, part := range []string{"effect", "idempotency", "confirmation", "auth"} {
		x, y := a.Tree().Get(part), b.Tree().Get(part)
		if same(x, y) {
			continue
		}
		for _, m := range x.Members() {
			if v := y.Get(m.Key); !same(m.Value, v) {
				d.add(a.ID, Safety, "%s.%s: %s became %s", part, m.Key, m.Value, shown(v))
			}
		}
		for _, m := range y.Members() {
			if x.Get(m.Key) == nil {
				d.add(a.ID, Safety, "%s.%s: none became %s", part, m.Key, m.Value)
			}
		}
	}
}

func shown(v *api.Value) string {
	if v == nil {
		return "none"
	}
	return v.String()
}

// maxDriftDepth is how deep properties are compared one by one.
const maxDriftDepth = 12

// schema compares two schemas. What is accepted may grow, what is answered may
// grow; the other direction breaks.
func (d *drift) schema(id, at string, a, b *api.Value, input bool) {
	d.schemaAt(id, at, a, b, input, maxDriftDepth)
}

func (d *drift) schemaAt(id, at string, a, b *api.Value, input bool, depth int) {
	if same(a, b) {
		return
	}
	if depth == 0 || a == nil || b == nil {
		d.add(id, Breaking, "%s: %s became %s", at, declared(a), declared(b))
		return
	}
	if x, y := a.Get("type"), b.Get("type"); !same(x, y) {
		d.add(id, Breaking, "%s: the type %s became %s", at, shown(x), shown(y))
	}
	d.enum(id, at, a.Get("enum").Elems(), b.Get("enum").Elems(), input)
	d.properties(id, at, a, b, input, depth)
	if a.Get("items") != nil || b.Get("items") != nil {
		d.schemaAt(id, at+"[]", a.Get("items"), b.Get("items"), input, depth-1)
	}
	d.constraints(id, at, a, b)
}

func declared(v *api.Value) string {
	if v == nil {
		return "nothing declared"
	}
	return "another schema"
}

func (d *drift) enum(id, at string, a, b []*api.Value, input bool) {
	gone, added := missing(a, b), missing(b, a)
	switch {
	case len(a) == 0 && len(b) == 0:
	case len(a) == 0:
		d.add(id, direction(input, Breaking), "%s: only %s are left", at, list(b))
	case len(b) == 0:
		d.add(id, direction(!input, Breaking), "%s: any value instead of %s", at, list(a))
	default:
		if len(gone) > 0 {
			d.add(id, direction(input, Breaking), "%s: the values %s are gone", at, list(gone))
		}
		if len(added) > 0 {
			d.add(id, Additive, "%s: the values %s are new", at, list(added))
		}
	}
}

// direction is the severity when it breaks in this direction, compatible else.
func direction(breaks bool, s Severity) Severity {
	if breaks {
		return s
	}
	return Compatible
}

func missing(a, b []*api.Value) []*api.Value {
	var out []*api.Value
	for _, v := range a {
		if !slices.ContainsFunc(b, func(w *api.Value) bool { return same(v, w) }) {
			out = append(out, v)
		}
	}
	return out
}

func list(values []*api.Value) string {
	var out []string
	for _, v := range values {
		out = append(out, v.String())
	}
	return strings.Join(out, ", ")
}

func (d *drift) properties(id, at string, a, b *api.Value, input bool, depth int) {
	needA, needB := requiredSet(a), requiredSet(b)
	before, after := air.Properties(a), canon.NewObject(slices.Clone(air.Properties(b))...)
	for _, m := range before {
		where := at + "." + m.Key
		other := after.Get(m.Key)
		if other == nil {
			d.add(id, Breaking, "%s is gone", where)
			continue
		}
		switch {
		case !needA[m.Key] && needB[m.Key]:
			d.add(id, direction(input, Breaking), "%s is required now", where)
		case needA[m.Key] && !needB[m.Key]:
			d.add(id, direction(!input, Breaking), "%s is not required any more", where)
		}
		d.schemaAt(id, where, m.Value, other, input, depth-1)
	}
	had := canon.NewObject(slices.Clone(before)...)
	for _, m := range after.Members() {
		if had.Get(m.Key) != nil {
			continue
		}
		if input && needB[m.Key] {
			d.add(id, Breaking, "%s.%s is new and required", at, m.Key)
		} else {
			d.add(id, Additive, "%s.%s is new", at, m.Key)
		}
	}
}

func requiredSet(v *api.Value) map[string]bool {
	set := map[string]bool{}
	for _, e := range v.Get("required").Elems() {
		set[e.Text()] = true
	}
	for _, part := range v.Get("allOf").Elems() {
		for _, e := range part.Get("required").Elems() {
			set[e.Text()] = true
		}
	}
	return set
}

// annotations say nothing that a program sees.
var annotations = wordSet("title description example examples default deprecated $comment externalDocs xml x-anvil-aliases")

// constraints compares the remaining keywords: texts are compatible, anything
// else may break.
func (d *drift) constraints(id, at string, a, b *api.Value) {
	handled := wordSet("type enum properties items required allOf $defs")
	for _, m := range canon.NewObject(append(slices.Clone(a.Members()), b.Members()...)...).Members() {
		x, y := a.Get(m.Key), b.Get(m.Key)
		switch {
		case handled[m.Key] || same(x, y):
		case annotations[m.Key] || strings.HasPrefix(m.Key, "x-") && m.Key != "x-anvil-wire-name":
			d.add(id, Compatible, "%s: its %s changed", at, m.Key)
		default:
			d.add(id, Breaking, "%s: %s changed", at, m.Key)
		}
	}
}

func (d *drift) answers(a, b *air.Operation) {
	if !slices.Equal(a.SuccessStatuses, b.SuccessStatuses) {
		d.add(a.ID, Breaking, "success statuses: %v became %v", a.SuccessStatuses, b.SuccessStatuses)
	}
	for _, h := range a.OutputHeaders {
		if !slices.Contains(b.OutputHeaders, h) {
			d.add(a.ID, Breaking, "the response header %s is gone", h)
		}
	}
	for _, h := range b.OutputHeaders {
		if !slices.Contains(a.OutputHeaders, h) {
			d.add(a.ID, Additive, "the response header %s is new", h)
		}
	}
	text := func(e air.DeclaredError) string {
		return fmt.Sprintf("%s (%d %s)", e.Code, e.HTTPStatus, e.UpstreamCode)
	}
	key := func(e air.DeclaredError) air.DeclaredError { e.Message = ""; return e }
	has := func(list []air.DeclaredError, e air.DeclaredError) bool {
		return slices.ContainsFunc(list, func(x air.DeclaredError) bool { return key(x) == key(e) })
	}
	for _, e := range a.Errors {
		if !has(b.Errors, e) {
			d.add(a.ID, Breaking, "the error %s is gone", text(e))
		}
	}
	for _, e := range b.Errors {
		if !has(a.Errors, e) {
			d.add(a.ID, Additive, "the error %s is new", text(e))
		}
	}
}
