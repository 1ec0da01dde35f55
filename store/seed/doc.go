// Package seed makes a fixture database of a contract: a table for each resource
// that the contract lets a caller read, foreign keys where paths and names tell
// them, and rows that are synthesized from a seed. The same contract and seed
// give the same bytes.
package seed
