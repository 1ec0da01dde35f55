package air

import (
	"fmt"

	"github.com/anvil-sim/anvil/internal/canon"
)

// maxExpanded bounds what a document would be with every alias written out, in
// bytes: digests walk it so.
const maxExpanded = 512 << 20

// An extent is what a value takes when every alias in it is written out.
type extent struct {
	cost   int // bytes, about; not counted beyond maxExpanded
	height int // levels of nesting
}

// boundAliases says what is wrong with a tree that shares parts: too large or
// too deep when they are written out. It visits each shared part once.
func boundAliases(v *Value) string {
	switch e := measure(v, map[*Value]extent{}); {
	case e.cost > maxExpanded:
		return fmt.Sprintf("more than %d MiB with its aliases written out", maxExpanded>>20)
	case e.height > canon.MaxDepth:
		return fmt.Sprintf("nested deeper than %d with its aliases written out", canon.MaxDepth)
	}
	return ""
}

func measure(v *Value, known map[*Value]extent) extent {
	if e, ok := known[v]; ok {
		return e
	}
	e := extent{cost: 2 + len(v.Text())}
	add := func(part *Value, more int) {
		p := measure(part, known)
		e.cost = min(e.cost+p.cost+more, maxExpanded+1)
		e.height = max(e.height, p.height+1)
	}
	for _, part := range v.Elems() {
		add(part, 1)
	}
	for _, m := range v.Members() {
		add(m.Value, len(m.Key)+4)
	}
	if e.height > 0 {
		known[v] = e
	}
	return e
}
