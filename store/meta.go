package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"math"
	"slices"
	"strconv"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/internal/near"
	"github.com/anvil-sim/anvil/store/fixture"
)

// A metaWriter writes the meta object of an answer, keys in a fixed order:
//
//	{"table":"Track","filters":["AlbumId"],"ignored":["sort"],"sort":["-Name"],
//	 "plan":["SEARCH Track USING INDEX byAlbum (AlbumId=?)","USE TEMP B-TREE FOR ORDER BY"],
//	 "rows_scanned":12,"rows":7}
type metaWriter struct{ dst []byte }

func newMeta(t *table) *metaWriter {
	return &metaWriter{canon.AppendString([]byte(`{"table":`), t.name)}
}

func (m *metaWriter) key(name string) {
	m.dst = append(append(append(m.dst, `,"`...), name...), `":`...)
}

// list writes texts; none writes nothing.
func (m *metaWriter) list(name string, n int, at func(i int) string) {
	if n == 0 {
		return
	}
	m.key(name)
	m.dst = append(m.dst, '[')
	for i := range n {
		if i > 0 {
			m.dst = append(m.dst, ',')
		}
		m.dst = canon.AppendString(m.dst, at(i))
	}
	m.dst = append(m.dst, ']')
}

func (m *metaWriter) number(name string, n int64) {
	m.key(name)
	m.dst = strconv.AppendInt(m.dst, n, 10)
}

func (m *metaWriter) text(name, s string) {
	m.key(name)
	m.dst = canon.AppendString(m.dst, s)
}

func (m *metaWriter) filters(filters []filter) {
	m.list("filters", len(filters), func(i int) string { return filters[i].label() })
}

func (m *metaWriter) finding(f *finding) {
	m.list("plan", len(f.plan), func(i int) string { return f.plan[i] })
	if f.counted {
		m.number("rows_scanned", f.rows)
	}
}

func (m *metaWriter) end() []byte { return append(m.dst, '}') }

// values writes columns with their values as an object; none writes nothing.
func (m *metaWriter) values(name string, list []columnValue) {
	for i, c := range list {
		if i == 0 {
			m.key(name)
		}
		m.dst = append(m.dst, "{,"[min(i, 1)])
		m.dst = append(canon.AppendString(m.dst, c.col.name), ':')
		m.dst = c.col.appendJSON(m.dst, c.val)
	}
	if len(list) > 0 {
		m.dst = append(m.dst, '}')
	}
}

func (m *metaWriter) texts(name string, list []string) {
	m.list(name, len(list), func(i int) string { return list[i] })
}

// optional writes a text that is not empty.
func (m *metaWriter) optional(name, s string) {
	if s != "" {
		m.text(name, s)
	}
}

// meta says what was asked of the tables.
func (r *reading) meta(rows int, why *emptiness) []byte {
	m := r.openMeta(rows)
	if why != nil {
		why.write(m, r)
	}
	return m.end()
}

func (r *reading) openMeta(rows int) *metaWriter {
	m := newMeta(r.g.table)
	m.filters(r.filters)
	m.texts("ignored", r.ignored)
	m.list("sort", len(r.keys), func(i int) string { return [...]string{"", "-"}[bit(r.keys[i].desc)] + r.keys[i].col.name })
	m.finding(&r.how)
	m.number("rows", int64(rows))
	return m
}

// meta says what a write did.
func (w *change) meta() []byte { return w.openMeta(1).end() }

func (w *change) openMeta(rows int64) *metaWriter {
	m := newMeta(w.table)
	m.filters(w.match)
	m.texts("ignored", w.unread())
	m.texts("generated", w.generated)
	m.finding(&w.how)
	m.number("rows", rows)
	return m
}

// absent is the refusal for a key that names no row; its meta names the nearest
// row there is.
func absent(ctx context.Context, c *conn, g *target, r *reading) error {
	err := missing(g.table, r.filters)
	m := newMeta(g.table)
	m.filters(r.filters)
	m.texts("ignored", r.ignored)
	m.finding(&r.how)
	m.number("rows", 0)
	if nearErr := m.nearest(ctx, c, g.table, r.filters[:len(g.key)]); nearErr != nil {
		return nearErr
	}
	err.meta = m.end()
	return err
}

// parentless is the refusal for a path whose parent does not exist, right after it was
// looked for with [where.count]; its meta is about the parent. What the path says of
// the parent's own parents stands in the filters as the foreign key.
func parentless(ctx context.Context, c *conn, parent *table, key []filter) error {
	err := missing(parent, key)
	m := newMeta(parent)
	m.filters(key)
	m.finding(&finding{rows: c.raw.Visited(), counted: c.raw.Visits()})
	m.number("rows", 0)
	// The name that the path itself gives is what was mistyped.
	own := slices.Clone(key)
	slices.SortStableFunc(own, func(a, b filter) int { return cmp.Compare(bit(a.op != opVia), bit(b.op != opVia)) })
	if nearErr := m.nearest(ctx, c, parent, own); nearErr != nil {
		return nearErr
	}
	err.meta = m.end()
	return err
}

// nearest names the key that the last filter of one that names no row was probably
// meant to be.
func (m *metaWriter) nearest(ctx context.Context, c *conn, t *table, key []filter) error {
	near, err := t.nearestKey(ctx, c, key)
	if err == nil {
		m.values("nearest", near)
	}
	return err
}

// nearestNeighbours bounds the keys of each side that a text is compared with.
const nearestNeighbours = 32

// nearestKey finds the key that a wrong one was probably meant to be: the
// nearest number, or the text with the fewest changes among its neighbours. None is
// found where there are no rows.
func (t *table) nearestKey(ctx context.Context, c *conn, key []filter) ([]columnValue, error) {
	if len(key) == 0 || len(key[len(key)-1].vals) == 0 {
		return nil, nil
	}
	last := key[len(key)-1]
	col := last.col
	var near driver.Value
	asked := last.vals[len(last.vals)-1]
	best := 0
	name := "t." + fixture.Quote(col.name)
	for _, side := range []struct{ term, order string }{{" <= ?", " DESC"}, {" > ?", ""}} {
		var w where
		w.add(key[:len(key)-1]...)
		w.and(name+side.term, asked)
		sql := "SELECT +" + name + " FROM " + fixture.Quote(t.name) + " AS t" + w.sql + " ORDER BY " + name + side.order + " LIMIT ?"
		err := c.query(ctx, sql, append(w.args, int64(nearestNeighbours)), 1, func(vals []driver.Value) error {
			if d := apart(asked, vals[0]); near == nil || d < best {
				near, best = vals[0], d
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if near == nil {
		return nil, nil
	}
	return []columnValue{{col, near}}, nil
}

// apart tells how far two keys are from one another.
func apart(a, b driver.Value) int {
	spell := func(v driver.Value) string {
		if s, ok := v.(string); ok {
			return s
		}
		return string(plainColumn.appendJSON(nil, v))
	}
	x, isX := asWhole(a)
	y, isY := b.(int64)
	if isX && isY {
		return int(min(math.Abs(float64(x)-float64(y)), 1<<30))
	}
	return near.Distance(spell(a), spell(b))
}

func asWhole(v driver.Value) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}
