// Package compare says whether two fixture databases hold the same content:
// [Sum] as a digest of one, [Diff] as the rows and cells that differ.
//
// Content is what an API can show: the tables with their columns, keys, foreign
// keys and unique sets, the views and triggers, and the rows. Page layout,
// insertion order, gaps between row ids, indexes for speed and the names of
// indexes are no content.
package compare
