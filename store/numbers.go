package store

import (
	"context"
	"sync"

	"github.com/anvil-sim/anvil/store/fixture"
)

// numbersLimit bounds the numbers that are remembered.
const numbersLimit = 4096

// numbers remembers the highest number of ids such as T-41, which only a scan of
// the table finds. What is remembered is a number that the store itself gave, and
// it counts while its row is there and nothing but creates and deletes came
// after it. The nil numbers remember nothing.
type numbers struct {
	mu  sync.Mutex
	top map[numberKey]givenID
}

// A numberKey is one sequence of ids: those of a column with a prefix, within the
// rows that share the values of other columns.
type numberKey struct {
	col    *column
	prefix string
	width  int
	by     string // the other columns
	within string // and their values
}

// A givenID is an id that the store gave.
type givenID struct {
	n    int64
	text string // the whole id
}

// A claim is a number that a change gives, if it succeeds.
type claim struct {
	key numberKey
	givenID
}

func keyOfNumber(col *column, prefix string, width int, known []filter) numberKey {
	key := numberKey{col: col, prefix: prefix, width: width}
	for _, f := range known {
		key.by += f.col.name + "\x00"
		key.within = string(f.appendKey([]byte(key.within)))
	}
	return key
}

// find returns the highest number of a sequence where it is remembered and its
// row still there. The connection counts the rows that it looks at.
func (s *numbers) find(ctx context.Context, c *conn, key numberKey, known []filter) (n int64, ok bool, err error) {
	if s == nil {
		return 0, false, nil
	}
	s.mu.Lock()
	got, ok := s.top[key]
	s.mu.Unlock()
	if !ok {
		return 0, false, nil
	}
	var w where
	w.count(c)
	w.add(known...)
	w.and("t."+fixture.Quote(key.col.name)+" = ?", got.text)
	ok, err = exists(ctx, c, "SELECT 1 FROM "+fixture.Quote(key.col.table.name)+" AS t"+w.sql+" LIMIT 1", w.args)
	return got.n, ok, err
}

// settle learns from a change that succeeded.
func (s *numbers) settle(w *change) {
	if s == nil || w.verb == deleteRow {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.top {
		if key.col.table == w.table && !w.continues(key) {
			delete(s.top, key)
		}
	}
	if len(s.top) >= numbersLimit {
		clear(s.top)
	}
	for _, c := range w.claims {
		s.top[c.key] = c.givenID
	}
}

// continues tells whether a sequence stays as it was, or goes on by one of the
// change's claims.
func (w *change) continues(key numberKey) bool {
	for _, c := range w.claims {
		if w.verb == createRow && c.key.col == key.col && c.key.by == key.by {
			return true
		}
	}
	return false
}

// forget drops everything.
func (s *numbers) forget() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.top)
}
