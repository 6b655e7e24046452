#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the page's tests in headless Chromium, and with ALL=1 or FIREFOX in Firefox: tests/browser/run.sh BUILD_DIR [PART_OF_A_NAME]
# Needs chromium, node and, the first time, npm; if one is missing, all tests are skipped by name.
set -u
build=$(cd "${1:-build}" 2>/dev/null && pwd) || { echo "usage: run.sh BUILD_DIR" >&2; exit 2; }
cd "$(dirname "$0")" || exit 1

kind='test'
[ -z "${SPEED:-}" ] || kind='speed' # what harness.mjs runs then, in Chromium alone
skip() {
	n=$(grep -c "^$kind(\"" ./*.test.mjs | awk -F: '{ n += $2 } END { printf "%.0f\n", n }')
	sed -n "s/^$kind(\"\([^\"]*\)\".*/SKIP browser: \1/p" ./*.test.mjs | sed "s|\$| ($1)|"
	echo "0 passed, 0 failed, $n skipped"
	exit 0
}

# Without windows Chromium shows the same pages, in 0.4 of the CPU time. ALL=1 takes the one that people have, and Firefox.
[ "${ALL:-}${CHROMIUM:-}" ] || CHROMIUM=$(command -v chromium-headless-shell)
. ./chromium.sh
[ -n "$chromium" ] || skip "no chromium"
command -v node >/dev/null || skip "no node"
for program in flamegraph chainwalk; do
	[ -x "$build/$program" ] || { echo "run.sh: no $build/$program" >&2; exit 1; }
done
if [ ! -d node_modules/playwright-core ]; then
	command -v npm >/dev/null || skip "no npm"
	PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 timeout 180 npm ci --no-audit --no-fund --silent \
		>/dev/null 2>&1 || skip "npm ci failed"
fi
firefox='' why='make test-all has it'
[ ! "${ALL:-}${FIREFOX:-}" ] || firefox=${FIREFOX-$(command -v firefox-esr || command -v firefox)} why='no firefox-esr'
tmp=$(mktemp -d) || exit 1
trap 'kill "$with_chromium" "$with_firefox" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Each browser has a process of its own, side by side.
FLAMEGRAPH=$build/flamegraph CHAINWALK=$build/chainwalk
export FLAMEGRAPH CHAINWALK
CHROMIUM=$chromium FIREFOX='' timeout 1000 node main.mjs "${2:-}" >"$tmp/chromium" 2>&1 &
with_chromium=$! with_firefox=''
if [ $kind = speed ]; then
	echo "0 passed, 0 failed, 0 skipped" >"$tmp/firefox"
elif [ -n "$firefox" ]; then
	CHROMIUM='' FIREFOX=$firefox timeout 1000 node main.mjs "${2:-}" >"$tmp/firefox" 2>&1 &
	with_firefox=$!
else
	echo "SKIP browser, Firefox: all ($why)" >"$tmp/firefox"
	echo "0 passed, 0 failed, 1 skipped" >>"$tmp/firefox"
fi
status=0
for pid in $with_chromium $with_firefox; do
	wait "$pid" || status=1
done
sums='^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'
grep -hvE "$sums" "$tmp/chromium" "$tmp/firefox"
grep -hE "$sums" "$tmp/chromium" "$tmp/firefox" | awk '{ passed += $1; failed += $3; skipped += $5 }
	END { printf "%.0f passed, %.0f failed, %.0f skipped\n", passed, failed, skipped }'
exit $status
