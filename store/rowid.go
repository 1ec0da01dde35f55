package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"math"

	"github.com/anvil-sim/anvil/provider"
	"github.com/anvil-sim/anvil/store/fixture"
)

// autoKey is the key column that SQLite gives a value, nil without one.
func (t *table) autoKey() *column {
	if len(t.key) == 1 && t.key[0].auto {
		return t.key[0]
	}
	return nil
}

// numberless tells whether a new row's rowid is left to SQLite.
func (w *change) numberless() bool {
	if w.verb != createRow || w.table.rowid == "" {
		return false
	}
	auto := w.table.autoKey()
	if auto == nil {
		return true
	}
	v, _ := w.value(auto)
	return v == nil
}

// settleRowid keeps chance out of new rows: past the largest rowid SQLite picks
// one at random ("SQLite Autoincrement", section 2). An id that clients see is
// theirs to give; a hidden one is the highest that is free.
func (w *change) settleRowid(ctx context.Context, c *conn) error {
	if !w.numberless() {
		return nil
	}
	t := w.table
	var last, gap where
	last.count(c)
	last.and("t."+t.rowid+" = ?", int64(math.MaxInt64))
	full, err := exists(ctx, c, "SELECT 1 FROM "+fixture.Quote(t.name)+" AS t"+last.sql, last.args)
	w.how.rows += c.raw.Visited()
	if err != nil || !full {
		return err
	}
	if auto := t.autoKey(); auto != nil {
		return usedUp(auto)
	}
	name := fixture.Quote(t.name)
	gap.count(c)
	gap.and("t."+t.rowid+" > ?", int64(math.MinInt64))
	gap.and("NOT EXISTS (SELECT 1 FROM " + name + " AS u WHERE u." + t.rowid + " = t." + t.rowid + "-1)")
	free := "SELECT t." + t.rowid + "-1 FROM " + name + " AS t" + gap.sql + " ORDER BY t." + t.rowid + " DESC LIMIT 1"
	return w.look(ctx, c, free, gap.args, func(v []driver.Value) error {
		w.rowid = v[0]
		return nil
	})
}

func usedUp(auto *column) error {
	err := refuse(provider.Conflict, "%s has no next %q: the largest one, %d, is taken; give an %[2]q that is free",
		auto.table.name, auto.name, int64(math.MaxInt64))
	return because(err, refusal{by: bySequence, columns: columnNames(auto)})
}

// spent is what to answer where the engine says that it is full: that an
// AUTOINCREMENT key has come to its end, or err itself where the disk is meant.
func (w *change) spent(ctx context.Context, c *conn, err error) error {
	auto := w.table.autoKey()
	if auto == nil || !w.numberless() {
		return err
	}
	end, seqErr := exists(ctx, c, "SELECT 1 FROM sqlite_sequence WHERE name = ? AND seq >= ?", []driver.Value{w.table.name, int64(math.MaxInt64)})
	if seqErr != nil && ctx.Err() != nil {
		return errors.Join(err, seqErr)
	}
	if !end {
		return err
	}
	return usedUp(auto)
}
