// Package native is what SQLite tells and its driver does not pass on: how many rows
// a statement looked at, whether it was prepared anew, and its rows many at a time. A
// function in Go that SQL calls, and a call into C for each row, cost more than the
// work that they do, so a few lines of C do it. They call the SQLite that the driver
// links into the program.
package native

// Visit is true for every row and counts it. As the first term of a WHERE it counts
// the rows that an index, or a whole scan, puts before the other terms; of a join
// those of its outermost loop.
const Visit = "anvil_visit()"
