// Package importer makes a fixture database of files: CSV, TSV, JSON, JSON Lines,
// YAML and SQL dumps. Types and keys are inferred from the rows, so that nothing
// is lost: a column is a number only where a number holds every value exactly.
//
// An import is whole or does not happen. Rows that cannot be taken are named by
// file and line, several at once.
package importer
