package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/compile/api"
	"github.com/anvil-sim/anvil/internal/canon"
)

// An Approval says who approved which bytes of an operation.
type Approval struct {
	Operation string // its id
	Digest    string // of the operation with the schemas that it reaches, hexadecimal
	Reviewer  string
	Source    string // the hash of the source that was reviewed
}

func readApprovals(dir string) ([]Approval, error) {
	list, err := readJSON(filepath.Join(dir, approvalsFile))
	if err != nil {
		return nil, err
	}
	var out []Approval
	for _, e := range list.Elems() {
		out = append(out, Approval{e.Get("operationId").Text(), e.Get("digest").Text(), e.Get("reviewer").Text(), e.Get("sourceHash").Text()})
	}
	return out, nil
}

func approvalValues(list []Approval) []*api.Value {
	var out []*api.Value
	for _, a := range list {
		out = append(out, object("operationId", a.Operation, "digest", a.Digest, "reviewer", a.Reviewer, "sourceHash", a.Source))
	}
	return out
}

// A digester takes the digests that approvals bind to.
type digester struct {
	schemas *api.Value
	names   map[string][]string // schema to the schemas that it reaches
	own     map[string]string   // schema to the digest of its text
}

func newDigester(tree *api.Value) *digester {
	return &digester{tree.Get("schemas"), map[string][]string{}, map[string]string{}}
}

// unreviewed are the keys of an operation that an approval does not cover: they
// say how far review is.
var unreviewed = []string{"state", "reviewNotes", "evidence"}

// digest is the digest of an operation and all schemas that it reaches.
func (d *digester) digest(op *api.Value) string {
	for _, key := range unreviewed {
		op = op.With(key, nil)
	}
	reached := map[string]bool{}
	var visit func(list []string)
	visit = func(list []string) {
		for _, name := range list {
			if !reached[name] {
				reached[name] = true
				visit(d.references(name))
			}
		}
	}
	names := refsIn(op)
	if ref := op.Get("output").Get("schemaRef").Text(); ref != "" {
		names = append(names, ref)
	}
	visit(names)
	h := sha256.New()
	h.Write([]byte(canon.Digest(op)))
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		h.Write([]byte("\n" + name + " " + d.schema(name)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (d *digester) references(name string) []string {
	list, ok := d.names[name]
	if !ok {
		list = refsIn(d.schemas.Get(name))
		d.names[name] = list
	}
	return list
}

func (d *digester) schema(name string) string {
	sum, ok := d.own[name]
	if !ok {
		sum = canon.Digest(d.schemas.Get(name))
		d.own[name] = sum
	}
	return sum
}

// refsIn lists the names of the schemas that a value refers to.
func refsIn(v *api.Value) []string {
	seen := map[*api.Value]bool{}
	var names []string
	var walk func(*api.Value)
	walk = func(v *api.Value) {
		if !v.Is(canon.Object) && !v.Is(canon.Array) || seen[v] {
			return
		}
		seen[v] = true
		if name := refName(v); name != "" {
			names = append(names, name)
		}
		for _, m := range v.Members() {
			walk(m.Value)
		}
		for _, e := range v.Elems() {
			walk(e)
		}
	}
	walk(v)
	return names
}

// Carry applies the approvals of an earlier bundle: an operation whose bytes are
// those that were approved is approved again, one that changed waits for a new
// approval, and a diagnostic says so.
func (b *Bundle) Carry(approvals []Approval) {
	d := newDigester(b.Tree)
	byID := map[string]Approval{}
	for _, a := range approvals {
		byID[a.Operation] = a
	}
	ops := slices.Clone(b.operationValues())
	present := map[string]bool{}
	for i, op := range ops {
		present[opID(op)] = true
		a, ok := byID[opID(op)]
		if !ok || op.Get("state").Text() == "blocked" {
			continue
		}
		if d.digest(op) == a.Digest {
			ops[i] = op.With("state", canon.NewString("approved"))
			b.Approvals = append(b.Approvals, a)
			continue
		}
		ops[i] = op.With("state", canon.NewString("review_required"))
		b.diagnose(api.Diagnostic{Level: api.Warning, Code: "approval/stale", Operation: opID(op),
			Message: "changed since " + a.Reviewer + " approved it; it needs approval again"})
	}
	for _, a := range approvals {
		if !present[a.Operation] {
			b.diagnose(api.Diagnostic{Level: api.Warning, Code: "approval/gone",
				Message: "the approved operation " + a.Operation + " is not there any more"})
		}
	}
	b.withOperations(ops)
}

// diagnose adds a diagnostic to the bundle and to its contract.
func (b *Bundle) diagnose(d api.Diagnostic) {
	b.Diagnostics = append(b.Diagnostics, d)
	list := append(slices.Clone(b.Tree.Get("diagnostics").Elems()), diagnosticValue(d))
	b.Tree = b.Tree.With("diagnostics", canon.NewArray(list...))
}

// A Selection says which operations to approve.
type Selection struct {
	IDs     []string // operation ids, or operationIds of the description
	Reads   bool     // every read
	All     bool     // everything that can be served
	Exposed bool     // what the bundle's exposure profile exposes
}

// Approve approves operations in a reviewer's name and returns their ids. An
// name that [FindOperations] refuses and a blocked operation that is asked for by name
// are errors.
func (b *Bundle) Approve(sel Selection, reviewer string) ([]string, error) {
	if strings.TrimSpace(reviewer) == "" {
		return nil, fmt.Errorf("an approval needs a reviewer")
	}
	ops := slices.Clone(b.operationValues())
	asked, err := FindOperations(ops, sel.IDs)
	if err != nil {
		return nil, err
	}
	exposed := map[string]bool{}
	for _, e := range b.Tree.Get("service").Get("source").Get("profile").Get("exposedOperations").Elems() {
		exposed[e.Text()] = true
	}
	d := newDigester(b.Tree)
	var done []string
	for i, op := range ops {
		id := opID(op)
		named := slices.Contains(asked, id)
		read := op.Get("effect").Get("kind").Text() == "read"
		if !named && !sel.All && !(sel.Reads && read) && !(sel.Exposed && exposed[id]) {
			continue
		}
		if op.Get("state").Text() == "blocked" {
			if named {
				return nil, fmt.Errorf("%s is blocked: it cannot be served; the bundle's diagnostics say why", id)
			}
			continue
		}
		ops[i] = op.With("state", canon.NewString("approved"))
		b.record(Approval{id, d.digest(op), reviewer, b.Tree.Get("service").Get("source").Get("sourceHash").Text()})
		done = append(done, id)
	}
	b.withOperations(ops)
	return done, nil
}

// record keeps an approval in the place of an earlier one.
func (b *Bundle) record(a Approval) {
	for i := range b.Approvals {
		if b.Approvals[i].Operation == a.Operation {
			b.Approvals[i] = a
			return
		}
	}
	b.Approvals = append(b.Approvals, a)
}

// Stale lists the approved operations whose bytes are not those that were
// approved, and those that nobody is on record for.
func (b *Bundle) Stale() []string {
	d := newDigester(b.Tree)
	byID := map[string]string{}
	for _, a := range b.Approvals {
		byID[a.Operation] = a.Digest
	}
	var out []string
	for _, op := range b.operationValues() {
		if op.Get("state").Text() == "approved" && byID[opID(op)] != d.digest(op) {
			out = append(out, opID(op))
		}
	}
	return out
}

// An UnknownError names something that is not there.
type UnknownError struct {
	What, Name string
	Known      []string
}

func unknown(what, name string, known []string) error { return &UnknownError{what, name, known} }

// Error says what is not there and what may have been meant.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q%s", e.What, e.Name, didYouMean(e.Name, e.Known))
}
