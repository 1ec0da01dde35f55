module github.com/anvil-sim/anvil

go 1.26

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/inconshreveable/mousetrap v1.1.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
)
