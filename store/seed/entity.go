package seed

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// An entity is a resource of the contract that becomes a table.
type entity struct {
	noun    string
	columns []*column
	key     *column
	lookup  *column   // what a path names an item by, when that is not the key
	within  []*column // the parents in whose rows the lookup is unique
	score   int       // of the schema that the columns are of
	read    bool      // some operation reads it
	path    string
	params  []*air.Param     // of the path's operation
	items   []*air.Operation // whose path ends in one row
	creates []string         // paths that make one row
	inputs  []string         // of RPC operations that make or list rows
	ids     []fixture.Value
}

// A column is one property of a resource.
type column struct {
	name   string
	decl   string
	schema *canon.Value // resolved, nil for a column that only points to a parent
	ref    string       // the thing that the property's schema is named after, of an array that of its items
	parent *entity      // whose key the column holds
	items  *entity      // whose rows the array shows
	above  bool         // the path names the parent
}

func (e *entity) column(name string) *column {
	for _, c := range e.columns {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

// entities finds the resources of a contract, in the order of their names, and
// the nouns that declare no readable object.
func entities(doc *air.Document, ops []*air.Operation) (found []*entity, left []string, names *nouns) {
	r := &resolver{schemas: doc.Schemas}
	names = newNouns(doc, r, ops)
	byThing := map[string]*entity{}
	var order []*entity
	for _, o := range ops {
		noun := names.of(o)
		thing := naming.Thing(noun)
		e := byThing[thing]
		if e == nil {
			e = &entity{noun: noun}
			byThing[thing] = e
			order = append(order, e)
		} else if len(noun) > len(e.noun) && naming.Plain(noun) == thing {
			e.noun = noun // the word written out
		}
		if isRPC(o.Path) && (o.Action == "list" || o.Action == "create" || o.Action == "send") {
			e.inputs = append(e.inputs, inputNames(o)...)
		}
		if o.EffectKind != "read" && o.Action != "send" && o.Action != "create" && o.Action != "update" {
			continue
		}
		for _, c := range candidates(doc, r, o, thing) {
			e.offer(r, c, o)
		}
		e.place(doc, o)
	}
	slices.SortFunc(order, func(a, b *entity) int { return strings.Compare(a.noun, b.noun) })
	for _, e := range order {
		if e.score > 0 && e.read {
			e.chooseKey()
			found = append(found, e)
		} else {
			left = append(left, e.noun)
		}
	}
	return found, left, names
}

// inputNames are the parameters and body fields of an operation.
func inputNames(o *air.Operation) (names []string) {
	for _, p := range o.Params {
		names = append(names, p.Name)
	}
	if o.Body != nil {
		for _, m := range o.Body.Schema.Get("properties").Members() {
			names = append(names, m.Key)
		}
		for _, f := range o.Body.Fields {
			names = append(names, f.Name)
		}
	}
	return names
}

// A candidate is a schema that may describe a resource. Its weight says how
// sure that is; the number of its properties decides among equals.
type candidate struct {
	schema *canon.Value
	weight int
}

// The weights of candidates: the schema that is named like the resource, a
// property of the answer that is, the answer itself or what it lists.
const (
	byName     = 3000
	byProperty = 2000
	byAnswer   = 1000
)

// candidates are the schemas that may describe the resource of an operation.
func candidates(doc *air.Document, r *resolver, o *air.Operation, thing string) (out []candidate) {
	for _, m := range doc.Schemas.Members() {
		if coreName(m.Key) == thing {
			out = append(out, candidate{m.Value, byName})
		}
	}
	s := doc.Response(o)
	for _, m := range r.properties(s, 0) {
		if key := naming.Plain(m.Key); naming.Thing(key) == thing || key == "data" {
			out = append(out, candidate{inner(r.target(m.Value)), byProperty})
		}
	}
	if o.Paged() {
		out = append(out, candidate{doc.ItemSchema(o), byAnswer})
	}
	return append(out, candidate{inner(s), byAnswer})
}

// inner is what an array holds; any other schema is itself.
func inner(s *canon.Value) *canon.Value {
	if items := s.Get("items"); typeOf(s) == "array" && items != nil {
		return items
	}
	return s
}

// offer takes a schema when it tells more than the one before: it must have a
// property to know a row by, and properties beside it.
func (e *entity) offer(r *resolver, c candidate, o *air.Operation) {
	e.read = e.read || o.EffectKind == "read"
	props := r.properties(c.schema, 0)
	if len(props) < 2 || keyOf(props, e.noun, lastParam(o.Path)) == "" {
		return
	}
	if score := c.weight + len(props); score > e.score {
		e.score = score
		e.columns = e.columns[:0]
		for _, m := range props {
			if e.column(m.Key) == nil && m.Key != "" && !strings.ContainsRune(m.Key, 0) {
				schema := r.resolve(m.Value, 0)
				ref := refOf(m.Value)
				if typeOf(schema) == "array" {
					ref = refOf(r.target(m.Value).Get("items"))
				}
				e.columns = append(e.columns, &column{name: m.Key, decl: declOf(schema), schema: schema, ref: coreName(ref)})
			}
		}
	}
}

// place notes the path under which an item of the resource stands; that of one
// item says more than that of a list.
func (e *entity) place(doc *air.Document, o *air.Operation) {
	if o.Action == "create" && typeOf(doc.Response(o)) != "array" {
		e.creates = append(e.creates, o.Path)
	}
	if lastParam(o.Path) != "" {
		e.items = append(e.items, o)
	}
	item, had := lastParam(o.Path) != "", lastParam(e.path) != ""
	if o.Path != "" && (e.path == "" || item && !had || item == had && len(o.Path) < len(e.path)) {
		e.path, e.params = o.Path, o.Params
	}
}

func (e *entity) chooseKey() {
	var props []canon.Member
	for _, c := range e.columns {
		props = append(props, canon.Member{Key: c.name, Value: c.schema})
	}
	param := lastParam(e.path)
	name := keyOf(props, e.noun, param)
	if name == "" { // the path came from another operation
		name = e.columns[0].name
	}
	e.key = e.column(name)
	if e.findLookup(e.path, e.params) {
		return
	}
	slices.SortStableFunc(e.items, func(a, b *air.Operation) int { return len(a.Path) - len(b.Path) })
	for _, o := range e.items {
		if e.findLookup(o.Path, o.Params) {
			e.path, e.params = o.Path, o.Params
			return
		}
	}
}

// findLookup looks for what a path names an item by, beside the key.
func (e *entity) findLookup(path string, params []*air.Param) bool {
	names := e.lookupNames(lastParam(path), params)
	either := slices.Contains(names, naming.Plain(e.key.name)) && len(names) > 2 // issueIdOrKey
	for _, want := range names {
		for _, c := range e.columns {
			if naming.Plain(c.name) == want && c == e.key {
				if either {
					continue
				}
				return false
			}
			if naming.Plain(c.name) == want && c.decl != "JSON" {
				e.lookup = c
				return true
			}
		}
	}
	return false
}

// lookupNames are the columns that a path's last parameter may mean beside the
// key: its own name, both names of issueIdOrKey, a name of the thing where it is
// called after the thing alone.
func (e *entity) lookupNames(param string, params []*air.Param) (names []string) {
	if param == "" {
		return nil
	}
	n, noun := naming.Plain(param), naming.Plain(e.noun)
	rest := strings.TrimPrefix(n, noun)
	if i := strings.LastIndexByte(e.noun, '_'); rest == n && i >= 0 {
		rest = strings.TrimPrefix(n, naming.Plain(e.noun[i:])) // discussion_number of team_discussion
	}
	if n == "username" {
		names = append(names, "login", "username", "handle")
	}
	names = append(names, n, rest)
	if first, second, ok := strings.Cut(rest, "or"); ok {
		names = append(names, first, second)
	}
	i := slices.IndexFunc(params, func(p *air.Param) bool { return p.Name == param })
	number := i >= 0 && declOf(params[i].Schema) == "INTEGER"
	if naming.Thing(param) == naming.Thing(e.noun) && !number {
		names = append(names, "login", "slug", "key", "name")
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// keyOf is the property that a row is known by, "" when there is none: the usual
// names, then what the path calls it.
func keyOf(props []canon.Member, noun, param string) string {
	n := naming.Plain(noun)
	names := []string{"id", "gid", "sid", "uuid", n + "id", n + "gid", "nodeid", "accountid", naming.Plain(param), strings.TrimPrefix(naming.Plain(param), n),
		"key", "slug", "ts", "login", "name", "number"}
	for _, want := range names {
		for _, p := range props {
			if want != "" && naming.Plain(p.Key) == want && keyable(p.Value) {
				return p.Key
			}
		}
	}
	return ""
}

func keyable(s *canon.Value) bool {
	switch declOf(s) {
	case "TEXT", "INTEGER":
		return true
	}
	return false
}

// lastParam is the parameter that a path ends in, "" when it ends in a word.
func lastParam(path string) string {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasPrefix(last, "{") && strings.HasSuffix(last, "}") {
		return last[1 : len(last)-1]
	}
	return ""
}
