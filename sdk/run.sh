#!/usr/bin/env bash
# Drives client libraries that nobody here wrote against the simulator, each with
# its vendor's own description: google/go-github on a fixture database,
# slack-go/slack on a provider process. A module of its own, so that the
# project's go.mod stays small.
set -euo pipefail
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -C .. -buildvcs=false -o "$out/" ./cmd/anvil-sim
go build -buildvcs=false -o "$out/" ./github ./slack ./slackprovider ./mkdb
"$out/mkdb" testdata/github.sql "$out/github.db"
"$out/anvil-sim" serve --contract testdata/github-rest.json.gz --approve all --fixtures "$out/github.db" -- "$out/github"
"$out/anvil-sim" serve --contract testdata/slack-web.json.gz --approve all --provider-cmd "$out/slackprovider" -- "$out/slack"
