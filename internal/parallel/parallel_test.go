package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/anvil-sim/anvil/internal/parallel"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		done := make([]atomic.Int32, n)
		parallel.Each(n, func() func(int) bool {
			return func(i int) bool {
				done[i].Add(1)
				return true
			}
		})
		for i := range done {
			if got := done[i].Load(); got != 1 {
				t.Errorf("of %d: piece %d was done %d times", n, i, got)
			}
		}
	}
}

func TestEachEnds(t *testing.T) {
	const n = 1 << 30 // more than a test has time for
	var failed atomic.Int32
	parallel.Each(n, func() func(int) bool {
		return func(i int) bool {
			if i == 100 {
				failed.Add(1)
			}
			return i < 100
		}
	})
	if failed.Load() != 1 {
		t.Error("the piece that ends the work was not done once")
	}
}
