package replayer

import (
	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/air/route"
)

// A contract is the operations of a document in the form in which recorded
// requests are tied to them.
type contract struct {
	doc   *air.Document
	ops   map[string]*operation // by id
	table *route.Table
}

// An operation is one operation with what is worked out of it once.
type operation struct {
	*air.Operation
	carrier  *air.Carrier
	params   []param
	paged    bool
	items    []string // path of the items in a recorded body, nil at the top
	anyItems bool     // the contract does not say where: the first array
	next     []string // path of the continuation
}

// newContract takes the operations that the document serves.
func newContract(doc *air.Document) (*contract, error) {
	served, err := doc.Served("")
	if err != nil {
		return nil, err
	}
	c := &contract{doc: doc, ops: map[string]*operation{}, table: route.NewTable(doc, served)}
	for _, op := range served {
		c.ops[op.ID] = c.operation(op)
	}
	return c, nil
}

func (c *contract) operation(op *air.Operation) *operation {
	o := &operation{Operation: op, carrier: op.Carrier(), paged: op.Paged()}
	for _, p := range op.Params {
		o.params = append(o.params, newParam(p, c.doc.Schemas))
	}
	if o.paged {
		path, ok := c.doc.ItemsPath(op)
		o.items, o.anyItems = path, !ok
		o.next = []string{defaultNext}
		if p := op.Pagination; p != nil && p.NextField != "" {
			o.next = air.FieldPath(p.NextField)
		}
	}
	return o
}

// defaultNext is where a continuation stands when the contract names no field.
const defaultNext = "next_cursor"

// find ties a method and a path to an operation, the server prefixes apart.
func (c *contract) find(method, path string) (*operation, []route.Param) {
	op, values := c.table.Find(method, path)
	if op == nil {
		return nil, nil
	}
	return c.ops[op.ID], values
}
