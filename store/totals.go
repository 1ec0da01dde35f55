package store

import (
	"slices"
	"sync"
)

// totalsLimit bounds the counts that are remembered.
const totalsLimit = 1024

// totals remembers how many rows a query has, until a write may have changed it:
// counting a large table again for each of its pages would cost more than they do.
type totals struct {
	mu     sync.Mutex
	epoch  map[*table]uint64 // how often the table was written
	all    uint64            // how often every table may have been
	writes uint64            // how often any table was
	under  *table            // the table that is being written now, nil for none
	wide   bool              // that write may reach every table
	counts map[totalKey]total
}

type totalKey struct {
	table *table
	query string
	// wide: the rows of other tables decide too
	wide bool
}

// open tells whether a write to any table may change the count. A view shows rows of
// tables that it does not name here.
func (k totalKey) open() bool { return k.wide || k.table.view || k.table.virtual }

type total struct {
	at epochs
	n  int64
}

// epochs is a moment in a table's life.
type epochs struct{ table, all uint64 }

func newTotals() *totals {
	return &totals{epoch: map[*table]uint64{}, counts: map[totalKey]total{}}
}

func keyOfTotal(t *table, filters []filter) totalKey {
	if len(filters) == 0 {
		return totalKey{table: t}
	}
	key := totalKey{table: t}
	var text []byte
	for _, f := range filters {
		text = f.appendKey(text)
		key.wide = key.wide || f.elsewhere()
	}
	key.query = string(text)
	return key
}

// get returns a remembered count, which is of the moment at. Without one, at is
// to be handed to put; it is taken before the counting begins, so that a count
// which a write overtook is never used.
func (s *totals) get(t *table, filters []filter) (n int64, known bool, at epochs) {
	return s.lookUp(keyOfTotal(t, filters))
}

// size returns a remembered count of all rows that was bounded.
func (s *totals) size(t *table) (n int64, known bool, at epochs) {
	return s.lookUp(totalKey{table: t, query: boundedCount})
}

// boundedCount is the key of a bounded count; no filters have it.
const boundedCount = "size"

func (s *totals) lookUp(key totalKey) (n int64, known bool, at epochs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = s.now(key)
	got, ok := s.counts[key]
	return got.n, ok && got.at == at && !s.changing(key), at
}

// changing tells whether a write is under way that a reader of the rows sees
// from some moment on, which nobody else knows.
func (s *totals) changing(key totalKey) bool {
	return s.under != nil && (s.under == key.table || s.wide || key.open())
}

// still tells whether no write has begun since at: what was read since then is
// of that moment.
func (s *totals) still(t *table, filters []filter, at epochs) bool {
	key := totalKey{table: t, wide: slices.ContainsFunc(filters, filter.elsewhere)}
	s.mu.Lock()
	defer s.mu.Unlock()
	return at == s.now(key)
}

// now is the present moment of what a count is of.
func (s *totals) now(key totalKey) epochs {
	if key.open() {
		return epochs{s.writes, s.all}
	}
	return epochs{s.epoch[key.table], s.all}
}

// put remembers a count, unless a write began since at or is under way: the count
// may be of before it or of after it.
func (s *totals) put(t *table, filters []filter, at epochs, n int64) {
	s.keep(keyOfTotal(t, filters), at, n)
}

// putSize remembers a bounded count of all rows, as put does.
func (s *totals) putSize(t *table, at epochs, n int64) {
	s.keep(totalKey{table: t, query: boundedCount}, at, n)
}

func (s *totals) keep(key totalKey, at epochs, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at != s.now(key) || s.changing(key) {
		return
	}
	if len(s.counts) >= totalsLimit {
		clear(s.counts)
	}
	s.counts[key] = total{at, n}
}

// begin forgets the counts of a table that is about to be written, or of all
// where a write may reach others. One write is under way at a time. The function it returns is to be called when
// the write is over, with how many rows it added; only then may readers remember
// again. The count of all rows is carried over: on a large table it costs most.
func (s *totals) begin(t *table, everything bool) (end func(added int64)) {
	whole := totalKey{table: t}
	s.mu.Lock()
	defer s.mu.Unlock()
	carry, known := s.counts[whole]
	known = known && carry.at == s.now(whole) && !everything
	s.bump(t, everything)
	s.under, s.wide = t, everything
	return func(added int64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bump(t, everything)
		s.under = nil
		if known {
			s.counts[whole] = total{s.now(whole), carry.n + added}
		}
	}
}

func (s *totals) bump(t *table, everything bool) {
	s.epoch[t]++
	s.writes++
	if everything {
		s.all++
	}
}

// forget drops every count.
func (s *totals) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all++
	clear(s.counts)
}
