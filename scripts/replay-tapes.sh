#!/usr/bin/env bash
# Replays every recording below the folders: each loads or is refused with a reason,
# and each of its requests gets the recorded answer, over HTTP and through a
# contract. The counts are printed; the exit code is 1 when one differs.
#
#   scripts/replay-tapes.sh FOLDER... [-- FOLDER-OF-CONTRACTS]
#
# With a folder of contracts (*.air.yaml, *.air.yaml.gz) they serve what was
# recorded of their servers.
set -euo pipefail
command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"
if [ $# -eq 0 ]; then
	echo "replay-tapes: name a folder of recordings: scripts/replay-tapes.sh FOLDER... [-- FOLDER-OF-CONTRACTS]" >&2
	exit 2
fi
tapes=""
tests='EveryTape'
while [ $# -gt 0 ] && [ "$1" != "--" ]; do
	tapes="$tapes${tapes:+:}$(cd "$1" && pwd)"
	shift
done
if [ $# -gt 1 ]; then
	ANVIL_CONTRACTS="$(cd "$2" && pwd)"
	export ANVIL_CONTRACTS
	tests='EveryTape|TapesThrough'
fi
cd "$(dirname "$0")/.."
ANVIL_TAPES="$tapes" go test ./cmd/anvil-sim -count=1 -run "$tests" -v
