package tape

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// A Digest is equal for interactions that hold the same exchange, wherever they
// were recorded and however they are named.
type Digest [sha256.Size]byte

// Digest is the digest of the interaction.
func (i *Interaction) Digest() Digest {
	d := digester{sha256.New()}
	d.text(i.Request.Method)
	d.text(i.Request.URL)
	d.header(i.Request.Header)
	d.bytes(i.Request.Body)
	d.number(i.Response.Status)
	d.header(i.Response.Header)
	d.bytes(i.Response.Body)
	d.header(i.Response.Trailer)
	if i.Failure != nil {
		d.text(i.Failure.Message)
	}
	if i.Call != nil {
		d.bytes(i.Call.Request)
		d.bytes(i.Call.Answer)
	}
	return Digest(d.Sum(nil))
}

// A digester separates what it is given by lengths.
type digester struct{ hash.Hash }

func (d digester) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = d.Write(b[:]) // a hash takes everything
}

func (d digester) bytes(b []byte) {
	d.number(len(b))
	_, _ = d.Write(b)
}

func (d digester) text(s string) { d.bytes([]byte(s)) }

func (d digester) header(h Header) {
	d.number(len(h))
	for _, f := range h {
		d.text(canonicalName(f.Name))
		d.text(f.Value)
	}
}

// Merge joins recordings without duplicates, in the order of the tapes. An
// exchange that a tape holds several times, such as a poll, stays so often. With a
// base, which the tapes came from, what one of them took out stays out: the way a
// version control system merges three files. A nil base is none.
func Merge(base *Tape, tapes ...*Tape) []*Interaction {
	from := counts(base)
	left := map[Digest]int{}
	var each []map[Digest]int
	for _, t := range tapes {
		c := counts(t)
		each = append(each, c)
		for d := range c {
			left[d] = 0
		}
	}
	for d := range left {
		left[d] = merged(d, from, each, base != nil)
	}
	var list []*Interaction
	for _, t := range tapes {
		for _, it := range t.Interactions {
			if d := it.Digest(); left[d] > 0 {
				left[d]--
				list = append(list, it)
			}
		}
	}
	return list
}

func counts(t *Tape) map[Digest]int {
	c := map[Digest]int{}
	if t != nil {
		for _, it := range t.Interactions {
			c[it.Digest()]++
		}
	}
	return c
}

// merged is how often an exchange stands in the merge: as often as in the tape
// that changed it, the most when several added to it, the least when they only
// took away.
func merged(d Digest, base map[Digest]int, each []map[Digest]int, based bool) int {
	most, least := 0, base[d]
	for _, c := range each {
		most, least = max(most, c[d]), min(least, c[d])
	}
	if based && most <= base[d] {
		return least
	}
	return most
}
