package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// heapRoom is the garbage that a server may collect before it is cleared away, in
// bytes. Go's own choice, as much as there is in use and 4 MB at least, has a
// small contract cleared away every few hundred calls, which is a tenth of what
// they cost.
const heapRoom = 8 << 20

// giveHeapRoom sets when garbage is cleared away, once all that a server keeps is
// loaded, and again whenever it was: what fits a small heap makes three of a large
// one. GOGC in the environment wins.
func giveHeapRoom() {
	if os.Getenv("GOGC") != "" {
		return
	}
	setHeapRoom(0)
}

// A marker is what nobody holds, so that its cleanup runs with each collection.
type marker struct{ _ *byte }

func setHeapRoom(set int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	// Setting stops the program for a moment: not for little.
	if want := heapPercent(live[0].Value.Uint64()); set == 0 || want > set+heapStep || want < set-heapStep {
		debug.SetGCPercent(want)
		set = want
	}
	runtime.AddCleanup(&marker{}, setHeapRoom, set)
}

// heapStep is a difference in percent that is not worth a setting.
const heapStep = 10

// heapPercent is the room for a heap with so many bytes in use, in percent of
// them: twice what Go gives, at most 4 MB more than that.
func heapPercent(live uint64) int {
	return int(min(max(heapRoom*100/max(live, 1), 100), 200))
}

// spareMemory is how much more than twice what it needs a server may keep from the
// system when a crowd of clients has left, in bytes.
const spareMemory = 32 << 20

// A memoryKeeper gives memory back to the system when clients have left. Go does so
// too, some megabytes a second at most, and not before the next collection, which
// no call may bring about for two minutes.
type memoryKeeper struct {
	needed  atomic.Uint64 // what was kept when there were few clients
	working atomic.Bool
}

// newMemoryKeeper looks at what a server needs before it has clients.
func newMemoryKeeper() *memoryKeeper {
	k := &memoryKeeper{}
	k.needed.Store(heldMemory())
	return k
}

// left is to be called when a crowd has left.
func (k *memoryKeeper) left() {
	if !k.working.CompareAndSwap(false, true) {
		return
	}
	defer k.working.Store(false)
	if keepsTooMuch(heldMemory(), k.needed.Load()) {
		debug.FreeOSMemory()
		k.needed.Store(heldMemory())
	}
}

// keepsTooMuch reports whether memory that is held is worth a collection, of a
// server that needs so much: what is large for good is not looked at each time.
func keepsTooMuch(held, needed uint64) bool { return held > 2*needed+spareMemory }

// heldMemory is what Go has from the system and has not given back, in bytes.
func heldMemory() uint64 {
	of := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(of)
	return of[0].Value.Uint64() - of[1].Value.Uint64()
}
