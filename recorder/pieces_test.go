package recorder

import (
	"slices"
	"testing"

	"github.com/anvil-sim/anvil/recorder/vcr"
)

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name, came, stored string
		parts              []int
		want               []int
	}{
		{"as they came", "aabbbc", "aabbbc", []int{2, 3, 1}, []int{2, 3, 1}},
		{"one piece", "aabbbc", "aabbbc", []int{6}, nil},
		{"a secret in the middle", "aasecretcc", "aaXcc", []int{2, 6, 2}, []int{2, 1, 2}},
		{"cut inside of the secret", "aasecretcc", "aaXcc", []int{2, 3, 3, 2}, []int{2, 1, 2}},
		{"a longer one", "aabcc", "aaLONGcc", []int{1, 2, 2}, []int{1, 5, 2}},
		{"cut short", "aabbcc", "aabb", []int{2, 2, 2}, []int{2, 2}},
		{"nothing of it left", "aabb", "", []int{2, 2}, nil},
	} {
		var p pieces
		for _, n := range c.parts {
			p.came(n, false)
		}
		if got := p.of(vcr.Bytes(c.came), vcr.Bytes(c.stored)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	var p pieces
	p.came(10, true)
	p.came(2, false)
	if !slices.Equal(p.ends, []int64{12}) {
		t.Errorf("a full buffer ended a piece: %v", p.ends)
	}
}
