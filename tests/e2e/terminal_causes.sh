#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On a terminal chainwalk prints the table of root causes, unless something else was asked for.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "script (util-linux) is not installed"
trace=$(dirname "$0")/../data/relay.bin
# shows WHAT OPTION...: what stands on a terminal
shows() {
	what=$1
	shift
	script -qec "$walk -q $* $trace" /dev/null </dev/null | tr -d '\r' >"$tmp/out"
	"$walk" -q "$@" --format="$what" "$trace" >"$tmp/expected"
	cmp "$tmp/expected" "$tmp/out" || fail "chainwalk $* on a terminal is not $what"
}
shows causes
shows causes -c alpha
shows folded --no-ends
shows folded --mode classic
shows tree -f tree
"$walk" -q "$trace" | grep -q '^alpha;.*\[running\] [0-9]*$' || fail "into a pipe go no folded lines"

# Where 3 % of the events are lost: the advice stands first, then what is known. Here 70 % of the time is unknown.
lossy=$(dirname "$0")/../data/lost.bin
"$walk" -q -f causes --wide "$lossy" >"$tmp/out"
head -n 1 "$tmp/out" | grep -q '^Careful: 3 % of the events are lost: record with a larger' || fail "the advice: $(head -n 2 "$tmp/out")"
! sed '/^ *SHARE/q' "$tmp/out" | grep -q unknown || fail "what it is about: $(head -n 5 "$tmp/out")"
sed '1,/^ *SHARE/d' "$tmp/out" | awk '/^ *[0-9.]+ %/ { unknown = / unknown/; n[unknown]++
	if (seen && !unknown && !/\[other\]| all of them$/) bad = bad "\n" $0
	seen = seen || unknown } END { if (bad || !n[0] || !n[1]) { print n[0], n[1], bad; exit 1 } }' >"$tmp/order" ||
	fail "known causes, then unknown ones: $(cat "$tmp/order" "$tmp/out")"
