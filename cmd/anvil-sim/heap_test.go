package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestHeapPercent(t *testing.T) {
	const mb = 1 << 20
	for _, tc := range []struct {
		live uint64
		want int
	}{{0, 200}, {mb, 200}, {4 * mb, 200}, {5 * mb, 160}, {8 * mb, 100}, {1 << 40, 100}} {
		if got := heapPercent(tc.live); got != tc.want {
			t.Errorf("heapPercent(%d) = %d, want %d", tc.live, got, tc.want)
		}
	}
}

// What is set once for a small heap would make three of a large one.
func TestHeapRoomFollowsTheHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(200)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	giveHeapRoom()
	large := make([]byte, 32<<20)
	got := 0
	for range 100 { // the cleanup of a collection is run beside what follows it
		runtime.GC()
		got = debug.SetGCPercent(100)
		debug.SetGCPercent(got)
		if got == 100 {
			break
		}
	}
	if runtime.KeepAlive(large); got != 100 {
		t.Errorf("with 32 MB in use the room is %d percent, want 100", got)
	}
}

// A crowd that left gives its memory back, and what is needed for good does not
// count each time.
func TestMemoryIsGivenBack(t *testing.T) {
	debug.FreeOSMemory() // what other tests have left
	k := newMemoryKeeper()
	before := heldMemory()
	crowd := make([]byte, 2*before+2*spareMemory)
	for i := range crowd {
		crowd[i] = 1
	}
	k.left() // nothing has left yet
	held := heldMemory()
	if runtime.KeepAlive(crowd); held < uint64(len(crowd)) {
		t.Fatalf("%d bytes are held, of which %d are in use", held, len(crowd))
	}
	if keepsTooMuch(held, k.needed.Load()) {
		t.Errorf("%d bytes that are in use count as too much again", held)
	}
	k.needed.Store(before)
	crowd = nil
	if k.left(); heldMemory() > before+spareMemory {
		t.Errorf("%d bytes are held after the crowd has left, before it %d", heldMemory(), before)
	}
}
