package compile

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile/api"
)

// A Row tells of one operation of a contract what a reviewer asks first.
type Row struct {
	ID, Method, Path string
	State            string
	Effect, Action   string
	Resource, Risk   string
	Idempotency      string // mode, and where the key travels
	Paging           string // style and its fields, "" when it does not page
	Auth             string // type and scopes
	Notes            []string
	Served           bool
	Why              string // why it is not served, "" when it is
}

// Inspect lists the operations of a contract, in order.
func Inspect(d *air.Document) []Row {
	exposed := map[string]bool{}
	for _, id := range d.Service.Exposed {
		exposed[id] = true
	}
	rows := make([]Row, len(d.Operations))
	for i, o := range d.Operations {
		effect := o.Tree().Get("effect")
		r := Row{
			ID: o.ID, Method: strings.ToUpper(o.Method), Path: o.Path, State: o.State, Effect: o.EffectKind, Action: o.Action,
			Resource: o.ResourceNoun(), Risk: effect.Get("risk").Text(), Idempotency: idempotencyText(o),
			Paging: pagingText(o), Auth: authText(o),
		}
		for _, n := range o.Tree().Get("reviewNotes").Elems() {
			r.Notes = append(r.Notes, n.Text())
		}
		r.Why = why(d, o, exposed)
		r.Served = r.Why == ""
		rows[i] = r
	}
	return rows
}

// why says why an operation is not served.
func why(d *air.Document, o *air.Operation, exposed map[string]bool) string {
	switch o.State {
	case "approved":
	case "blocked":
		return "blocked: " + firstError(d, o.ID)
	case "review_required":
		return "a reviewer must approve it"
	case "generated":
		return "nobody has approved it"
	default:
		return "its state is " + o.State
	}
	if d.Service.HasProfile && !exposed[o.ID] {
		return "the exposure profile leaves it out"
	}
	return ""
}

func firstError(d *air.Document, id string) string {
	for _, diag := range d.Tree().Get("diagnostics").Elems() {
		if diag.Get("operationId").Text() == id && diag.Get("level").Text() == api.Error {
			return diag.Get("message").Text()
		}
	}
	return "the contract does not say why"
}

func idempotencyText(o *air.Operation) string {
	if o.Idempotency.Key == "" {
		return o.Idempotency.Mode
	}
	return o.Idempotency.Mode + " (" + o.Idempotency.Mechanism + " " + o.Idempotency.Key + ")"
}

func pagingText(o *air.Operation) string {
	p := o.Pagination
	if p == nil {
		return ""
	}
	parts := []string{p.Style}
	for _, f := range []struct{ name, val string }{
		{"at", p.CursorParam}, {"size", p.PageSizeParam}, {"items", p.ItemsField}, {"next", p.NextField}, {"block", p.PagingField},
	} {
		if f.val != "" {
			parts = append(parts, f.name+"="+f.val)
		}
	}
	return strings.Join(parts, " ")
}

func authText(o *air.Operation) string {
	if len(o.Auth.Scopes) == 0 {
		return o.Auth.Type
	}
	return o.Auth.Type + " " + strings.Join(o.Auth.Scopes, ",")
}

// A Finding is something that lint objects to.
type Finding struct {
	Level, Code, Operation, Message string
}

// Lint checks a bundle in its directory: that both spellings of the contract are
// one, that what is approved was approved as it is, and that no approved
// operation has an error.
func Lint(dir string) ([]Finding, error) {
	b, err := ReadBundle(dir)
	if err != nil {
		return nil, err
	}
	doc, err := air.FromTree(dir, b.Tree)
	if err != nil {
		return nil, err
	}
	var out []Finding
	twin, err := readJSON(dir + "/" + airJSON)
	if err != nil {
		return nil, err
	}
	if twin != nil {
		other, err := air.FromTree(airJSON, twin)
		if err != nil || other.ContractDigest() != doc.ContractDigest() {
			out = append(out, Finding{api.Error, "bundle/twins_differ", "", "air.yaml and air.json are not the same document; air.yaml is the one that is read"})
		}
	}
	for _, id := range b.Stale() {
		out = append(out, Finding{api.Error, "approval/stale", id, "it is approved, but nobody is on record for approving what it is now"})
	}
	approved := map[string]bool{}
	for _, o := range doc.Operations {
		approved[o.ID] = o.State == "approved"
		if o.State == "approved" && o.EffectKind == "mutation" && o.Idempotency.Mode == "none" {
			out = append(out, Finding{api.Warning, "idempotency/unproven", o.ID, "an approved mutation that nothing proves to be repeatable"})
		}
	}
	for _, d := range b.Diagnostics {
		if d.Level == api.Error && (d.Operation == "" || approved[d.Operation]) {
			out = append(out, Finding{api.Error, d.Code, d.Operation, d.Message})
		}
	}
	return out, nil
}
