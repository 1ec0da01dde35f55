package store

import (
	"fmt"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/store/fixture"
)

// maxJoins is how deep rows of parents show rows of their own parents: the
// repository of an issue has an owner.
const maxJoins = 2

// parent fills an object from the row that a foreign key points to.
func (b *shaper) parent(f *outField, m canon.Member, path []string, col *column) bool {
	if len(path) != 1 {
		return false
	}
	return b.joinParent(f, m, b.table, "t", col, 1)
}

// joinParent joins the parent's row of a table that stands in the statement
// under an alias.
func (b *shaper) joinParent(f *outField, m canon.Member, t *table, alias string, col *column, depth int) bool {
	from := b.from.with(m.Value)
	props := from.properties()
	if len(props) == 0 || depth > maxJoins {
		return false
	}
	n := normal(m.Key)
	for _, fk := range t.fks {
		p := b.schema.table(fk.parent)
		if p == nil || len(fk.cols) != 1 || fk.cols[0].hidden {
			continue
		}
		refs := fk.targets(p)
		if len(refs) != 1 {
			continue
		}
		own := fk.cols[0]
		if own != col && own.norm != n && own.norm != n+"id" && own.norm != n+singular(normal(p.name)) && own.norm != n+refs[0].norm {
			continue
		}
		on := " = " + alias + "." + fixture.Quote(own.name)
		b.join(f, from, p, refs[0], on, depth)
		return f.group != nil
	}
	return false
}

// join selects the columns of a parent's row beside the table's own.
func (b *shaper) join(f *outField, from declared, p *table, ref *column, on string, depth int) {
	before, joined, joins := len(b.sh.exprs), b.joined, b.sh.joins
	b.joined++
	alias := fmt.Sprintf("j%d", b.joined)
	b.sh.joins += " LEFT JOIN " + fixture.Quote(p.name) + " AS " + alias + " ON " + alias + "." + fixture.Quote(ref.name) + on
	at := func(col *column) int {
		b.sh.exprs = append(b.sh.exprs, "+"+alias+"."+fixture.Quote(col.name))
		return len(b.table.cols) + len(b.sh.exprs) - 1
	}
	f.unless = at(ref)
	required := from.required()
	for _, m := range from.properties() {
		inner := outField{name: string(canon.AppendString(nil, m.Key)), at: -1, unless: -1, omit: !required[m.Key] && !nullable(m.Value)}
		col := p.outColumn([]string{m.Key})
		if b.joinParent(&inner, m, p, alias, col, depth+1) {
			f.group = append(f.group, inner)
			continue
		}
		if col == nil || col.hidden || col.class == classBlob {
			continue
		}
		inner.col, inner.at, inner.typ = col, at(col), outTypeOf(b.from.with(m.Value).schema)
		f.group = append(f.group, inner)
	}
	if f.group == nil {
		b.sh.exprs, f.unless = b.sh.exprs[:before], -1
		b.joined, b.sh.joins = joined, joins
	}
}
