package importer

import (
	"github.com/anvil-sim/anvil/store/fixture"
)

// kind is what a file says about a cell.
type kind uint8

const (
	null    kind = iota
	plain        // text of a CSV file, whose type must be guessed
	quoted       // text in quotes of a CSV file
	text         // a string of a JSON or YAML file
	number       // a JSON number, as spelled
	boolean      // "true" or "false"
	nested       // an array or object, as compact JSON
	blobbed      // bytes, in value
	raw          // a text that is no UTF-8, as an export spells it
	ready        // a value of a dump, in value
)

// A cell is one value as a file spells it.
type cell struct {
	kind  kind
	text  string
	value fixture.Value
}

// A row is one row of a file. Where names is nil its cells are the table's
// columns in order.
type row struct {
	line  int // 0 when the format has none
	index int // 1 for the first row of the table
	names []string
	cells []cell
	bad   string // why the row cannot be read, "" when it can
}

// A table is the rows of one table in a file. rows may be called several times.
type table struct {
	name    string
	file    string
	columns []string // of formats that have a header, else nil
	rows    func(visit func(*row) error) error
	source  source
	under   []string // keys that lead to the rows in a JSON or YAML file
}

// source is what kind of file rows come from: JSON and YAML know types.
type source uint8

const (
	untyped source = iota // CSV and TSV
	typed
)
