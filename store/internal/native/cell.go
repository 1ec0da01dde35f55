package native

import (
	"math"
	"slices"
	"unsafe"
)

// Kind is SQLite's type of a value, by SQLite's own numbers (SQLITE_INTEGER and so on).
type Kind int32

// What a value may be.
const (
	Integer Kind = 1 + iota
	Real
	Text
	Blob
	Null
)

// A Cell is one value of a row. It has no type behind an interface, so that a page of
// rows is read without an allocation for each of its values.
type Cell struct {
	Kind Kind
	// Num is an Integer, or the bits of a Real.
	Num int64
	// Text is a Text, or the bytes of a Blob. Of a [Block] it is good until the next
	// is read.
	Text string
}

// Real is the number of a Real.
func (c Cell) Real() float64 { return math.Float64frombits(uint64(c.Num)) }

// A unit is the measure of a block: one value, or sixteen bytes of a text. The bytes of
// a row's texts follow its values.
type unit struct {
	num     int64
	kind, n int32
}

const unitSize = int(unsafe.Sizeof(unit{}))

const (
	// blockUnits is the room for rows at first, 16 KiB: a page of ordinary rows.
	blockUnits = 1 << 10
	// keptUnits, 256 KiB, bounds the room that is kept for many rows; a larger row has
	// its own.
	keptUnits = 1 << 14
)

// An Error is why SQLite could not go on.
type Error struct {
	Code int // extended: the result code is in its lower eight bits
	Text string
}

// Error implements error: SQLite's own words.
func (e Error) Error() string { return e.Text }

// A Block is rows of a statement that were read at once. The zero Block is empty.
type Block struct {
	args  []unit // what the statement is run with
	units []unit
	next  int  // the unit where the next row begins
	rows  int  // that are left
	full  bool // there was no room for the row after them
}

// bind lays out the values of a statement's parameters.
func (b *Block) bind(args []Cell) {
	units := max(1, len(args))
	for _, c := range args {
		units += unitsOf(len(c.Text))
	}
	b.args = slices.Grow(b.args[:0], units)[:units]
	next := len(args)
	for i, c := range args {
		b.args[i] = unit{c.Num, int32(c.Kind), int32(len(c.Text))}
		if c.Text != "" {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&b.args[next])), len(c.Text)), c.Text)
			next += unitsOf(len(c.Text))
		}
	}
}

// room sees to it that there is room for rows, more than before where they filled it.
func (b *Block) room() {
	switch {
	case len(b.units) == 0:
		b.units = make([]unit, blockUnits)
	case b.full && len(b.units) < keptUnits:
		b.units = make([]unit, 2*len(b.units))
	}
}

func unitsOf(bytes int) int { return (bytes + unitSize - 1) / unitSize }

// Next reads a row into cells, as many as the columns that the block was read with. It
// returns false after the last.
func (b *Block) Next(cells []Cell) bool {
	if b.rows == 0 {
		return false
	}
	b.rows--
	head := b.units[b.next : b.next+len(cells)]
	b.next += len(cells)
	for i, u := range head {
		cells[i] = Cell{Kind: Kind(u.kind), Num: u.num}
		if u.n > 0 {
			cells[i].Text = unsafe.String((*byte)(unsafe.Pointer(&b.units[b.next])), int(u.n))
			b.next += unitsOf(int(u.n))
		}
	}
	return true
}

// Trim lets go of room that only a large row, or a large value of a parameter, needed.
func (b *Block) Trim() {
	if len(b.units) > keptUnits || len(b.args) > keptUnits {
		*b = Block{}
	}
}
