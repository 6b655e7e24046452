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
