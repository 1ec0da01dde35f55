package store

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// How operations find their tables, by rule:
//
//  1. The noun. The last literal segment of the path (/artists/{id}/albums ->
//     Album), else the operation's resource. Names meet in any case style and
//     number: albums, Album, ALBUM. A child table may carry its parent's name:
//     /tickets/{id}/comments is comments, else ticket_comments.
//  2. The key. Path parameters after the noun name the row: by the column's name
//     (AlbumId), by noun and column (album_id -> id), else the primary key.
//  3. Parents. Path parameters before the noun are filters, and values of new
//     rows: a foreign key to the parent's table, else a column of that name, else
//     through the one table that joins the two (links.go).
//  4. Query parameters and body fields meet columns by name.

type verb uint8

const (
	listRows verb = iota
	getRow
	createRow
	patchRow
	replaceRow
	deleteRow
)

// How a contract counts pages.
const (
	stylePage   = "page"
	styleOffset = "offset"
)

// A target is what an operation does with which table.
type target struct {
	name    string // the operation, for messages
	reason  string // why it cannot be served, "" when it can
	table   *table
	verb    verb
	style   string // how the contract pages, "" when it does not say
	key     []binding
	parents []binding
	linkKey []binding       // path parameters that name what a link joins, to be bound as key
	ignored []string        // path parameters that no column takes
	paging  map[string]bool // query parameters that page
	derived map[string]*column
	// what the contract and the map say besides
	rules       *tableRules
	shape       *shape
	joined      *joinedRow
	wrap        string   // the object property that holds a row in the response, "" for none
	bodyWrap    string   // the same in the body
	bare        bool     // an answer without a row is an object
	listPath    []string // where an unpaged list stands in the response
	set         []assignment
	queries     map[string]*column // parameters that the map gives a column, nil for none
	custom      *customSQL
	customTypes map[string]outType // of the columns of custom SQL, by name
}

// A segment is one part of a path template.
type segment struct {
	literal string   // decoded, "" when the segment is all parameters
	params  []string // names in order
}

func splitTemplate(path string) (segs []segment) {
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		var s segment
		for rest := part; ; {
			_, after, ok := strings.Cut(rest, "{")
			name, after, closed := strings.Cut(after, "}")
			if !ok || !closed {
				break
			}
			s.params = append(s.params, name)
			rest = after
		}
		noun, _, call := strings.Cut(part, "(")
		if s.params == nil || call && !strings.Contains(noun, "{") {
			s.literal = noun // Artists('{id}'), as OData names a row
			if !call {
				s.literal = part
			}
			if decoded, err := url.PathUnescape(s.literal); err == nil {
				s.literal = decoded
			}
			s.literal = strings.TrimSuffix(s.literal, ".json")
		}
		segs = append(segs, s)
	}
	return segs
}

// mapOperation finds the target of an operation by rule; k is what the contract
// says about it besides.
func (s *schema) mapOperation(op *provider.Operation, all *rules, k known) *target {
	g := &target{name: fmt.Sprintf("%s (%s %s)", op.OperationID, op.Method, op.PathTemplate)}
	if all.overrides(op) {
		return s.override(g, op, all.operation(op), all)
	}
	if own := s.rpc(g, op, k); own != nil {
		g.rules = all.of(g.table)
		if g.reason == "" {
			g.check()
		}
		return g
	}
	segs := splitTemplate(op.PathTemplate)
	at := s.findNoun(g, segs, op, k)
	if g.table == nil {
		return g
	}
	g.rules = all.of(g.table)
	if v, ok := s.plainVerb(g.table, op, segs, at); ok {
		g.verb = v
	} else if g.pickVerb(op); g.reason != "" {
		return g
	}
	at = max(at, 0)
	if s.viaLink(g, segs, at, k); g.reason != "" {
		return g
	}
	g.rules = all.of(g.table)
	s.bindParents(g, segs[:at])
	for _, seg := range segs[at:] {
		for _, param := range seg.params {
			if i := slices.IndexFunc(g.linkKey, func(b binding) bool { return b.param == param }); i >= 0 {
				if g.verb == createRow {
					g.parents = append(g.parents, g.linkKey[i])
				} else {
					g.key = append(g.key, g.linkKey[i])
				}
			} else if g.verb == createRow { // the caller chooses the new row's key
				g.parents = append(g.parents, binding{param: param, col: g.table.keyOrOnly(param)})
			} else {
				g.key = append(g.key, binding{param: param})
			}
		}
	}
	s.bindKey(g)
	g.check()
	return g
}

// manner are words at the end of a path that say how the rows of the word before
// are asked for.
var manner = map[string]bool{"search": true, "list": true, "query": true, "find": true, "bulk": true, "batch": true, "all": true}

// findNoun sets the table and returns the index of the segment that names it.
func (s *schema) findNoun(g *target, segs []segment, op *provider.Operation, k known) (at int) {
	last := len(segs) - 1
	for last >= 0 && segs[last].literal == "" {
		last--
	}
	looked := "anything in the path"
	if last >= 0 {
		looked = fmt.Sprintf("%q", segs[last].literal)
		if g.table = s.nounAt(segs, last); g.table == nil && last > 0 && last == len(segs)-1 && manner[normal(segs[last].literal)] && segs[last-1].literal != "" {
			if g.table = s.nounAt(segs, last-1); g.table != nil {
				return last - 1
			}
		}
		if g.table != nil {
			return last
		}
	}
	if op.Resource != nil && *op.Resource != "" {
		if last < 0 || segs[last].literal != *op.Resource {
			looked += fmt.Sprintf(" or %q", *op.Resource)
		}
		row := rowBefore(segs, last)
		// A word after a row is a verb about it (/tickets/{id}/close) only where the
		// operation acts on a row; else it is rows of another kind.
		if row < 0 || op.Kind == provider.KindUpdate || op.Kind == provider.KindAction {
			if g.table = s.noun(*op.Resource); g.table != nil {
				if row < 0 {
					return last
				}
				return row
			}
		}
	}
	for _, name := range k.lists { // GET /search answers {"issues": [...]}
		if g.table = s.noun(name); g.table != nil && last == len(segs)-1 {
			return last
		}
	}
	g.table = nil
	names := make([]string, len(s.tables))
	for i, t := range s.tables {
		names[i] = t.name
	}
	g.reason = fmt.Sprintf("no table is called %s; the tables are %s", looked, listed(names))
	return last
}

// listed bounds a list of names in a message.
func listed(names []string) string {
	const most = 40
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// nounAt finds the table of a word of the path: with the name of what stands
// before it where there is such a table, else alone.
func (s *schema) nounAt(segs []segment, i int) *table {
	if t := s.childNoun(segs, i); t != nil {
		return t
	}
	return s.noun(segs[i].literal)
}

// rowBefore is the segment of the noun whose row the path names right before
// the segment at last, -1 when it names none there.
func rowBefore(segs []segment, last int) int {
	if last < 2 || segs[last-1].params == nil {
		return -1
	}
	for i := last - 1; i >= 0; i-- {
		if segs[i].literal != "" {
			return i
		}
	}
	return -1
}

// noun finds the table that a noun of the contract means: as spelled, in any
// letter case, in any case style, in any number.
func (s *schema) noun(name string) *table {
	if t := s.table(name); t != nil {
		return t
	}
	n := normal(name)
	for _, t := range s.tables {
		if normal(t.name) == n {
			return t
		}
	}
	for _, t := range s.tables {
		if sameThing(normal(t.name), n) {
			return t
		}
	}
	for _, t := range s.tables {
		if naming.Thing(t.name) == naming.Thing(name) {
			return t
		}
	}
	return nil
}

// childNoun finds a table named for the parent too: tickets, comments ->
// ticket_comments.
func (s *schema) childNoun(segs []segment, i int) *table {
	for p := i - 1; p >= 0; p-- {
		if parent := segs[p].literal; parent != "" {
			return s.noun(singular(normal(parent)) + normal(segs[i].literal))
		}
	}
	return nil
}

// plainVerb is what method and path alone say of an operation that the contract calls
// by another word: POST /check-runs makes one, DELETE /runs/{run_id} removes one.
// at is the segment that names the table.
func (s *schema) plainVerb(t *table, op *provider.Operation, segs []segment, at int) (v verb, ok bool) {
	if op.Kind != provider.KindAction || at < 0 || segs[at].literal == "" || s.nounAt(segs, at) != t {
		return 0, false
	}
	rest := segs[at+1:]
	if slices.ContainsFunc(rest, func(seg segment) bool { return seg.literal != "" }) {
		return 0, false
	}
	switch v, ok = methodVerbs[op.Method]; {
	case op.Method == "POST":
		return v, len(rest) == 0 && segs[at].params == nil
	case len(rest) == 0:
		return v, false
	}
	return v, ok
}

var methodVerbs = map[string]verb{"POST": createRow, "PATCH": patchRow, "PUT": replaceRow, "DELETE": deleteRow}

func (g *target) pickVerb(op *provider.Operation) {
	switch {
	case op.Paged || op.Kind == provider.KindList || op.Kind == provider.KindSearch:
		g.verb = listRows
	case op.Kind == provider.KindRead:
		g.verb = getRow
	case op.Kind == provider.KindCreate:
		g.verb = createRow
	case op.Kind == provider.KindUpdate && (op.Action == "replace" || op.Method == "PUT"):
		g.verb = replaceRow
	case op.Kind == provider.KindUpdate:
		g.verb = patchRow
	case op.Kind == provider.KindDelete:
		g.verb = deleteRow
	default:
		g.reason = fmt.Sprintf("the action %q has no meaning for the rows of %s; the store lists, reads, creates, updates and deletes",
			op.Action, g.table.name)
	}
}

// named finds a column by its normal name.
func (t *table) named(norm string) *column {
	for _, c := range t.cols {
		if c.norm == norm {
			return c
		}
	}
	return nil
}

// keyOrOnly is keyColumn, else the only key column there is.
func (t *table) keyOrOnly(param string) *column {
	col := t.keyColumn(param)
	if col == nil && len(t.key) == 1 {
		return t.key[0]
	}
	return col
}

// bindKey finds the columns of the key parameters: by name, else the primary key
// by position.
func (s *schema) bindKey(g *target) {
	var open []int
	for i, b := range g.key {
		switch {
		case b.col != nil: // the map says it
		case len(g.key) == 1 && g.rules != nil && g.rules.id != nil:
			g.key[i].col = g.rules.id
		default:
			if found, ok := s.keyBinding(g.table, b.param, len(g.key) > 1); ok {
				g.key[i] = found
			} else {
				open = append(open, i)
			}
		}
	}
	for _, i := range open {
		if len(g.key) == len(g.table.key) && !g.bound(g.table.key[i]) {
			g.key[i].col = g.table.key[i]
		}
	}
}

func (g *target) bound(col *column) bool {
	for _, b := range g.key {
		if b.col == col {
			return true
		}
	}
	return false
}

// check says why a mapped operation can still not be served.
func (g *target) check() {
	t := g.table
	for _, b := range append(g.key[:len(g.key):len(g.key)], g.parents...) {
		if b.col == nil {
			g.reason = fmt.Sprintf("the path parameter %q names no column of %s (%s)", b.param, t.name, nameList(t.cols))
			return
		}
	}
	switch g.verb {
	case listRows, getRow:
		return
	case createRow:
		if !t.view && !t.virtual {
			return
		}
	case patchRow, replaceRow, deleteRow:
		if len(g.key) == 0 && !g.single() { // a project's settings may be one row
			g.reason = fmt.Sprintf("the path names no row of %s to change; it wants a parameter after %q", t.name, t.name)
			return
		}
		if !g.single() {
			g.reason = fmt.Sprintf("more than one row of %s may have the same %s; a change wants a key", t.name, bindingList(g.key))
			return
		}
		if t.writable() {
			return
		}
	}
	what := "a table without a primary key"
	if t.view {
		what = "a view"
	} else if t.virtual {
		what = "a virtual table"
	}
	g.reason = fmt.Sprintf("%s is %s and can only be read", t.name, what)
}

// single tells whether the key parameters name one row.
func (g *target) single() bool {
	return g.table.pinned(append(g.key[:len(g.key):len(g.key)], g.parents...))
}

func bindingList(list []binding) string {
	var cols []*column
	for _, b := range list {
		if cols = append(cols, b.col); b.alt != nil {
			cols = append(cols, b.alt)
		}
	}
	return nameList(cols)
}

// queryColumn finds the column that a query parameter filters, nil without one.
func (g *target) queryColumn(param string) *column {
	if col := g.derived[param]; col != nil {
		return col
	}
	if col, ok := g.queries[param]; ok {
		return col
	}
	if col := g.rules.inColumn(param); col != nil {
		return col
	}
	n := normal(param)
	if projections[n] || isODataOption(param) { // $count is not the column count
		return nil
	}
	for _, name := range []string{n, singular(n), n + "id", n + "gid"} {
		if col := g.column(name); col != nil {
			return col
		}
	}
	for _, fk := range g.table.fks { // assignee is assignee_account_id
		if len(fk.cols) == 1 && len(fk.refs) == 1 && fk.cols[0].norm == n+normal(fk.refs[0]) {
			return g.column(fk.cols[0].norm)
		}
	}
	return nil
}

// projections are parameters that say what is shown of a row, and not which rows.
var projections = map[string]bool{"fields": true, "expand": true, "include": true, "properties": true, "optfields": true, "embed": true}

// pagingNames are parameters that page in many APIs. They count only where the
// contract is not at hand and no column has the name.
var pagingNames = map[string]bool{
	"limit": true, "cursor": true, "page": true, "perpage": true, "pagesize": true, "offset": true, "skip": true, "top": true,
	"startat": true, "maxresults": true, "after": true, "before": true, "pagetoken": true, "nextpagetoken": true,
	"startingafter": true, "endingbefore": true, "first": true, "size": true, "count": true, "skiptoken": true, "start": true,
}

// pages tells whether a query parameter is about paging and no filter.
func (g *target) pages(param string) bool {
	if g.paging != nil {
		return g.paging[param]
	}
	return pagingNames[normal(param)] && param != "$count" && g.queryColumn(param) == nil
}
