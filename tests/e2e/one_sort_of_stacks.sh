#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chaincap -K records kernel stacks only, -U user stacks only, also as a flight recorder.
# Beside another: no stack at all may have frames of the other sort.
. "$(dirname "$0")/lib.sh"
needs_bpf
for sort in K U; do
	for flight in '' '--flight 10s'; do
		rm -f "$tmp/trace"
		# shellcheck disable=SC2086 # none or two words
		timeout 300 "$cap" -$sort $flight -o "$tmp/trace" -- "$load" relay --rounds 3 >"$tmp/told" 2>"$tmp/err"
		expect_exit "chaincap -$sort $flight -- chainload relay" 0 $?
		"$walk" -q -f info "$tmp/trace" >"$tmp/info" || fail "chaincap -$sort $flight: not readable"
		frames=$(sed -n "s/^frames_$([ $sort = K ] && echo user || echo kernel): //p" "$tmp/info")
		expect "frames of the other sort with -$sort $flight" 0 "$frames"
		frames=$(sed -n "s/^frames_$([ $sort = K ] && echo kernel || echo user): //p" "$tmp/info")
		expect_at_least "frames of the sort asked for with -$sort $flight" 10 "$frames"
	done
done
