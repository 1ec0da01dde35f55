package importer

import (
	"fmt"
	"strings"
)

// A badRow is a row that cannot be taken.
type badRow struct {
	file        string
	line, index int // line is 0 where it is not known, index counts from 1
	msg         string
}

// Error implements error.
func (b *badRow) Error() string {
	if b.line == 0 {
		return fmt.Sprintf("%s: row %d: %s", b.file, b.index, b.msg)
	}
	return fmt.Sprintf("%s:%d: %s", b.file, b.line, b.msg)
}

// mostBad bounds how many bad rows are collected before an import gives up.
const mostBad = 10

// A BadRowsError names the rows that cannot be taken, in the order of the files:
// the first ten of a table.
type BadRowsError struct {
	Rows []string // "file:line: what is wrong"
	More bool     // there may be others behind the last
}

// Error implements error.
func (e *BadRowsError) Error() string {
	var b strings.Builder
	more := ""
	if e.More {
		more = "more than "
	}
	fmt.Fprintf(&b, "%s%d bad row(s), nothing was imported", more, len(e.Rows))
	for _, r := range e.Rows {
		b.WriteString("\n  " + r)
	}
	return b.String()
}

// Hint says what to do next.
func (e *BadRowsError) Hint() string {
	return "mend the rows, give the column another type with --types, or leave bad rows out with --skip-bad"
}
