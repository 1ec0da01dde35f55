// Package surface holds state.
package surface

import (
	"errors"
	"os"
)

// Name is documented.
const Name = "x"

// ErrFine is what a package variable is for.
var ErrFine = errors.New("fine")

var cache map[string]int

var made = make(map[string]int)

var table = map[string]int{"a": 1}

func init() { cache = made }

// Stop ends the process.
func Stop() {
	table["b"] = 2
	local := map[string]int{}
	local["c"] = 3
	if table := local; len(table) > 0 {
		table["d"] = 4
	}
	os.Exit(1)
}

// Undone is not done. TODO:
func Undone() {}

type Open struct{}

func (Open) Method() {}
