module github.com/anvil-sim/anvil

go 1.26

require github.com/go-json-experiment/json v1.27.2

require github.com/google/go-cmp v0.7.0

require github.com/mattn/go-sqlite3 v1.14.53
