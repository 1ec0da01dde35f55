package store

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/provider"
)

// How a list's parameters are read, the first that fits:
//
//  1. paging: not for the rows
//  2. a column of the name: equality, any of the values given; with an object,
//     its keys are operators
//  3. an operator: created[gte], created_gte, created__gte, createdAfter;
//     filter[status] and where[status] are status
//  4. a sort, a direction of it, a free text, OData's $-options, Jira's jql
//  5. since, until, before, after alone: the table's time of change or creation
//
// What nothing takes is told in meta.ignored, and is a validation_error in
// strict mode.

// A reading collects what a request asks of a table's rows.
type reading struct {
	g         *target
	db        *DB
	req       *provider.Request
	schema    *schema
	filters   []filter
	sorts     []rawSort
	direction []string
	keys      []sortKey // what the rows are sorted by, as far as it was asked for
	ignored   []string
	selected  []string // OData's $select, nil for all
	how       finding  // how the rows were found, once they were
}

// operators are the words that compare, in suffixes and brackets.
var operators = map[string]string{
	"eq": "eq", "equals": "eq", "is": "eq", "ne": "ne", "neq": "ne", "not": "ne", "lt": "lt", "lte": "lte", "le": "lte", "gt": "gt", "gte": "gte", "ge": "gte",
	"after": "gt", "before": "lt", "since": "gte", "from": "gte", "min": "gte", "until": "lte", "to": "lte", "max": "lte",
	"in": "in", "any": "in", "all": "eq", "nin": "nin", "notin": "nin", "like": "like", "contains": "contains", "startswith": "prefix", "prefix": "prefix",
	"endswith": "suffix", "null": "null", "isnull": "null", "exists": "exists", "present": "exists",
}

// parameter reads one parameter.
func (r *reading) parameter(name string, raw []byte) error {
	if r.g.pages(name) || len(r.g.key) == 1 && r.g.key[0].anywhere && r.g.key[0].param == name {
		return nil
	}
	compact, err := canon.AppendCompact(nil, raw, canon.Lenient)
	if err != nil {
		return invalid("parameter %q: %v", clip(name), err)
	}
	if col := r.g.queryColumn(name); col != nil {
		return r.column(col, name, "", compact)
	}
	if base, keys, ok := brackets(name); ok {
		return r.bracketed(name, base, keys, compact)
	}
	if col, word := r.suffixed(name); col != nil {
		return r.column(col, name, word, compact)
	}
	if known, err := r.special(name, compact); known || err != nil {
		return err
	}
	if compact[0] == '{' && isFilterWord(normal(name)) {
		return r.object(name, compact)
	}
	r.ignored = append(r.ignored, name)
	return nil
}

// brackets splits created[gte] and filter[created][gte].
func brackets(name string) (base string, keys []string, ok bool) {
	base, rest, ok := strings.Cut(name, "[")
	if !ok || base == "" || !strings.HasSuffix(rest, "]") {
		return "", nil, false
	}
	return base, strings.Split(strings.TrimSuffix(rest, "]"), "]["), true
}

func isFilterWord(n string) bool {
	return n == "filter" || n == "filters" || n == "where" || n == "query" || n == "conditions"
}

func (r *reading) bracketed(name, base string, keys []string, raw []byte) error {
	if isFilterWord(normal(base)) && r.baseColumn(base) == nil {
		base, keys = keys[0], keys[1:]
	} else if n := normal(base); n == "sort" || n == "order" || n == "orderby" {
		return r.addSort(name, keys[0]+" "+plainText(raw))
	}
	col := r.baseColumn(base)
	switch {
	case col == nil || len(keys) > 1:
	case len(keys) == 0 || keys[0] == "":
		return r.column(col, name, "", raw)
	default:
		if word := operators[normal(strings.TrimPrefix(keys[0], "$"))]; word != "" {
			return r.column(col, name, word, raw)
		}
		return invalid("parameter %q: no operator is called %q, want one of %s", clip(name), clip(keys[0]), operatorList)
	}
	r.ignored = append(r.ignored, name)
	return nil
}

const operatorList = "eq, ne, gt, gte, lt, lte, in, nin, like, contains, prefix, suffix, after, before, since, until, null, exists"

// object reads {"status": "open", "created": {"gte": "..."}}.
func (r *reading) object(name string, raw []byte) (err error) {
	canon.Members(raw, func(key, val []byte) bool {
		field := canon.Unquote(key)
		if col := r.baseColumn(field); col != nil {
			err = r.column(col, name+"["+field+"]", "", val)
		} else {
			r.ignored = append(r.ignored, name+"["+field+"]")
		}
		return err == nil
	})
	return err
}

// suffixed finds a column and an operator that together make a name. A single
// letter case or a low line has to part them: shipped is not ship and ped.
func (r *reading) suffixed(name string) (*column, string) {
	for i := len(name) - 1; i > 0; i-- {
		tail := name[i:]
		cut := name[:i]
		switch {
		case name[i] == '_' || name[i] == '-' || name[i] == '.':
			tail = strings.TrimLeft(tail, "_-.")
			cut = strings.TrimRight(cut, "_-.")
		case name[i] >= 'A' && name[i] <= 'Z' && (name[i-1] < 'A' || name[i-1] > 'Z'):
		default:
			continue
		}
		word := operators[normal(tail)]
		if word == "" || cut == "" || normal(tail) == "is" {
			continue
		}
		if col := r.baseColumn(cut); col != nil {
			if at := r.timeColumn(normal(cut)); col.class == classBoolean && isRange(word) && at != nil {
				col = at // completed_since is about completed_at
			}
			return col, word
		}
	}
	for _, p := range []struct{ prefix, word string }{{"min_", "gte"}, {"max_", "lte"}, {"min", "gte"}, {"max", "lte"}} {
		if rest, ok := strings.CutPrefix(name, p.prefix); ok && rest != "" && (rest[0] >= 'A' && rest[0] <= 'Z' || strings.HasSuffix(p.prefix, "_")) {
			if col := r.baseColumn(rest); col != nil {
				return col, p.word
			}
		}
	}
	return nil, ""
}

// baseColumn is queryColumn for names that stand with an operator or in a sort,
// where created means created_at.
func (r *reading) baseColumn(name string) *column {
	if col := r.g.queryColumn(name); col != nil {
		return col
	}
	n := normal(name)
	if col := r.timeColumn(n); col != nil {
		return col
	}
	for _, tail := range []string{"at", "on", "date"} {
		stem, ok := strings.CutSuffix(n, tail)
		if !ok || stem == "" {
			continue
		}
		if col := r.g.column(stem); col != nil && col.form != "" {
			return col // created_at where the column is created
		}
		if col := r.timeColumn(stem); col != nil {
			return col // created_on where it is created_at
		}
	}
	if n == "id" && len(r.g.table.key) == 1 {
		return r.g.table.key[0]
	}
	return nil
}

// timeColumn is the column of a time whose name a normal name begins.
func (r *reading) timeColumn(n string) *column {
	for _, tail := range []string{"at", "on", "date", "time", "datetime", "ts"} {
		if col := r.g.column(n + tail); col != nil && col.form != "" {
			return col
		}
	}
	return nil
}

func isRange(word string) bool { return word == "gt" || word == "gte" || word == "lt" || word == "lte" }

// column adds a comparison of a column; an object's keys are operators.
func (r *reading) column(col *column, name, word string, raw []byte) error {
	if raw[0] == '{' && word == "" {
		var err error
		canon.Members(raw, func(key, val []byte) bool {
			op := canon.Unquote(key)
			w := operators[normal(strings.TrimPrefix(op, "$"))]
			if w == "" {
				err = invalid("parameter %q: no operator is called %q, want one of %s", clip(name), clip(op), operatorList)
			} else {
				err = r.column(col, name, w, val)
			}
			return err == nil
		})
		return err
	}
	f, err := compare(col, name, word, raw)
	if err == nil {
		f.param = name
		r.filters = append(r.filters, f)
	}
	return err
}

// textNames are parameters that look for words anywhere in a row.
var textNames = map[string]bool{"q": true, "query": true, "search": true, "searchterm": true, "keyword": true, "keywords": true, "term": true, "text": true, "searchquery": true}

var sortNames = map[string]bool{"sort": true, "sortby": true, "orderby": true, "ordering": true, "order": true, "sortfield": true, "sortkey": true}

var directionNames = map[string]bool{"order": true, "direction": true, "dir": true, "sortorder": true, "sortdirection": true, "sortdir": true, "orderdirection": true}

// moments are parameters that alone mean the time of change.
var moments = map[string]string{"since": "gte", "until": "lte", "before": "lt", "after": "gt", "oldest": "gte", "latest": "lte"}

// special reads parameters that are about all of a row; known tells that it was
// one of them.
func (r *reading) special(name string, raw []byte) (known bool, err error) {
	n := normal(name)
	if strings.HasPrefix(name, "$") {
		return r.odata(name, n, raw)
	}
	switch {
	case directionNames[n] && isDirection(plainText(raw)):
		for _, word := range textList(raw) {
			r.direction = append(r.direction, strings.ToLower(strings.TrimSpace(word)))
		}
		return true, nil
	case sortNames[n]:
		for _, text := range textList(raw) {
			if err := r.addSort(name, text); err != nil {
				return true, err
			}
		}
		return true, nil
	case n == "jql" && raw[0] == '"':
		return true, r.jql(name, canon.Unquote(raw))
	case textNames[n] && raw[0] == '"':
		return true, r.freeText(name, canon.Unquote(raw))
	}
	if word := moments[n]; word != "" {
		if col := r.g.table.changed(); col != nil {
			return true, r.column(col, name, word, raw)
		}
	}
	return false, nil
}

// changed is the column that since and until alone mean: when a row was last
// changed, else when it was made.
func (t *table) changed() *column {
	for _, names := range [][]string{updatedNames, createdNames, {"timestamp", "date", "time", "ts"}} {
		for _, n := range names {
			if col := t.named(n); col != nil && col.form != "" {
				return col
			}
		}
	}
	return nil
}

// plainText is a scalar as text.
func plainText(raw []byte) string {
	if raw[0] == '"' {
		return canon.Unquote(raw)
	}
	return string(raw)
}

// textList is a scalar, or an array of them, as texts.
func textList(raw []byte) (list []string) {
	if raw[0] != '[' {
		return []string{plainText(raw)}
	}
	canon.Elements(raw, func(e []byte) bool {
		list = append(list, plainText(e))
		return true
	})
	return list
}

// read reads every parameter of a request; the body's fields too, where a list
// is asked for with one.
func (g *target) read(db *DB, req *provider.Request) (*reading, error) {
	r := &reading{g: g, db: db, req: req, schema: db.schema, ignored: slices.Clone(g.ignored), how: finding{counted: true}}
	if err := r.read(req, db.opts.Strict); err != nil {
		return nil, r.refused(err)
	}
	return r, nil
}

func (r *reading) read(req *provider.Request, strict bool) error {
	for _, list := range [][]binding{r.g.key, r.g.parents} {
		more, err := bindingFilters(list, req)
		if err != nil {
			return err
		}
		r.filters = append(r.filters, more...)
	}
	for _, m := range req.Params.Query {
		if err := r.named(m.Name, m.Value); err != nil {
			return err
		}
	}
	if r.g.verb == listRows && len(req.Body) > 0 && req.Body[0] == '{' {
		if err := r.bodyFields(req.Body); err != nil {
			return err
		}
	}
	choices := 0
	for _, f := range r.filters {
		choices += f.choices()
	}
	if choices > maxChoices {
		return because(invalid("the filters give %d values, at most %d can be asked for at once", choices, maxChoices), refusal{by: byParameter})
	}
	if strict {
		return r.refuseIgnored(len(r.g.ignored))
	}
	return nil
}

// named reads one parameter, and says of an error which one it is about.
func (r *reading) named(name string, raw []byte) error {
	err := r.parameter(name, raw)
	if err != nil {
		err = because(err, refusal{by: byParameter, fields: []string{name}})
	}
	return err
}

func (r *reading) bodyFields(body []byte) error {
	compact, err := canon.AppendCompact(nil, body, canon.Lenient)
	if err != nil {
		return invalid("the body: %v", err)
	}
	canon.Members(compact, func(key, val []byte) bool {
		err = r.named(canon.Unquote(key), val)
		return err == nil
	})
	return err
}

// refuseIgnored is strict mode: what no column takes is refused.
func (r *reading) refuseIgnored(skip int) error {
	names := r.ignored[skip:]
	if len(names) == 0 {
		return nil
	}
	t := r.g.table
	cols := t.names()
	hint := "its columns are " + strings.Join(cols, ", ")
	about := names[0]
	if _, keys, ok := brackets(about); ok {
		about = keys[len(keys)-1] // where[stat]
	}
	if near := nearest(about, cols); near != "" {
		hint = "did you mean \"" + near + "\"?"
	}
	err := invalid("%s has no column for the parameter %q; %s", t.name, clip(names[0]), hint)
	return because(err, refusal{by: byStrict, fields: slices.Clone(names)})
}
