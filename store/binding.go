package store

import (
	"regexp"

	"github.com/anvil-sim/anvil/provider"
)

// A binding is a parameter of the path that names a column's value.
type binding struct {
	param string
	col   *column
	// alt is another column that the value may be of: issueIdOrKey.
	alt *column
	// via are columns of the parent's table that the value is of, where col holds
	// the parent's key: /users/{login}/repos.
	via []*column
	// anywhere: the parameter stands in the query or the body, as RPC APIs have it.
	anywhere bool
}

// eitherName matches a parameter that names one of two columns.
var eitherName = regexp.MustCompile(`(?i)^(.*?)_?(id|gid|number)_?or_?(key|name|slug|login|email|title|alias)$`)

// choices are the two columns of a table that a parameter such as issueIdOrKey
// means, nil where it means one.
func (t *table) choices(param string) (first, second *column) {
	m := eitherName.FindStringSubmatch(param)
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

// synonyms are names of one thing in paths and tables.
var synonyms = map[string][]string{
	"username": {"login", "username", "handle", "slug"},
	"owner":    {"ownerlogin", "ownername", "ownerslug", "ownerid"},
	"org":      {"orglogin", "orgslug", "orgname", "orgid"},
}

// synonym is the column that another name for the parameter means.
func (t *table) synonym(norm string) *column {
	for _, name := range synonyms[norm] {
		if col := t.named(name); col != nil {
			return col
		}
	}
	return nil
}

// unique tells whether no two rows share a column's value.
func (c *column) unique() bool {
	return c.table.pins([]filter{{col: c, vals: oneValue()}})
}

// filter reads the parameter of a request as a filter.
func (b binding) filter(req *provider.Request) (filter, error) {
	raw := req.Params.Path.Get(b.param)
	if raw == nil && b.anywhere {
		if raw = req.Params.Query.Get(b.param); raw == nil {
			raw = bodyField(req.Body, b.param)
		}
	}
	if raw == nil {
		where := "path parameter"
		if b.anywhere {
			where = "parameter"
		}
		return filter{}, invalid("the %s %q is missing", where, b.param)
	}
	if len(b.via) == 0 {
		f, err := filterOf(b.col, b.param, raw)
		if err != nil || b.alt == nil {
			return f, err
		}
		other, err := filterOf(b.alt, b.param, raw)
		return filter{col: b.col, op: opAny, parts: []filter{f, other}, vals: f.vals}, err
	}
	var parts []filter
	for _, col := range b.via {
		f, err := filterOf(col, b.param, raw)
		if err != nil {
			return f, err
		}
		parts = append(parts, f)
	}
	return filter{col: b.col, op: opVia, parts: parts}, nil
}
