#!/usr/bin/env bash
# Drives client libraries that nobody here wrote against the simulator, each with
# its vendor's own description: google/go-github and twilio/twilio-go on fixture
# databases. A module of its own, so that the project's go.mod stays small.
set -euo pipefail
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -C .. -buildvcs=false -o "$out/" ./cmd/anvil-sim
go build -buildvcs=false -o "$out/" ./github ./twilio ./mkdb
for vendor in github twilio; do
	"$out/mkdb" "testdata/$vendor.sql" "$out/$vendor.db"
	"$out/anvil-sim" serve --contract testdata/$vendor-*.gz --approve all --fixtures "$out/$vendor.db" -- "$out/$vendor"
done
