package store

import (
	"github.com/anvil-sim/anvil/internal/pattern"
	"github.com/anvil-sim/anvil/provider"
)

// A binding is a parameter of the path that names a column's value.
type binding struct {
	param string
	col   *column
	// alt is another column that the value may be of: issueIdOrKey.
	alt *column
	// of are what the parent's row must have, where col holds the parent's key and
	// the path names the parent by other columns: /users/{login}/repos, or by
	// several parameters: /repos/{owner}/{repo}/issues.
	of []binding
	// ref is the column that has col's value in the rows of a link that of finds; nil
	// where col is a foreign key.
	ref *column
	// anywhere: the parameter stands in the query or the body, as RPC APIs have it.
	anywhere bool
}

// eitherName matches a parameter that names one of two columns.
var eitherName = pattern.Of(`(?i)^(.*?)_?(id|gid|number)_?or_?(key|name|slug|login|email|title|alias)$`)

// choices are the two columns of a table that a parameter such as issueIdOrKey
// means, nil where it means one.
func (t *table) choices(param string) (first, second *column) {
	m := eitherName().FindStringSubmatch(param)
	if m == nil {
		return nil, nil
	}
	first, second = t.keyColumn(m[2]), t.named(normal(m[3]))
	if first == nil && len(t.key) == 1 {
		first = t.key[0]
	}
	if first == nil || second == nil || first == second {
		return nil, nil
	}
	return first, second
}

// unique tells whether no two rows share a column's value.
func (c *column) unique() bool {
	return c.table.pins([]filter{{col: c, vals: oneValue()}})
}

// filter reads the parameter of a request as a filter.
func (b binding) filter(req *provider.Request) (filter, error) {
	if len(b.of) > 0 {
		parts, err := bindingFilters(b.of, req)
		return filter{col: b.col, op: opVia, parts: parts, ref: b.ref}, err
	}
	raw := b.sent(req)
	if raw == nil {
		where := "path parameter"
		if b.anywhere {
			where = "parameter"
		}
		return filter{}, invalid("the %s %q is missing", where, b.param)
	}
	if b.col.class == classJSON {
		return holds(b.col, b.param, raw)
	}
	f, err := filterOf(b.col, b.param, raw)
	if err != nil || b.alt == nil {
		return f, err
	}
	other, err := filterOf(b.alt, b.param, raw)
	return filter{col: b.col, op: opAny, parts: []filter{f, other}, vals: f.vals}, err
}

// sent is the value that a request has for a binding, nil without one.
func (b binding) sent(req *provider.Request) []byte {
	raw := req.Params.Path.Get(b.param)
	if raw == nil && b.anywhere {
		if raw = req.Params.Query.Get(b.param); raw == nil {
			raw = bodyField(req.Body, b.param)
		}
	}
	return raw
}

// one tells whether a value of the binding leaves at most one value of its
// column.
func (b binding) one() bool {
	if b.alt != nil && !b.alt.unique() {
		return false
	}
	return len(b.of) == 0 || b.ref == nil && b.of[0].col.table.pinned(b.of)
}

// pinned tells whether bindings name at most one row.
func (t *table) pinned(list []binding) bool {
	var filters []filter
	for _, b := range list {
		if b.one() {
			filters = append(filters, filter{col: b.col, vals: oneValue()})
		}
	}
	return t.pins(filters)
}
