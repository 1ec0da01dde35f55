module github.com/anvil-sim/anvil

go 1.26
