module github.com/anvil-sim/anvil

go 1.26

require github.com/mattn/go-sqlite3 v1.14.53

// Tests only.
require (
	github.com/go-json-experiment/json v1.27.2
	github.com/google/go-cmp v0.7.0
)
