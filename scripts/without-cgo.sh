#!/usr/bin/env bash
# Builds anvil-sim without cgo and checks that what needs SQLite says so, leaves no
# file behind and exits 2, and that the rest works.
#   scripts/without-cgo.sh
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -o "$work/anvil-sim" ./cmd/anvil-sim
cp store/testdata/chinook.sqlite "$work/app.db"
cp cmd/anvil-sim/demo/air.yaml "$work/demo.yaml"
cd "$work"
printf 'id,name\n1,Ann\n' >users.csv

fail() { printf 'without-cgo: %s\n' "$*" >&2; exit 1; }

refused() {
	local status=0
	./anvil-sim "$@" >out 2>&1 || status=$?
	[ "$status" = 2 ] || fail "anvil-sim $* exits $status, want 2: $(cat out)"
	grep -q 'built without cgo, which SQLite needs; build it with CGO_ENABLED=1 and a C compiler' out ||
		fail "anvil-sim $* does not say why: $(cat out)"
	[ ! -e new.db ] || fail "anvil-sim $* left a file behind"
}

refused serve --fixtures app.db
refused serve
refused provider sqlite app.db
refused fixtures digest app.db
refused fixtures diff app.db app.db
refused fixtures inspect app.db
refused fixtures check app.db
refused fixtures export app.db
refused fixtures optimize app.db
refused fixtures at app.db --call 1 --output new.db
refused fixtures import users.csv --output new.db
refused fixtures init --contract demo.yaml --output new.db

./anvil-sim serve --contract demo.yaml -- true 2>out || fail "a contract without fixtures is not served: $(cat out)"
./anvil-sim inspect demo.yaml >out 2>&1 || fail "a contract cannot be looked into: $(cat out)"
