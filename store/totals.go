package store

import "sync"

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
}

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
		return totalKey{t, ""}
	}
	var key []byte
	for _, f := range filters {
		key = f.appendKey(key)
	}
	return totalKey{t, string(key)}
}

// get returns a remembered count, which is of the moment at. Without one, at is
// to be handed to put; it is taken before the counting begins, so that a count
// which a write overtook is never used.
func (s *totals) get(t *table, filters []filter) (n int64, known bool, at epochs) {
	return s.lookUp(t, keyOfTotal(t, filters))
}

// size returns a remembered count of all rows that was bounded.
func (s *totals) size(t *table) (n int64, known bool, at epochs) {
	return s.lookUp(t, totalKey{t, boundedCount})
}

// boundedCount is the key of a bounded count; no filters have it.
const boundedCount = "size"

func (s *totals) lookUp(t *table, key totalKey) (n int64, known bool, at epochs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at = s.now(t)
	got, ok := s.counts[key]
	return got.n, ok && got.at == at && !s.changing(t), at
}

// changing tells whether a write is under way that a reader of the table sees
// from some moment on, which nobody else knows.
func (s *totals) changing(t *table) bool {
	return s.under != nil && (s.under == t || s.wide || t.view || t.virtual)
}

// still tells whether no write has begun since at: what was read since then is
// of that moment.
func (s *totals) still(t *table, at epochs) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return at == s.now(t)
}

// now is the present moment of a table. A view shows rows of tables that it does
// not name here, so any write may change it.
func (s *totals) now(t *table) epochs {
	if t.view || t.virtual {
		return epochs{s.writes, s.all}
	}
	return epochs{s.epoch[t], s.all}
}

// put remembers a count, unless a write began since at or is under way: the count
// may be of before it or of after it.
func (s *totals) put(t *table, filters []filter, at epochs, n int64) {
	s.keep(t, keyOfTotal(t, filters), at, n)
}

// putSize remembers a bounded count of all rows, as put does.
func (s *totals) putSize(t *table, at epochs, n int64) {
	s.keep(t, totalKey{t, boundedCount}, at, n)
}

func (s *totals) keep(t *table, key totalKey, at epochs, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at != s.now(t) || s.changing(t) {
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
	whole := totalKey{t, ""}
	s.mu.Lock()
	defer s.mu.Unlock()
	carry, known := s.counts[whole]
	known = known && carry.at == s.now(t) && !everything
	s.bump(t, everything)
	s.under, s.wide = t, everything
	return func(added int64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bump(t, everything)
		s.under = nil
		if known {
			s.counts[whole] = total{s.now(t), carry.n + added}
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
