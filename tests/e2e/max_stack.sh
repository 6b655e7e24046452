#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where the machine lets a walk find few frames only (kernel.perf_event_max_stack) chaincap says so, and
# marks the kernel stacks that were cut; with the default it says nothing.
. "$(dirname "$0")/lib.sh"
needs_bpf
sysctl=/proc/sys/kernel/perf_event_max_stack
before=$(cat $sysctl)
[ "$before" -ge 127 ] || skip "kernel.perf_event_max_stack is $before here"
put_back() {
	for _ in $(seq 600); do
		{ echo "$before" >$sysctl; } 2>/dev/null && break
		sleep 0.1
	done
	[ "$(cat $sysctl)" = "$before" ] || echo "note: kernel.perf_event_max_stack is left at $(cat $sysctl), not $before"
	clean_up
}

"$cap" -o "$tmp/trace" 0.3 2>"$tmp/err"
expect_exit "chaincap" 0 $?
! grep -q max_stack "$tmp/err" || fail "said with the default: $(cat "$tmp/err")"

# It cannot be changed while anything collects call chains; programs are freed a moment after their end.
trap put_back EXIT
for _ in $(seq 100); do
	{ echo 6 >$sysctl; } 2>/dev/null && break
	sleep 0.1
done
[ "$(cat $sysctl)" = 6 ] || skip "kernel.perf_event_max_stack cannot be changed while call chains are collected"
"$cap" -K -o "$tmp/trace" -- "$load" relay --rounds 3 >/dev/null 2>"$tmp/err"
expect_exit "chaincap with perf_event_max_stack=6" 0 $?
grep -q 'cut after 6 frames.*kernel.perf_event_max_stack' "$tmp/err" || fail "not said: $(cat "$tmp/err")"
read_info "$tmp/trace"
expect_at_least "stacks that are marked as cut" 5 "$(info_figure stacks_cut)" "$tmp/info"
