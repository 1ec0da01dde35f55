package replayer

import (
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/replayer/tape"
)

// bindGraphQL ties a GraphQL-over-HTTP request to its operation: by
// operationName, then by the compiled document, then by the root field.
func (c *contract) bindGraphQL(r *tape.Request) *bound {
	if len(c.graphql) == 0 || r.Method != "POST" {
		return nil
	}
	v := jsonBody(r)
	doc := v.Get("query").Text()
	if doc == "" {
		return nil
	}
	name := v.Get("operationName").Text()
	if name == "" {
		name = documentName(doc)
	}
	op := c.graphqlOperation(name, doc)
	if op == nil {
		return nil
	}
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

func (c *contract) graphqlOperation(name, doc string) *operation {
	squeezed := strings.Join(strings.Fields(doc), " ")
	root := rootField(doc)
	var byDoc, byField *operation
	for _, o := range c.graphql {
		if name != "" && o.Binding.Get("operationName").Text() == name {
			return o
		}
		if byDoc == nil && strings.Join(strings.Fields(o.Binding.Get("document").Text()), " ") == squeezed {
			byDoc = o
		}
		if byField == nil && root != "" && o.Binding.Get("rootField").Text() == root {
			byField = o
		}
	}
	if byDoc != nil {
		return byDoc
	}
	return byField
}

// rootField is the first root field that a document selects, without its alias.
func rootField(doc string) string {
	if strings.HasPrefix(strings.TrimSpace(doc), "fragment") {
		return ""
	}
	depth := 0
	for i, r := range doc {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == '{' && depth == 0:
			words := strings.FieldsFunc(doc[i+1:], func(r rune) bool { return strings.ContainsRune(" \n\t\r,({@}", r) })
			if len(words) > 1 && strings.HasSuffix(words[0], ":") {
				return words[1]
			}
			if len(words) > 0 {
				if _, field, ok := strings.Cut(words[0], ":"); ok {
					return field
				}
				return words[0]
			}
			return ""
		}
	}
	return ""
}
