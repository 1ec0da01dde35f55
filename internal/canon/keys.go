package canon

import (
	"bytes"
	"hash/maphash"
)

// A span is where the canonical spelling of a key stands: in dst when it was
// spelled again, else in src.
type span struct {
	from, to int
	moved    bool
}

func (c *compactor) text(k span) []byte {
	if k.moved {
		return c.dst[k.from:k.to]
	}
	return c.src[k.from:k.to]
}

// manyKeys is where looking for a duplicate goes from a list to a hash table.
const manyKeys = 24

// A nameCheck finds duplicate keys of one object while it is read.
type nameCheck struct {
	base int    // where its keys begin in compactor.keys
	seen uint64 // one bit a key: a clear bit says that a key is new
	set  *keySet
}

// note remembers a key and sets dup when the object has it already. Keys are
// compared in their canonical spelling, which is one a string.
func (c *compactor) note(k span, names *nameCheck) {
	text := c.text(k)
	c.keys = append(c.keys, k)
	if names.set != nil {
		c.dup = names.set.add(c, names.base, len(c.keys)-1) || c.dup
		return
	}
	n := len(text) // quotes included, so at least 2
	bit := uint64(1) << ((uint(text[n-2])*7 + uint(text[n/2])*3 + uint(n)) & 63)
	if names.seen&bit != 0 {
		for _, o := range c.keys[names.base : len(c.keys)-1] {
			if o.to-o.from == n && bytes.Equal(c.text(o), text) {
				c.dup = true
			}
		}
	}
	names.seen |= bit
	if len(c.keys)-names.base == manyKeys {
		names.set = c.takeSet()
		for i := names.base; i < len(c.keys); i++ {
			names.set.add(c, names.base, i)
		}
	}
}

// leave forgets the keys of an object that was read.
func (c *compactor) leave(names *nameCheck) {
	c.keys = c.keys[:names.base]
	if names.set != nil && len(names.set.slots) == firstSlots {
		c.sets = append(c.sets, *names.set)
	}
}

// A keySet is a hash table of keys: slots hold 1 + an index counted from the
// object's first key, 0 is free. The seed is one of the process, so nobody can
// choose keys that collide.
type keySet struct {
	seed  maphash.Seed
	slots []uint32
	used  int
}

const firstSlots = 64 // a power of two, at least twice manyKeys

func (c *compactor) takeSet() *keySet {
	n := len(c.sets)
	if n == 0 {
		return &keySet{seed: maphash.MakeSeed(), slots: make([]uint32, firstSlots)}
	}
	s := c.sets[n-1]
	c.sets = c.sets[:n-1]
	s.used = 0
	clear(s.slots)
	return &s
}

// add puts key number i in the table and reports whether its text was there.
func (s *keySet) add(c *compactor, base, i int) bool {
	if 2*s.used >= len(s.slots) {
		s.grow(c, base)
	}
	text := c.text(c.keys[i])
	mask := uint64(len(s.slots) - 1)
	for at := maphash.Bytes(s.seed, text) & mask; ; at = (at + 1) & mask {
		switch slot := s.slots[at]; {
		case slot == 0:
			s.slots[at] = uint32(i-base) + 1
			s.used++
			return false
		case bytes.Equal(c.text(c.keys[base+int(slot)-1]), text):
			return true
		}
	}
}

func (s *keySet) grow(c *compactor, base int) {
	old := s.slots
	s.slots = make([]uint32, 2*len(old))
	mask := uint64(len(s.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := maphash.Bytes(s.seed, c.text(c.keys[base+int(slot)-1])) & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = slot
	}
}
