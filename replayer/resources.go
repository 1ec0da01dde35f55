package replayer

import (
	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// A Resource is what one recorded success says of a contract's resource.
type Resource struct {
	Operation *air.Operation
	Path      map[string]string // values of the path's parameters, decoded
	// Values are the items of a list, else the answer's body alone; none when there
	// was no body.
	Values []*canon.Value
}

// Resources are what recordings tell of a contract's resources, in the order of
// the recordings: the successes of operations over HTTP or at the provider seam,
// GraphQL apart. Interactions that belong to no operation are returned beside them.
func Resources(tapes []*tape.Tape, doc *air.Document) (list []Resource, apart []*tape.Interaction, err error) {
	c, err := newContract(doc)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range tapes {
		for _, it := range t.Interactions {
			op, path := c.called(it)
			switch {
			case op == nil:
				apart = append(apart, it)
			case op.Protocol() != air.GraphQL:
				if values, ok := op.values(it); ok {
					list = append(list, Resource{op.Operation, path, values})
				}
			}
		}
	}
	return list, apart, nil
}

// called is the operation of an interaction and its path's parameters.
func (c *contract) called(it *tape.Interaction) (*operation, map[string]string) {
	path := map[string]string{}
	if it.Call != nil {
		req, err := provider.DecodeRequest(it.Call.Request)
		if err != nil {
			return nil, nil
		}
		for _, m := range req.Params.Path {
			if v, err := canon.Parse(m.Value, canon.Lenient); err == nil {
				path[m.Name] = plainText(v)
			}
		}
		return c.ops[req.OperationID], path
	}
	b := c.bindHTTP(&it.Request)
	if b == nil {
		return nil, nil
	}
	_, text, _ := splitURL(it.Request.URL)
	_, values := c.find(it.Request.Method, text)
	for _, v := range values {
		path[v.Name] = unescape(v.Text, false)
	}
	return b.op, path
}

// values are what a success holds; ok is false for an error, and for what is no
// whole answer.
func (o *operation) values(it *tape.Interaction) (list []*canon.Value, ok bool) {
	if o.paged {
		if page, err := o.readPage(it, ""); err == nil && page != nil {
			for _, item := range page.items {
				if v, err := canon.Parse(item, canon.Lenient); err == nil {
					list = append(list, v)
				}
			}
			return list, true
		}
	}
	resp, err := o.answer(it)
	if err != nil || !resp.OK {
		return nil, false
	}
	for _, item := range resp.Items {
		if v, err := canon.Parse(item, canon.Lenient); err == nil {
			list = append(list, v)
		}
	}
	if v, err := canon.Parse(resp.Result, canon.Lenient); err == nil {
		list = append(list, v)
	}
	return list, true
}
