package store

import (
	"context"
	"database/sql/driver"

	"github.com/anvil-sim/anvil/air"
)

// A joinedRow is what a create of a link answers with where the contract declares a row
// of the thing that it joins, as the reads of the same path do.
type joinedRow struct {
	link  link
	reads *target // the declared response as a read of the thing, nil where the link is shown
}

// declare learns which of the two rows fills more of what is declared; own is the shape
// of the link.
func (j *joinedRow) declare(s *schema, doc *air.Document, o *air.Operation, all *rules, own *shape) {
	reads := &target{table: j.link.thing, verb: getRow, rules: all.of(j.link.thing)}
	reads.declare(s, doc, o, all)
	if reads.shape != nil && (own == nil || len(reads.shape.absent) < len(own.absent)) {
		j.reads = reads
	}
}

// answers is the shape of the rows that the operation answers with.
func (g *target) answers() *shape {
	if g.joined != nil && g.joined.reads != nil {
		return g.joined.reads.shape
	}
	return g.shape
}

// showJoined puts the row that a new link joins in the place of the link's own.
func (w *change) showJoined(ctx context.Context, c *conn, own []byte) ([]byte, error) {
	j := w.target.joined
	v, _ := w.value(j.link.own)
	if j.reads == nil || v == nil {
		return own, nil
	}
	key := []filter{{col: j.link.ref, vals: []driver.Value{v}}}
	row, err := j.link.thing.get(ctx, c, key, j.reads.shape, nil)
	if row == nil || err != nil { // a fixture without the row that its foreign key names
		return own, err
	}
	w.shown = j.reads
	return row, nil
}
