package seed

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// An entity is a resource of the contract that becomes a table.
type entity struct {
	noun    string
	columns []*column
	key     *column
	lookup  *column // what a path names an item by, when that is not the key
	score   int     // of the schema that the columns are of
	read    bool    // some operation reads it
	path    string
	params  []*air.Param // of the path's operation
}

// A column is one property of a resource.
type column struct {
	name   string
	decl   string
	schema *canon.Value // resolved, nil for a column that only points to a parent
	parent *entity      // whose key the column holds
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
func entities(doc *air.Document, ops []*air.Operation) (found []*entity, left []string) {
	r := &resolver{schemas: doc.Schemas}
	byNoun := map[string]*entity{}
	var order []*entity
	for _, o := range ops {
		noun := o.ResourceNoun()
		e := byNoun[naming.Plain(noun)]
		if e == nil {
			e = &entity{noun: noun}
			byNoun[naming.Plain(noun)] = e
			order = append(order, e)
		}
		if o.EffectKind != "read" && o.Action != "create" && o.Action != "update" {
			continue
		}
		for _, c := range candidates(doc, r, o, noun) {
			e.offer(r, c, o)
		}
		e.place(o)
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
	return found, left
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
func candidates(doc *air.Document, r *resolver, o *air.Operation, noun string) (out []candidate) {
	n := naming.Plain(noun)
	for _, m := range doc.Schemas.Members() {
		name := naming.Plain(strings.TrimPrefix(m.Key, "objs_"))
		switch strings.TrimPrefix(name, n) {
		case name: // it does not begin with the noun
		case "", "response", "full", "details", "item":
			out = append(out, candidate{m.Value, byName})
		}
	}
	s := doc.Response(o)
	for _, m := range r.properties(s, 0) {
		if key := naming.Plain(m.Key); key == n || naming.Singular(key) == n || key == "data" {
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
				e.columns = append(e.columns, &column{name: m.Key, decl: declOf(schema), schema: schema})
			}
		}
	}
}

// place notes the path under which an item of the resource stands; that of one
// item says more than that of a list.
func (e *entity) place(o *air.Operation) {
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
	if param == "" {
		return
	}
	for _, p := range []string{param, strings.TrimPrefix(naming.Plain(param), naming.Plain(e.noun))} {
		for _, c := range e.columns {
			if p != "" && naming.Plain(c.name) == naming.Plain(p) && c != e.key && c.decl != "JSON" {
				e.lookup = c
				return
			}
		}
	}
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

// connect gives columns that hold another entity's key their parent: properties
// named after it, and a column for each parent in the entity's path.
func connect(all []*entity) {
	find := func(name string) *entity {
		for _, e := range all {
			if n := naming.Plain(e.noun); n == name || naming.Singular(n) == name || n == naming.Singular(name) {
				return e
			}
		}
		return nil
	}
	for _, e := range all {
		for _, c := range e.columns {
			for _, suffix := range []string{"id", "gid", "sid", "key"} {
				noun, ok := strings.CutSuffix(naming.Plain(c.name), suffix)
				p := find(noun)
				if ok && noun != "" && p != nil && p != e && c != e.key && c.decl == p.key.decl && naming.Plain(p.key.name) == suffix {
					c.parent = p
				}
			}
		}
		e.addParents(find)
	}
}

// addParents reads /projects/{project_gid}/tasks/{task_gid}: tasks have a
// project. A parent whose table is not there is left out.
func (e *entity) addParents(find func(string) *entity) {
	parts := strings.Split(strings.Trim(e.path, "/"), "/")
	for i := 1; i+1 < len(parts); i++ {
		name := strings.Trim(parts[i], "{}")
		if name == parts[i] || strings.HasPrefix(parts[i-1], "{") {
			continue
		}
		p := find(naming.Singular(naming.Plain(parts[i-1])))
		if p == nil || p == e || !e.names(name, p) {
			continue
		}
		// AccountSid is account_sid.
		if !slices.ContainsFunc(e.columns, func(c *column) bool { return naming.Plain(c.name) == naming.Plain(name) }) {
			e.columns = append(e.columns, &column{name: name, decl: p.key.decl, parent: p})
		}
	}
}

// names tells whether a path parameter holds a parent's key: it is called after
// the parent, and not by a name of the parent's such as {org} or {username} when
// the key is a number.
func (e *entity) names(param string, p *entity) bool {
	i := slices.IndexFunc(e.params, func(x *air.Param) bool { return x.Name == param })
	n, noun := naming.Plain(param), naming.Plain(p.noun)
	if i < 0 || n == noun || !strings.Contains(n, noun) && !strings.Contains(n, naming.Singular(noun)) {
		return false
	}
	return declOf(e.params[i].Schema) == p.key.decl
}
