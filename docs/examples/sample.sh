#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws the sample that README.md shows with the programs in the build folder $1: chain.svg and, with CHROMIUM and the
# browser tests' packages, chain.png, in that folder, or in $2: docs/sample for those of the README. The report of the
# same recording becomes $1/report.html.
set -eu
O=$(cd "${1:?usage: $0 BUILD_DIR [FOLDER]}" && pwd)
to=$(cd "${2:-$O}" && pwd)
cd "$(dirname "$0")/../.."
trace=tests/data/services/c.bin
"$O/chainwalk" -q --requests --request '^tcp :45865' --slowest 1% $trace |
	"$O/flamegraph" --title "The slowest one percent of requests to a web service" >"$to/chain.svg"
"$O/chainwalk" -q --format=html --no-idle -p catalogue --min-wait 20ms -o "$O/report.html" $trace
if [ "${CHROMIUM:-}" ]; then
	(cd tests/browser && node pictures.mjs "$to/chain.svg" "$to" chain light)
	mv "$to/chain-light.png" "$to/chain.png"
fi
echo "$to/chain.svg, $O/report.html"
