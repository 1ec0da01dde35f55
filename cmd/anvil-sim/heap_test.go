package main

import "testing"

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
