module github.com/anvil-sim/anvil/sdk

go 1.26

require (
	github.com/google/go-github/v74 v74.0.0
	github.com/mattn/go-sqlite3 v1.14.53
	github.com/twilio/twilio-go v1.31.0
)

require (
	github.com/golang-jwt/jwt/v5 v5.2.2 // indirect
	github.com/golang/mock v1.6.0 // indirect
	github.com/google/go-querystring v1.1.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
)

replace github.com/anvil-sim/anvil => ../
