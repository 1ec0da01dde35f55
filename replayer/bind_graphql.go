package replayer

import (
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// bindGraphQL ties a GraphQL-over-HTTP request to its operation.
func (c *contract) bindGraphQL(r *tape.Request) *bound {
	if r.Method != "POST" || !c.table.HasGraphQL() {
		return nil
	}
	v := jsonBody(r)
	found := c.table.GraphQL(v)
	if found == nil {
		return nil
	}
	op := c.ops[found.ID]
	b := &bound{op: op, asked: &asked{op: op.ID, group: op.ID}}
	vars := v.Get("variables")
	for _, p := range op.params {
		if val := vars.Get(p.Name); val != nil && p.In != "body" {
			b.param(p.In, p.Name, val)
			if pg := op.Pagination; pg != nil && p.Name == pg.CursorParam && !val.Is(canon.Null) {
				text := plainText(val)
				b.setCursor(&text)
			}
		}
	}
	if op.Body != nil {
		var members []canon.Member
		for _, f := range op.Body.Fields {
			if val := vars.Get(f.Name); val != nil && !val.Is(canon.Null) {
				members = append(members, canon.Member{Key: f.Name, Value: val})
			}
		}
		if op.Body.Whole && vars != nil {
			b.setBody(vars)
		} else if members != nil {
			b.setBody(canon.NewObject(members...))
		}
	}
	b.readCarrier(nil, nil, &tape.Request{Body: vars.AppendJSON(nil)})
	b.asked.sort()
	return b
}
