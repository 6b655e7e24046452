#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same frames as flamegraph.pl draws, with the same counts in the same order: of stacks made here
# and, where FLAMEGRAPH_PL lies in a FlameGraph checkout, of its own test files (a copy of flamegraph.pl
# on PATH will do for the first).
. "$(dirname "$0")/lib.sh"
pl=${FLAMEGRAPH_PL:-$(command -v flamegraph.pl)}
[ -n "$pl" ] || skip "no flamegraph.pl: neither in FLAMEGRAPH_PL nor on PATH"
bench=$(dirname "$0")/../../bench
python3 "$bench/render_input.py" 2000 >"$tmp/walks" || fail "render_input.py"
# Of chains the widest callee would come first: these are no chains without their delimiters.
"$walk" --depth 6 "$(dirname "$0")/../data/relay.bin" 2>/dev/null | sed 's/;--;/;=;/g' >"$tmp/chains"
[ -s "$tmp/chains" ] || fail "chainwalk relay.bin"
# More frames than a file has by default: equally wide ones, many samples that were each seen once.
awk 'BEGIN {
	for (k = 0; k < 1100; k++) {
		for (i = 0; i < 100; i++) printf "s%.0f_%.0f%s", k, i, i < 99 ? ";" : " 1\n"
	}
}' >"$tmp/equal"
awk 'BEGIN {
	for (k = 0; k < 3000; k++) {
		for (i = 0; i < 40; i++) printf "t%.0f_%.0f%s", k % 50, i * (k + 1), i < 39 ? ";" : " 1\n"
	}
}' >"$tmp/once"
set -- "$tmp/walks" "$tmp/chains" "$tmp/equal" "$tmp/once"
for own in "$(dirname "$pl")"/test/results/*-collapsed-*.txt; do
	[ ! -s "$own" ] || set -- "$@" "$own"
done
python3 "$bench/render_parity.py" "$pl" "$flame" "$@" >"$tmp/out" 2>&1 || fail "frames differ:
$(grep -v ': same$' "$tmp/out")"
tail -1 "$tmp/out"
