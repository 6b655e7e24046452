#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A hundred idle threads: each is there, not woken if the recording ends first, and with the thread that
# woke them all if it does not.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- \
	sh -c '"$0" idle --sleep 60000000 --seconds 600 >"$1" & echo $! >"$2"
		until grep -q "^thread idle99 " "$1"; do sleep 0.1; done; sleep 1.5' \
	"$load" "$tmp/told" "$tmp/pid" 2>"$tmp/err"
expect_exit "chaincap -- chainload idle, in the background" 0 $?
started="$started $(cat "$tmp/pid")"
walk_to "$tmp/folded" -c '^idle[0-9]+$' "$tmp/trace"
skeleton '^$' <"$tmp/folded" >"$tmp/chains"
expect "idle threads that were not woken for a second" 100 \
	"$(grep -c '^idle[0-9]*;\[not woken\] [1-9][0-9]\{9,10\}$' "$tmp/chains")"

record "$tmp/trace" idle --sleep 300000 --work 2000
walk_to "$tmp/folded" -c '^idle[0-9]+$' "$tmp/trace"
grep -q '^idle99;.*;idle_waits;.*;--;.*;keeper_wakes_all;' "$tmp/folded" || fail "no chain with its functions"
by_threads <"$tmp/folded" >"$tmp/chains"
link='--;keeper'
expect "idle threads that waited for keeper's timer" 100 \
	"$(grep -c "^idle[0-9]*;$link;--;\[timer\] [0-9]\{9\}\$" "$tmp/chains")"
expect "idle threads that waited for keeper's work" 100 \
	"$(grep -c "^idle[0-9]*;$link;\[running\] [0-9]\{7\}\$" "$tmp/chains")"
