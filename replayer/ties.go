package replayer

import (
	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// Ties tell which operation of a contract a recorded call is of.
type Ties struct{ contract *contract }

// NewTies takes the operations that the document serves. With a nil document the
// calls of provider recordings and traces, which name their operation, are told
// alone.
func NewTies(doc *air.Document) (*Ties, error) {
	if doc == nil {
		return &Ties{}, nil
	}
	c, err := newContract(doc)
	return &Ties{c}, err
}

// Operation is the id of a recorded call's operation, "" when there is none.
func (t *Ties) Operation(it *tape.Interaction) string {
	if t.contract != nil {
		if op := t.contract.tie(it); op != nil {
			return op.ID
		}
		return ""
	}
	if it.Call != nil {
		if req, err := provider.DecodeRequest(it.Call.Request); err == nil {
			return req.OperationID
		}
	}
	return ""
}
