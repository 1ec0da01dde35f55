package store

import (
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/provider"
)

// rpcVerbs are the words that RPC paths (/users.info) end in, as far as they say
// what is done to one row or to all.
var rpcVerbs = map[string]verb{
	"list": listRows, "all": listRows, "search": listRows, "query": listRows,
	"info": getRow, "get": getRow, "show": getRow, "read": getRow, "retrieve": getRow,
	"create": createRow, "add": createRow, "new": createRow, "post": createRow, "insert": createRow,
	"update": patchRow, "edit": patchRow, "patch": patchRow, "rename": patchRow,
	"delete": deleteRow, "remove": deleteRow, "destroy": deleteRow,
}

// rpc maps /users.info and the like: what stands before the last dot is the noun,
// the last word the verb, and the row is named by a parameter of the query or
// the body. Nil for any other path.
func (s *schema) rpc(g *target, op *provider.Operation, params []string) *target {
	last := op.PathTemplate[strings.LastIndexByte(op.PathTemplate, '/')+1:]
	dot := strings.LastIndexByte(last, '.')
	if dot <= 0 || strings.ContainsAny(last, "{}()") || last[dot:] == ".json" {
		return nil
	}
	noun, word := last[:dot], last[dot+1:]
	t := s.noun(noun)
	if t == nil {
		if i := strings.LastIndexByte(noun, '.'); i >= 0 {
			t = s.noun(noun[i+1:])
		}
	}
	if t == nil {
		return nil
	}
	v, known := rpcVerbs[strings.ToLower(word)]
	if !known {
		g.reason = fmt.Sprintf("the word %q of %q has no meaning for the rows of %s; a map can give the operation SQL", word, last, t.name)
		return g
	}
	g.table, g.verb = t, v
	if v == listRows || v == createRow {
		return g
	}
	for _, p := range params {
		n := normal(p)
		if len(t.key) == 1 && (t.keyColumn(p) == t.key[0] || n == singular(normal(t.name)) && t.named(n) == nil) {
			g.key = append(g.key, binding{param: p, col: t.key[0], anywhere: true})
			return g
		}
	}
	g.reason = fmt.Sprintf("no parameter of %q names a row of %s; it wants one such as %q", last, t.name, singular(normal(t.name)))
	return g
}

// inputNames are the query parameters and body fields of an operation of the
// contract; nil without one.
func (db *DB) inputNames(op *provider.Operation) (names []string) {
	if db.opts.Contract == nil {
		return nil
	}
	for _, o := range db.opts.Contract.Operations {
		if o.ID != op.OperationID {
			continue
		}
		for _, p := range o.Params {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
		if o.Body != nil {
			for _, m := range o.Body.Schema.Get("properties").Members() {
				names = append(names, m.Key)
			}
		}
	}
	return names
}
