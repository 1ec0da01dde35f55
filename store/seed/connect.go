package seed

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// connect gives columns that hold another entity's key their parent: properties
// named after it, objects that show a row of it, and a column for each parent in
// the entity's path.
// alias gives the other names of resources.
// Where plain is set, rows are there already: objects stay in their columns, and
// only parents that a path calls as the rows do get one.
func connect(all []*entity, alias map[string]string, plain bool) {
	find := func(name string) *entity {
		thing := naming.Thing(name)
		i := slices.IndexFunc(all, func(e *entity) bool { return naming.Thing(e.noun) == thing })
		if other := alias[thing]; i < 0 && other != "" {
			i = slices.IndexFunc(all, func(e *entity) bool { return naming.Thing(e.noun) == other })
		}
		if i < 0 || name == "" {
			return nil
		}
		return all[i]
	}
	for _, e := range all {
		for _, c := range e.columns {
			if e.refer(c, find); !plain {
				e.show(c, find)
			}
		}
	}
	for _, e := range all {
		e.addParents(find, e.path, plain)
		if !plain {
			for _, path := range e.creates {
				e.addParents(find, path, false)
			}
			for _, name := range e.inputs {
				e.addInput(find, name)
			}
		}
		e.scope()
	}
}

// addInput gives rows that are made or listed by a parameter called after
// another resource that resource's key: the channel of a message.
func (e *entity) addInput(find func(string) *entity, name string) {
	p := find(name)
	if p == nil || p == e || naming.Singular(naming.Plain(name)) != naming.Plain(name) || slices.ContainsFunc(e.columns, func(c *column) bool {
		return c.parent == p || strings.HasPrefix(naming.Plain(c.name), naming.Plain(name))
	}) {
		return
	}
	e.columns = append(e.columns, &column{name: joinName(name, p.key.name), decl: p.key.decl, parent: p, above: true})
}

// refer gives one column its parent: user_id the user.
func (e *entity) refer(c *column, find func(string) *entity) {
	for _, suffix := range []string{"id", "gid", "sid", "key"} {
		noun, ok := strings.CutSuffix(naming.Plain(c.name), suffix)
		p := find(noun)
		if ok && p != nil && p != e && c != e.key && keyable(c.schema) && naming.Plain(p.key.name) == suffix {
			c.parent, c.decl = p, p.key.decl // a number that points to a text is that text
		}
	}
}

// show makes an object that is a user the user's key; an array of users is filled
// with users that there are.
func (e *entity) show(c *column, find func(string) *entity) {
	p := find(c.ref)
	if p == nil && typeOf(c.schema) == "object" {
		p = find(c.name)
	}
	if p == nil || c.decl != "JSON" {
		return
	}
	shown := c.schema
	if typeOf(shown) == "array" {
		shown = shown.Get("items")
	}
	if shown.Get("properties").Get(p.key.name) == nil {
		return
	}
	if typeOf(c.schema) == "array" {
		c.items = p
		return
	}
	name := joinName(c.name, p.key.name)
	if own := e.column(name); own != nil {
		return // the key stands beside the object
	}
	c.name, c.decl, c.parent = name, p.key.decl, p
}

// joinName is user and id as the contract spells names: user_id, userId.
func joinName(a, b string) string {
	if strings.ContainsAny(a+b, "_-") || strings.ToLower(a+b) == a+b {
		return a + "_" + b
	}
	return a + strings.ToUpper(b[:1]) + b[1:]
}

// addParents reads /projects/{project_gid}/sections/{section_gid}: sections have
// a project. A parent whose table is not there is left out.
func (e *entity) addParents(find func(string) *entity, path string, plain bool) {
	segs := strings.Split(strings.Trim(path, "/"), "/")
	last := len(segs) - 1
	for last >= 0 && strings.Contains(segs[last], "{") {
		last--
	}
	for i := 0; i < last; i++ {
		if strings.Contains(segs[i], "{") || !strings.Contains(segs[i+1], "{") {
			continue
		}
		param := strings.Trim(segs[i+1], "{}")
		p := find(segs[i])
		if p == nil || p == e {
			continue
		}
		if own := slices.IndexFunc(e.columns, func(c *column) bool { return c.parent == p && c != e.key }); own >= 0 {
			e.columns[own].above = true
			continue
		}
		name := joinName(p.noun, p.key.name)
		if e.names(param, p) {
			name = param // as the contract calls it
		} else if plain {
			continue
		}
		if i := slices.IndexFunc(e.columns, func(c *column) bool { return naming.Plain(c.name) == naming.Plain(name) }); i >= 0 {
			if c := e.columns[i]; c != e.key && c.decl == p.key.decl { // AccountSid is account_sid
				c.parent, c.above = p, true
			}
			continue
		}
		e.columns = append(e.columns, &column{name: name, decl: p.key.decl, parent: p, above: true})
	}
}

// names tells whether a path parameter holds a parent's key: it is called after
// the parent and the key, and of the key's type.
func (e *entity) names(param string, p *entity) bool {
	i := slices.IndexFunc(e.params, func(x *air.Param) bool { return x.Name == param })
	if i < 0 || declOf(e.params[i].Schema) != p.key.decl {
		return false
	}
	return naming.Plain(param) == naming.Plain(p.noun)+naming.Plain(p.key.name)
}

// scope says in which rows of parents a lookup is unique: those that the item's
// path names before it, and the first half of a name in two parts
// (/repos/{owner}/{repo}).
func (e *entity) scope() {
	if e.lookup == nil {
		return
	}
	segs := strings.Split(strings.Trim(e.path, "/"), "/")
	if n := len(segs); n > 1 && strings.HasPrefix(segs[n-2], "{") {
		owner := naming.Plain(segs[n-2])
		for _, c := range e.columns {
			if c.parent != nil && strings.HasPrefix(naming.Plain(c.name), owner) {
				e.within = append(e.within, c)
				return
			}
		}
	}
	for _, c := range e.columns {
		if c.above && strings.Contains(e.path, "{") && slices.ContainsFunc(segs, func(s string) bool { return naming.Thing(s) == naming.Thing(c.parent.noun) }) {
			e.within = append(e.within, c)
		}
	}
}
