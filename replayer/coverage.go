package replayer

import (
	"fmt"
	"slices"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// Covered is what recordings hold of one operation.
type Covered struct {
	Operation *air.Operation
	Calls     int
	Statuses  []int // that were recorded, ascending, each once; 0 for an exchange without an answer
	Unseen    []int // statuses that the contract declares and no recording holds
}

// Coverage says what of a contract's served operations the recordings hold, in
// the contract's order, and which interactions belong to none. At the provider
// seam no status is recorded: a success counts as the first declared one.
func Coverage(tapes []*tape.Tape, doc *air.Document) ([]Covered, []*tape.Interaction, error) {
	c, err := newContract(doc)
	if err != nil {
		return nil, nil, err
	}
	served, err := doc.Served("")
	if err != nil {
		return nil, nil, err
	}
	list := make([]Covered, len(served))
	at := map[string]*Covered{}
	for i, op := range served {
		list[i].Operation = op
		at[op.ID] = &list[i]
	}
	var apart []*tape.Interaction
	for _, t := range tapes {
		for _, it := range t.Interactions {
			op := c.tie(it)
			if op == nil {
				apart = append(apart, it)
				continue
			}
			covered := at[op.ID]
			covered.Calls++
			if s := statusOf(it, op); !slices.Contains(covered.Statuses, s) {
				covered.Statuses = append(covered.Statuses, s)
			}
		}
	}
	for i := range list {
		slices.Sort(list[i].Statuses)
		for _, s := range declared(list[i].Operation) {
			if !slices.Contains(list[i].Statuses, s) {
				list[i].Unseen = append(list[i].Unseen, s)
			}
		}
	}
	return list, apart, nil
}

// tie is the operation of an interaction, nil when the contract has none.
func (c *contract) tie(it *tape.Interaction) *operation {
	if it.Call != nil {
		req, err := provider.DecodeRequest(it.Call.Request)
		if err != nil {
			return nil
		}
		return c.ops[req.OperationID]
	}
	if b := c.bindHTTP(&it.Request); b != nil {
		return b.op
	}
	return nil
}

func statusOf(it *tape.Interaction, op *operation) int {
	switch {
	case it.Failure != nil:
		return 0
	case it.Response.Status != 0:
		return it.Response.Status
	}
	resp, err := op.answer(it)
	switch {
	case err != nil || !resp.OK && resp.Error == nil:
		return 0
	case !resp.OK && resp.Error.Status != nil:
		return *resp.Error.Status
	case !resp.OK:
		return resp.Error.Code.Status()
	case len(op.SuccessStatuses) > 0:
		return op.SuccessStatuses[0]
	}
	return 200
}

// declared are the statuses that an operation declares, ascending.
func declared(op *air.Operation) []int {
	list := slices.Clone(op.SuccessStatuses)
	for _, e := range op.Errors {
		if e.HTTPStatus != 0 {
			list = append(list, e.HTTPStatus)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A Finding is one recorded answer that a contract does not allow.
type Finding struct {
	Place     string // tape and position
	Operation string // "" when the contract has none for the call
	Problem   string
}

// String is the finding for a terminal.
func (f Finding) String() string {
	if f.Operation == "" {
		return f.Place + ": " + f.Problem
	}
	return f.Place + " (" + f.Operation + "): " + f.Problem
}

// Verify compares recorded answers with a contract, which may be a newer one than
// they were recorded with: the operation has to exist, its status to be declared,
// and a success body to fit the declared response. check compares a value with a
// schema; the fault is "" when it fits.
func Verify(tapes []*tape.Tape, doc *air.Document, check func(schema *air.Value, value []byte) (fault string, err error)) ([]Finding, error) {
	c, err := newContract(doc)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for _, t := range tapes {
		for _, it := range t.Interactions {
			op := c.tie(it)
			if op == nil {
				findings = append(findings, Finding{Place: it.Place(), Problem: "the contract has no operation for " + called(it)})
				continue
			}
			for _, problem := range op.problems(it, doc, check) {
				findings = append(findings, Finding{it.Place(), op.ID, problem})
			}
		}
	}
	return findings, nil
}

func called(it *tape.Interaction) string {
	if it.HTTP() {
		return it.Request.Method + " " + it.Request.URL
	}
	return it.ID
}

func (o *operation) problems(it *tape.Interaction, doc *air.Document, check func(*air.Value, []byte) (string, error)) (list []string) {
	if it.Failure != nil || !it.HTTP() {
		return nil // no status and no wire body were recorded
	}
	s := it.Response.Status
	success := s >= 200 && s <= 299
	if known := declared(o.Operation); len(known) > 0 && !slices.Contains(known, s) && (!success || len(o.SuccessStatuses) > 0) {
		list = append(list, fmt.Sprintf("status %d is not declared, declared are %v", s, known))
	}
	schema := doc.Response(o.Operation)
	if !success || schema == nil {
		return list
	}
	body, err := recordedJSON(&it.Response)
	if err != nil {
		return append(list, err.Error())
	}
	if body == nil {
		return list
	}
	fault, err := check(schema, body.AppendJSON(nil))
	switch {
	case err != nil:
		list = append(list, "the declared response cannot be checked: "+err.Error())
	case fault != "":
		list = append(list, "the body does not fit the declared response: "+fault)
	}
	return list
}
