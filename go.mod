module github.com/anvil-sim/anvil

go 1.26

require (
	github.com/mattn/go-sqlite3 v1.14.53
	gopkg.in/yaml.v3 v3.0.1
)
