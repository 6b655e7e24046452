#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A waker whose stack is deeper than what is recorded of it is a thread all the same, with its leaf's
# end of the stack, and is not taken for an interrupt.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=5
record_thread "$tmp/trace" "$tmp/folded" shallow deep --rounds $rounds --work 3000 --sleep 5000
grep ';shallow_waits;.*;--;' "$tmp/folded" | skeleton '^(shallow_waits|deep_wakes_shallow)$' >"$tmp/chains"
grep -q '^shallow;shallow_waits;--;deep_wakes_shallow;deep;' "$tmp/chains" || fail "no chain with its functions
$(cat "$tmp/chains")"
by_threads <"$tmp/folded" >"$tmp/chains"
deep='shallow;--;deep'
expect_work "deep" deep "$(weight "$deep;[running]" "$tmp/chains")" "$tmp/chains"
timer=$(weight "$deep;--;[timer]" "$tmp/chains")
expect_at_least "deep's timer" $((rounds * 5000000)) "$timer" "$tmp/chains"
expect_at_most "deep's timer" $((rounds * 10000000)) "$timer" "$tmp/chains"
# At its start deep's page faults may wait for the main thread, which is mapping memory.
expect "other ends than these" "" "$(grep -v -e ';deep;--;chainload;' -e ";deep;\[running\] " -e ";deep;\[runnable\] " -e ';\[\(timer\|interrupt\|queued\|device\)\] ' "$tmp/chains")"
expect_at_least "deep_descends in one stack" 100 "$(grep ';deep_wakes_shallow;' "$tmp/folded" | head -1 |
	tr ';' '\n' | grep -c '^deep_descends$')"
expect_at_least "stacks that were cut" 2 "$("$walk" -q --format=info "$tmp/trace" 2>/dev/null |
	awk '$1 == "stacks_cut:" { print $2 }')"
