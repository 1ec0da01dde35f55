package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/provider"
)

// tellMap says what of the map's operations cannot work with the contract: one that
// it does not have, a value of the path or the query that the operation does not
// have. doc is nil where only the operations are known.
func (db *DB) tellMap(ops []provider.Operation, doc *air.Document) {
	if db.rules == nil {
		return
	}
	var names []string
	known := map[string]*provider.Operation{}
	for i := range ops {
		names = append(names, ops[i].OperationID, ops[i].Method+" "+ops[i].PathTemplate)
		known[ops[i].OperationID], known[ops[i].Method+" "+ops[i].PathTemplate] = &ops[i], &ops[i]
	}
	for _, name := range slices.Sorted(maps.Keys(db.rules.operations)) {
		op := known[name]
		if op == nil {
			db.opts.Logf("map %s: operations.%s: the contract has no such operation%s", db.opts.Map.name, name, meant(name, names))
			continue
		}
		for _, fault := range db.rules.operations[name].strangers(op, queryNames(doc, op.OperationID)) {
			db.opts.Logf("map %s: operations.%s: %s", db.opts.Map.name, name, fault)
		}
	}
}

// operations are all that a contract has, served or not: a map may be for several
// profiles of it.
func operations(doc *air.Document) (list []provider.Operation) {
	for _, o := range doc.Operations {
		list = append(list, provider.Operation{OperationID: o.ID, Method: upperCase(o.Method), PathTemplate: o.Path})
	}
	return list
}

// queryNames are the query parameters of an operation, nil where they are unknown.
func queryNames(doc *air.Document, id string) []string {
	if doc == nil {
		return nil
	}
	names := []string{}
	for _, o := range doc.Operations {
		for _, p := range o.Params {
			if o.ID == id && p.In == "query" {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// strangers are the values that the rules want and a request of the operation has
// not; query is nil where it is unknown.
func (r *operationRules) strangers(op *provider.Operation, query []string) (faults []string) {
	var path []string
	for _, seg := range splitTemplate(op.PathTemplate) {
		path = append(path, seg.params...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.keys)) {
		if !slices.Contains(path, name) {
			faults = append(faults, fmt.Sprintf("key.%s: %s has no such path parameter%s", name, op.PathTemplate, meant(name, path)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.queries)) {
		if query != nil && !slices.Contains(path, name) && !slices.Contains(query, name) {
			faults = append(faults, fmt.Sprintf("filters.%s: the operation has no such parameter%s", name, meant(name, slices.Concat(path, query))))
		}
	}
	for _, ref := range r.references() {
		name := strings.Join(ref.path, ".")
		switch {
		case ref.root == "path" && !slices.Contains(path, name):
			faults = append(faults, fmt.Sprintf(":path.%s: %s has no such path parameter%s", name, op.PathTemplate, meant(name, path)))
		case ref.root == "query" && query != nil && !slices.Contains(query, name):
			faults = append(faults, fmt.Sprintf(":query.%s: the operation has no such parameter%s", name, meant(name, query)))
		}
	}
	return faults
}

// references are the values of a request that the rules of an operation take.
func (r *operationRules) references() (list []reference) {
	for _, a := range r.set {
		if a.ref != nil {
			list = append(list, *a.ref)
		}
	}
	if r.custom != nil {
		for _, s := range r.custom.steps {
			list = append(list, s.refs...)
		}
	}
	return list
}
