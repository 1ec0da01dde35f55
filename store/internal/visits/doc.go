// Package visits counts the rows that SQLite looks at. The driver passes on no
// such count (sqlite3_stmt_status), and a function in Go that SQL calls costs
// microseconds a row, so two lines of C do it for nanoseconds. They call the
// SQLite that the driver links into the program.
package visits

// Term is true for every row and counts it. As the first term of a WHERE it counts
// the rows that an index, or a whole scan, puts before the other terms; of a join
// those of its outermost loop.
const Term = "anvil_visit()"
