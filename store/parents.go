package store

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/internal/naming"
)

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

// keyColumn finds the column that a parameter about a row of the table names.
func (t *table) keyColumn(param string) *column {
	n := normal(param)
	if col := t.synonym(n); col != nil {
		return col
	}
	if col := t.named(n); col != nil && !t.pointsAtItself(col) {
		return col
	}
	noun := singular(normal(t.name))
	if rest, ok := strings.CutPrefix(n, noun); ok && rest != "" {
		if col := t.named(rest); col != nil {
			return col
		}
	}
	if col := t.named(noun + n); col != nil {
		return col
	}
	return nil
}

// partColumn finds the column of one part of a key: owner is owner_login, repo
// is the name of a repo.
func (t *table) partColumn(param string) *column {
	n := normal(param)
	tails := []string{"login", "name", "slug", "key", "id", "gid"}
	for _, tail := range tails {
		if col := t.named(n + tail); col != nil {
			return col
		}
	}
	if n == singular(normal(t.name)) {
		for _, tail := range tails[1:4] {
			if col := t.named(tail); col != nil {
				return col
			}
		}
	}
	return nil
}

// pointsAtItself tells whether a column holds another row of the same table: the
// story_gid of a story is not its own.
func (t *table) pointsAtItself(col *column) bool {
	return slices.ContainsFunc(t.fks, func(fk foreignKey) bool {
		return len(fk.cols) == 1 && fk.cols[0] == col && strings.EqualFold(fk.parent, t.name)
	})
}

// ways are the columns by which a parameter may name a row of the table: both of
// issueIdOrKey; a name of the thing or its key where the parameter is called
// after the thing alone, as {org} and {project} are. second is nil where there
// is one way, first where there is none.
func (t *table) ways(param string) (first, second *column) {
	if first, second = t.choices(param); first != nil {
		return first, second
	}
	if col := t.keyColumn(param); col != nil && col.class != classJSON {
		return col, nil
	}
	if naming.Thing(param) != naming.Thing(t.name) || len(t.key) != 1 {
		return nil, nil
	}
	if name := t.nameColumn(); name != nil {
		return name, t.key[0]
	}
	return nil, nil
}

// nameColumn is the column that a person names a row by: of the usual ones the
// first that is, alone or with others, unique.
func (t *table) nameColumn() *column {
	for _, n := range []string{"login", "username", "slug", "handle", "key", "name", "email"} {
		col := t.named(n)
		if col == nil || slices.Contains(t.key, col) {
			continue
		}
		for _, set := range t.unique {
			if slices.Contains(set, col) {
				return col
			}
		}
	}
	return nil
}

// foreignKey finds the foreign key of one column that a normal name means: the
// column's own, or that of what it points to (owner is owner_id).
func (s *schema) foreignKey(t *table, norm string) (col *column, parent *table) {
	for _, fk := range t.fks {
		p := s.table(fk.parent)
		if p == nil || len(fk.cols) != 1 {
			continue
		}
		refs := fk.targets(p)
		if len(refs) != 1 {
			continue
		}
		switch own := fk.cols[0]; own.norm {
		case norm, norm + "id", norm + "gid", norm + refs[0].norm:
			return own, p
		}
	}
	return nil, nil
}

// keyBinding finds what a parameter about a row of the table names. One of
// several (part) may be a part of the name: owner is owner_login, or the user
// whose key stands in owner_id; repo is the name of a repository.
func (s *schema) keyBinding(t *table, param string, part bool) (binding, bool) {
	n := normal(param)
	if part {
		if col, p := s.foreignKey(t, n); col != nil && col.norm != n {
			if name := p.nameColumn(); name != nil {
				return binding{param: param, col: col, of: []binding{{param: param, col: name}}}, true
			}
		}
	}
	first, second := t.ways(param)
	if part && !eitherName().MatchString(param) {
		second = nil
	}
	if first == nil && part {
		first = t.partColumn(param)
	}
	return binding{param: param, col: first, alt: second}, first != nil
}

// An ancestor is a row that a path names before its noun: owner and repo, after
// repos.
type ancestor struct {
	noun   string
	params []string
}

// ancestors are the rows that a path names, in order.
func ancestors(segs []segment) (list []ancestor) {
	noun := ""
	for i, seg := range segs {
		if seg.literal != "" {
			noun = seg.literal
		}
		if len(seg.params) == 0 {
			continue
		}
		if n := len(list); n > 0 && seg.literal == "" && segs[i-1].params != nil {
			list[n-1].params = append(list[n-1].params, seg.params...)
		} else {
			list = append(list, ancestor{noun, seg.params})
		}
	}
	return list
}

// bindParents finds the columns that the parameters before the noun filter, from
// the nearest to the farthest. What the table itself does not have the nearer
// parent may: the repository of an issue, of comments on the issue.
func (s *schema) bindParents(g *target, segs []segment) {
	var parents []binding
	var ignored []string
	for _, p := range slices.Backward(ancestors(segs)) {
		if s.attachLinked(parents, p) {
			continue
		}
		found, rest := s.bindAncestor(g.table, p)
		if len(found) == 0 && parents == nil && g.verb != createRow {
			if b, ok := s.linked(g.table, p); ok {
				found, rest = []binding{b}, nil
			}
		}
		if len(rest) > 0 && !s.attach(g.table, parents, ancestor{p.noun, rest}) {
			ignored = append(slices.Clone(rest), ignored...)
		}
		parents = append(found, parents...)
	}
	g.parents, g.ignored = append(g.parents, parents...), append(g.ignored, ignored...)
}

// attach lets the nearest bound parent whose table knows the ancestor take it.
func (s *schema) attach(t *table, parents []binding, p ancestor) bool {
	for i := range parents {
		b := &parents[i]
		for _, fk := range t.fks {
			owner := s.table(fk.parent)
			if len(fk.cols) != 1 || fk.cols[0] != b.col || owner == nil {
				continue
			}
			refs := fk.targets(owner)
			found, rest := s.bindAncestor(owner, p)
			if len(refs) != 1 || len(found) == 0 || len(rest) > 0 {
				if len(b.of) == 0 || !s.attach(owner, b.of, p) {
					continue
				}
				return true
			}
			if len(b.of) == 0 {
				b.of = []binding{{param: b.param, col: refs[0], alt: b.alt}}
				b.alt = nil
			}
			b.of = append(b.of, found...)
			return true
		}
	}
	return false
}

// bindAncestor finds the columns of a table that hold an ancestor;
// rest are the parameters that nothing takes.
func (s *schema) bindAncestor(t *table, p ancestor) (found []binding, rest []string) {
	if len(p.params) > 1 {
		if b, ok := s.composite(t, p); ok {
			return []binding{b}, nil
		}
	}
	for _, param := range p.params {
		if b, ok := s.parentBinding(t, p.noun, param); ok {
			found = append(found, b)
		} else {
			rest = append(rest, param)
		}
	}
	return found, rest
}

// composite finds the foreign key to a parent that several parameters name.
func (s *schema) composite(t *table, p ancestor) (binding, bool) {
	owner := s.noun(p.noun)
	if owner == nil || owner == t {
		return binding{}, false
	}
	col := s.keyOf(t, owner)
	if col == nil {
		return binding{}, false
	}
	b := binding{param: strings.Join(p.params, "/"), col: col}
	for _, param := range p.params {
		part, ok := s.keyBinding(owner, param, true)
		if !ok {
			return b, false
		}
		b.of = append(b.of, part)
	}
	return b, true
}

// keyOf is the foreign key to a parent: of several the one that is called after
// it, else the first.
func (s *schema) keyOf(t, owner *table) (first *column) {
	noun := singular(normal(owner.name))
	for _, fk := range t.fks {
		if !strings.EqualFold(fk.parent, owner.name) || len(fk.cols) != 1 {
			continue
		}
		if strings.HasPrefix(fk.cols[0].norm, noun) {
			return fk.cols[0]
		}
		if first == nil {
			first = fk.cols[0]
		}
	}
	return first
}

// parentBinding finds the column that holds the parent's key, and by which
// columns of the parent the parameter names it where that is another.
func (s *schema) parentBinding(t *table, parent, param string) (binding, bool) {
	b := binding{param: param, col: s.parentColumn(t, parent, param)}
	owner := s.noun(parent)
	if b.col == nil || owner == nil || owner == t {
		return b, b.col != nil
	}
	for _, fk := range t.fks {
		refs := fk.targets(owner)
		if !strings.EqualFold(fk.parent, owner.name) || len(fk.cols) != 1 || fk.cols[0] != b.col || len(refs) != 1 {
			continue
		}
		if first, second := owner.ways(param); first != nil && (first != refs[0] || second != nil) {
			b.of = []binding{{param: param, col: first, alt: second}}
		}
	}
	return b, true
}

// bareNames are parameters that say nothing about which row they name.
var bareNames = map[string]bool{"id": true, "gid": true, "key": true, "name": true, "slug": true, "number": true}

func (s *schema) parentColumn(t *table, parent, param string) *column {
	owner := s.noun(parent)
	if owner == t {
		owner = nil
	}
	var key *column
	if owner != nil {
		key = s.keyOf(t, owner)
	}
	n := normal(param)
	byName := t.named(n)
	ownID := byName != nil && len(t.key) == 1 && byName == t.key[0]
	if byName != nil && !ownID && byName.class != classJSON && !(bareNames[n] && key != nil) {
		return byName
	}
	if key != nil {
		return key
	}
	noun := singular(normal(parent))
	for _, name := range []string{noun + n, noun + "id", n + "id", noun, n, normal(parent)} {
		if col := t.named(name); col != nil && !slices.Contains(t.key, col) {
			return col
		}
	}
	return nil
}
