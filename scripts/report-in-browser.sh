#!/usr/bin/env bash
# Opens the page of 'anvil-trace report' in headless Chromium and uses it: loads
# 10,000 calls, filters, opens calls, finds differences, follows links, in light
# and dark, and looks for console errors, network and script from trace content.
#
#   scripts/report-in-browser.sh [FOLDER]
#
# With FOLDER the pictures it takes are kept there. Needs Go and Chromium (Debian:
# apt-get install chromium; another binary: CHROMIUM=/path/to/chrome). Exit code 3
# when there is no Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"
export CHROMIUM="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}"
if [ -z "$CHROMIUM" ]; then
	echo "report-in-browser: no chromium on the PATH; install it, or set CHROMIUM" >&2
	exit 3
fi
if [ $# -gt 0 ]; then
	mkdir -p "$1"
	SCREENSHOTS="$(cd "$1" && pwd)"
	export SCREENSHOTS
fi
exec go test -count=1 -tags browser -run '^TestBrowser' -timeout 10m ./trace/htmlreport
