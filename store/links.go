package store

import (
	"fmt"
	"slices"
	"strings"
)

// A link is a table that joins rows of two others: PlaylistTrack, of playlists and
// tracks. What a path has below a row of the one, /playlists/{id}/tracks, are rows of
// the other.
type link struct {
	table *table
	owner *column // names the row that the path has before
	own   *column // names the row of thing
	thing *table
	ref   *column // of thing, what own holds
}

// joined tells whether a table joins two others and says nothing more: each of its
// columns is one of the two foreign keys, its key, a time of its own or a position.
func (s *schema) joined(t, owner, thing *table) (l link, ok bool) {
	if owner == nil || thing == nil || owner == thing || t == owner || t == thing || t.view || t.virtual || len(t.fks) != 2 {
		return l, false
	}
	l = link{table: t, thing: thing}
	for _, fk := range t.fks {
		parent := s.table(fk.parent)
		if parent == nil || len(fk.cols) != 1 || len(fk.targets(parent)) != 1 {
			return l, false
		}
		switch parent {
		case owner:
			l.owner = fk.cols[0]
		case thing:
			l.own, l.ref = fk.cols[0], fk.targets(parent)[0]
		}
	}
	if l.owner == nil || l.own == nil {
		return l, false
	}
	plain := slices.Concat(createdNames, updatedNames, []string{"position", "rank", "ordinal", "sortorder"})
	for _, col := range t.cols {
		if col != l.owner && col != l.own && !slices.Contains(t.key, col) && !slices.Contains(plain, col.norm) {
			return l, false
		}
	}
	return l, true
}

// linkTo finds the one table that joins owner and thing, none where there are
// several.
func (s *schema) linkTo(owner, thing *table) (found link, ok bool) {
	for _, t := range s.tables {
		if l, is := s.joined(t, owner, thing); is {
			if ok {
				return link{}, false
			}
			found, ok = l, true
		}
	}
	return found, ok
}

// linked is the binding of the row before the noun where another table joins the
// two: TrackId by PlaylistTrack.PlaylistId.
func (s *schema) linked(t *table, p ancestor) (b binding, ok bool) {
	l, ok := s.linkTo(s.noun(p.noun), t)
	if !ok {
		return b, false
	}
	of, rest := s.bindAncestor(l.table, p)
	if len(of) == 0 || len(rest) > 0 {
		return b, false
	}
	return binding{param: strings.Join(p.params, "/"), col: l.ref, of: of, ref: l.own}, true
}

// attachLinked lets the row that a link names take a farther ancestor: the repository
// of the issue whose labels are asked for.
func (s *schema) attachLinked(parents []binding, p ancestor) bool {
	for _, b := range parents {
		if b.ref != nil && s.attach(b.ref.table, b.of, p) {
			return true
		}
	}
	return false
}

// viaLink maps an operation whose noun stands below a row that a link joins with
// it. Reads show the rows of the noun, unless what the contract declares is the link.
// What a path removes below a row is the link, and so is what a create makes whose
// inputs are the link's alone. Of other writes the contract does not say which of the
// two they mean.
func (s *schema) viaLink(g *target, segs []segment, at int, k known) {
	before := ancestors(segs[:at])
	if len(before) == 0 || segs[at].literal == "" || segs[at-1].params == nil {
		return
	}
	owner, thing := s.noun(before[len(before)-1].noun), s.noun(segs[at].literal)
	l, ok := s.joined(g.table, owner, thing)
	named := ok // the path's words together are the link's name
	if !named {
		if g.table != thing || s.reaches(thing, before[len(before)-1]) {
			return
		}
		if l, ok = s.linkTo(owner, thing); !ok {
			return
		}
	}
	if _, rest := s.bindAncestor(l.table, before[len(before)-1]); len(rest) > 0 {
		return
	}
	keyed := slices.ContainsFunc(segs[at:], func(seg segment) bool { return len(seg.params) > 0 })
	switch g.verb {
	case listRows, getRow:
		if g.table = thing; l.table.takes(k.rows) > thing.takes(k.rows) {
			g.table = l.table
		}
	case deleteRow:
		g.table = l.table
	case createRow:
		g.joined = &joinedRow{link: l}
		if !named || len(k.inputs) > 0 {
			g.table = l.table
			if l.table.takes(k.inputs) < len(k.inputs) || !keyed && l.table.takes(k.inputs) == 0 {
				g.reason = l.unsaid("a create makes")
			}
		}
	case patchRow:
		if g.table = thing; !keyed {
			g.table = l.table
		}
	case replaceRow:
		g.reason = l.unsaid("PUT replaces")
	}
	if g.table == l.table {
		s.bindLinkKey(g, l, segs[at:], before)
	}
}

func (l link) unsaid(what string) string {
	return fmt.Sprintf("%s joins %s and %s, and the contract does not say which of them %s; say it in the map with table and do",
		l.table.name, l.owner.name, l.own.name, what)
}

// reaches tells whether a table holds an ancestor itself.
func (s *schema) reaches(t *table, p ancestor) bool {
	_, rest := s.bindAncestor(t, p)
	return len(rest) < len(p.params)
}

// takes counts the names that are columns of the table.
func (t *table) takes(names []string) (n int) {
	for _, name := range names {
		if t.named(normal(name)) != nil {
			n++
		}
	}
	return n
}

// bindLinkKey binds what the path names a row of the noun by to the link's column;
// a name that is unique within a farther ancestor is looked for there.
func (s *schema) bindLinkKey(g *target, l link, segs []segment, before []ancestor) {
	for _, seg := range segs {
		for _, param := range seg.params {
			b := binding{param: param, col: l.own}
			first, second := l.thing.ways(param)
			if first != nil && (first != l.ref || second != nil) {
				b.of = []binding{{param: param, col: first, alt: second}}
			}
			g.linkKey = append(g.linkKey, b)
			if len(b.of) > 0 {
				for _, p := range slices.Backward(before[:len(before)-1]) {
					s.attach(l.table, g.linkKey[len(g.linkKey)-1:], p)
				}
			}
		}
	}
}
