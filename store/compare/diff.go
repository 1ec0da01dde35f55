package compare

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
)

// Options change what is compared. The zero value and nil are the defaults.
type Options struct {
	// Tables are compared alone; none is all. Views and triggers are then left out.
	Tables []string
	// Ignore are columns that may differ: "column" or "table.column".
	Ignore []string
}

// A Visitor hears of differences as they are found: for each table, in the
// order of names, of its schema and then of its rows in key order. What it
// returns ends the comparison.
type Visitor interface {
	// Schema is a fact that only one side has; table is "" for views and triggers.
	Schema(table string, side Side, fact string) error
	// Row is a row that only one side has, or one that both have with other cells.
	Row(r *Row) error
	// Table ends a table that both sides have.
	Table(c Counts) error
}

// Side is where something is that the other side does not have.
type Side uint8

// The sides: A is compared with B, so what only A has was removed.
const (
	Removed Side = iota
	Added
	Changed // of a [Row]: on both sides, with other cells
)

// String names the side.
func (s Side) String() string { return [...]string{"removed", "added", "changed"}[s] }

// A Row is a difference between rows. It is valid until the visitor returns.
type Row struct {
	Table   *fixture.Table // of the side that has the row, A's for a changed one
	Side    Side
	Columns []int           // positions of Values in Table
	Key     []fixture.Value // of the primary key, nil in tables without one
	Values  []fixture.Value // of an added or removed row
	Times   int             // how often a row without a key is there more often
	Cells   []Cell          // of a changed row
}

// A Cell is a column whose value differs.
type Cell struct {
	Column, Type string
	A, B         fixture.Value
}

// Counts say how a table differs.
type Counts struct {
	Table                          string
	A, B                           int // rows of each side
	Added, Removed, Changed, Equal int
	Keyed                          bool // rows were told apart by the primary key
}

// Diff compares the content of two databases and reports whether it is equal.
// Memory does not grow with the number of rows.
func Diff(ctx context.Context, a, b *fixture.DB, visit Visitor, opts *Options) (equal bool, err error) {
	d := &differ{ctx: ctx, a: a, b: b, visit: visit, equal: true}
	if opts != nil {
		d.opts = *opts
	}
	as, err := a.Schema(ctx)
	if err != nil {
		return false, fmt.Errorf("%s: %w", a.Path(), err)
	}
	bs, err := b.Schema(ctx)
	if err != nil {
		return false, fmt.Errorf("%s: %w", b.Path(), err)
	}
	if err := d.checkOptions(as, bs); err != nil {
		return false, err
	}
	if len(d.opts.Tables) == 0 {
		if err := d.facts("", objectFacts(as), objectFacts(bs)); err != nil {
			return false, err
		}
	}
	for _, name := range names(as, bs) {
		if len(d.opts.Tables) > 0 && !slices.ContainsFunc(d.opts.Tables, func(t string) bool { return strings.EqualFold(t, name) }) {
			continue
		}
		if err := d.table(name, as.Table(name), bs.Table(name)); err != nil {
			return false, fmt.Errorf("table %q: %w", name, err)
		}
	}
	return d.equal, nil
}

// names are the tables of either side, each once, sorted.
func names(a, b *fixture.Schema) []string {
	all := a.Names()
	for _, n := range b.Names() {
		if a.Table(n) == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

type differ struct {
	ctx   context.Context
	a, b  *fixture.DB
	visit Visitor
	opts  Options
	equal bool
}

func (d *differ) checkOptions(a, b *fixture.Schema) error {
	for _, t := range d.opts.Tables {
		if a.Table(t) == nil && b.Table(t) == nil {
			return fmt.Errorf("--table %s: neither side has this table; they have %s", t, strings.Join(names(a, b), ", "))
		}
	}
	for _, i := range d.opts.Ignore {
		met := false
		for _, s := range []*fixture.Schema{a, b} {
			for _, t := range s.Tables {
				for _, c := range t.Columns {
					met = met || ignores(i, t.Name, c.Name)
				}
			}
		}
		if !met {
			return fmt.Errorf("--ignore %s: neither side has this column, want a column or table.column", i)
		}
	}
	return nil
}

func ignores(pattern, table, column string) bool {
	return strings.EqualFold(pattern, column) || strings.EqualFold(pattern, table+"."+column)
}

func (d *differ) ignored(table, column string) bool {
	return slices.ContainsFunc(d.opts.Ignore, func(i string) bool { return ignores(i, table, column) })
}

// facts reports the lines that only one side has, A's first.
func (d *differ) facts(table string, a, b []string) error {
	report := func(side Side, mine, other []string) error {
		for _, line := range mine {
			if !slices.Contains(other, line) {
				d.equal = false
				if err := d.visit.Schema(table, side, line); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := report(Removed, a, b); err != nil {
		return err
	}
	return report(Added, b, a)
}

func (d *differ) table(name string, a, b *fixture.Table) error {
	switch {
	case a == nil:
		return d.facts(name, nil, []string{"table"})
	case b == nil:
		return d.facts(name, []string{"table"}, nil)
	}
	fa, fb := facts(a), facts(b)
	if err := d.facts(name, fa, fb); err != nil {
		return err
	}
	if slices.Equal(sorted(fa), sorted(fb)) && !slices.Equal(fa, fb) {
		d.equal = false
		if err := d.visit.Schema(name, Added, "the columns in another order"); err != nil {
			return err
		}
	}
	return d.rows(name, a, b)
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }

// A stream is one side's rows of a table in their order.
type stream struct {
	table *fixture.Table
	rows  *fixture.Rows
	cols  []int
	vals  []fixture.Value // nil at the end
	count int
}

func (s *stream) next() error {
	vals, err := s.rows.Next()
	switch err {
	case nil:
		s.vals = vals
		s.count++
	case io.EOF:
		s.vals = nil
	default:
		return err
	}
	return nil
}

// common are the positions of the columns that both tables store.
func (d *differ) common(a, b *fixture.Table) (ca, cb []int) {
	for _, i := range stored(a) {
		j := b.Column(a.Columns[i].Name)
		if j >= 0 && !b.Columns[j].Generated && !d.ignored(a.Name, a.Columns[i].Name) {
			ca, cb = append(ca, i), append(cb, j)
		}
	}
	return ca, cb
}

// sameKey tells whether rows of both sides are told apart by the same columns.
func sameKey(a, b *fixture.Table, ca []int) bool {
	if !a.Keyed() || !b.Keyed() || !slices.EqualFunc(a.KeyNames(), b.KeyNames(), strings.EqualFold) {
		return false
	}
	for _, k := range a.Key {
		if !slices.Contains(ca, k) {
			return false // ignored
		}
	}
	return true
}

func (d *differ) rows(name string, a, b *fixture.Table) (err error) {
	ca, cb := d.common(a, b)
	if len(ca) == 0 {
		return nil
	}
	m := &merge{d: d, counts: Counts{Table: name, Keyed: sameKey(a, b, ca)}}
	m.a, m.b = &stream{table: a, cols: ca}, &stream{table: b, cols: cb}
	for i, c := range ca {
		if m.counts.Keyed && slices.Contains(a.Key, c) {
			m.key = append(m.key, i)
		}
	}
	if m.counts.Keyed { // in key order, which need not be column order
		slices.SortFunc(m.key, func(x, y int) int { return slices.Index(a.Key, ca[x]) - slices.Index(a.Key, ca[y]) })
	} else {
		for i := range ca {
			m.key = append(m.key, i)
		}
	}
	if m.a.rows, err = d.a.Ordered(d.ctx, a, ca, m.counts.Keyed); err != nil {
		return err
	}
	defer m.a.rows.Close()
	if m.b.rows, err = d.b.Ordered(d.ctx, b, cb, m.counts.Keyed); err != nil {
		return err
	}
	defer m.b.rows.Close()
	if err := m.run(); err != nil {
		return err
	}
	m.counts.A, m.counts.B = m.a.count, m.b.count
	return d.visit.Table(m.counts)
}

// A merge walks two ordered streams at once.
type merge struct {
	d      *differ
	a, b   *stream
	key    []int // positions of the key in a row; every position without one
	counts Counts
	row    Row
	keyBuf []fixture.Value
}

func (m *merge) run() error {
	if err := m.a.next(); err != nil {
		return err
	}
	if err := m.b.next(); err != nil {
		return err
	}
	for m.a.vals != nil || m.b.vals != nil {
		if err := m.step(); err != nil {
			return err
		}
	}
	return nil
}

func (m *merge) step() error {
	switch c := m.compare(); {
	case c < 0:
		m.counts.Removed++
		if err := m.lone(m.a, Removed); err != nil {
			return err
		}
		return m.a.next()
	case c > 0:
		m.counts.Added++
		if err := m.lone(m.b, Added); err != nil {
			return err
		}
		return m.b.next()
	}
	if err := m.both(); err != nil {
		return err
	}
	if err := m.a.next(); err != nil {
		return err
	}
	return m.b.next()
}

// compare orders the two rows at hand; a side at its end is behind.
func (m *merge) compare() int {
	switch {
	case m.b.vals == nil:
		return -1
	case m.a.vals == nil:
		return 1
	}
	for _, k := range m.key {
		if c := fixture.Compare(m.a.vals[k], m.b.vals[k]); c != 0 {
			return c
		}
	}
	if m.counts.Keyed {
		return 0
	}
	for _, k := range m.key { // types last, as the rows are ordered
		if c := strings.Compare(typeName(m.a.vals[k]), typeName(m.b.vals[k])); c != 0 {
			return c
		}
	}
	return 0
}

func typeName(v fixture.Value) string {
	switch v.(type) {
	case int64:
		return "integer"
	case float64:
		return "real"
	}
	return ""
}

// lone reports a row that one side has.
func (m *merge) lone(s *stream, side Side) error {
	m.d.equal = false
	m.row = Row{Table: s.table, Side: side, Columns: s.cols, Values: s.vals, Times: 1}
	m.setKey(s)
	return m.d.visit.Row(&m.row)
}

func (m *merge) setKey(s *stream) {
	if !m.counts.Keyed {
		return
	}
	m.keyBuf = m.keyBuf[:0]
	for _, k := range m.key {
		m.keyBuf = append(m.keyBuf, s.vals[k])
	}
	m.row.Key = m.keyBuf
}

// both compares the cells of a row that both sides have.
func (m *merge) both() error {
	cells := m.row.Cells[:0]
	for i, v := range m.a.vals {
		if !fixture.Same(v, m.b.vals[i]) {
			c := m.a.table.Columns[m.a.cols[i]]
			cells = append(cells, Cell{Column: c.Name, Type: c.Type, A: v, B: m.b.vals[i]})
		}
	}
	if len(cells) == 0 {
		m.counts.Equal++
		return nil
	}
	m.counts.Changed++
	m.d.equal = false
	m.row = Row{Table: m.a.table, Side: Changed, Columns: m.a.cols, Cells: cells}
	m.setKey(m.a)
	return m.d.visit.Row(&m.row)
}
