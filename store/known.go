package store

import (
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
)

// A known is what the contract says about an operation before it has a table.
// The zero value is nothing.
type known struct {
	inputs []string // query parameters and body fields
	lists  []string // response properties that are arrays of objects
	rows   []string // properties of the rows that it answers
	// alias gives the words of RPC paths what their answers call their rows:
	// channel, for conversations.
	alias map[string][]string
}

// known reads the contract, where there is one.
func (db *DB) known(op *provider.Operation) (k known) {
	doc := db.opts.Contract
	if doc == nil {
		return k
	}
	for _, o := range doc.Operations {
		if o.ID != op.OperationID {
			continue
		}
		for _, p := range o.Params {
			if p.In == "query" {
				k.inputs = append(k.inputs, p.Name)
			}
		}
		if o.Body != nil {
			k.inputs = append(k.inputs, bodyNames(o)...)
		}
		k.lists, k.rows = listNames(doc, o), rowNames(doc, o)
	}
	k.alias = db.aliases()
	return k
}

func bodyNames(o *air.Operation) (names []string) {
	for _, m := range o.Body.Schema.Get("properties").Members() {
		names = append(names, m.Key)
	}
	if names == nil {
		for _, f := range o.Body.Fields {
			names = append(names, f.Name)
		}
	}
	return names
}

// listNames are the response properties that hold rows.
func listNames(doc *air.Document, o *air.Operation) (names []string) {
	from := response(doc, o)
	for _, m := range from.properties() {
		inner := from.with(m.Value)
		if inner.schema.Get("type").Text() == "array" && len(from.with(inner.schema.Get("items")).properties()) > 1 {
			names = append(names, m.Key)
		}
	}
	return names
}

// rowNames are the properties of a response's rows.
func rowNames(doc *air.Document, o *air.Operation) (names []string) {
	from := response(doc, o)
	if o.Paged() || o.Kind() == "list" || o.Kind() == "search" {
		from, _ = items(doc, o)
	}
	for _, m := range from.properties() {
		names = append(names, m.Key)
	}
	return names
}

// learnAliases goes over the RPC operations of a contract: what the answers of
// /conversations.info and /conversations.list have as {"channel": {...}} and
// {"channels": [...]} is a conversation.
func learnAliases(doc *air.Document) map[string][]string {
	out := map[string][]string{}
	for _, o := range doc.Operations {
		noun, _, ok := rpcPath(o.Path)
		if !ok {
			continue
		}
		from := response(doc, o)
		var found []string
		for _, m := range from.properties() {
			if rowLike(from.with(m.Value)) {
				found = append(found, m.Key)
			}
		}
		if len(found) == 1 {
			out[normal(noun)] = append(out[normal(noun)], singular(normal(found[0])))
		}
	}
	return out
}

// rowLike tells whether a declared property is an object with several fields, or
// an array of them.
func rowLike(d declared) bool {
	if d.schema.Get("type").Text() == "array" {
		d = d.with(d.schema.Get("items"))
	}
	if d.schema.Get("type").Text() == "array" { // of choices
		d = d.with(d.schema.Get("items"))
	}
	return len(d.properties()) > 1
}

// rpcPath splits /users.profile.get into users.profile and get.
func rpcPath(path string) (noun, word string, ok bool) {
	last := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(last, '.')
	if dot <= 0 || strings.ContainsAny(last, "{}()") || last[dot:] == ".json" {
		return "", "", false
	}
	return last[:dot], last[dot+1:], true
}
