// Package parallel does pieces of work side by side. What comes of them must not
// depend on who does which, or when.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each does the pieces 0 to n-1 with as many workers as there are processors, and
// returns when all are done. Every worker calls begin once, for what it keeps
// between its pieces, and then what begin returned for one piece after the other.
// After a false no further piece is begun; all before it are done.
func Each(n int, begin func() func(piece int) bool) {
	var next atomic.Int64
	var ended atomic.Bool
	work := func() {
		do := begin()
		for !ended.Load() {
			piece := int(next.Add(1)) - 1
			if piece >= n {
				return
			}
			if !do(piece) {
				ended.Store(true)
			}
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		workers.Go(work)
	}
	if n > 0 {
		work()
	}
	workers.Wait()
}
