package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// heapRoom is the garbage that a server may collect before it is cleared away, in
// bytes. Go's own choice, as much as there is in use and 4 MB at least, has a
// small contract cleared away every few hundred calls, which is a tenth of what
// they cost.
const heapRoom = 8 << 20

// giveHeapRoom sets when garbage is cleared away, once all that a server keeps is
// loaded. GOGC in the environment wins.
func giveHeapRoom() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(heapPercent(live[0].Value.Uint64()))
}

// heapPercent is the room for a heap with so many bytes in use, in percent of
// them: twice what Go gives, at most 4 MB more than that.
func heapPercent(live uint64) int {
	return int(min(max(heapRoom*100/max(live, 1), 100), 200))
}
