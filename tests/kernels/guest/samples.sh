#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples on this kernel too: a thread that computes is in the functions that compute, where its binary has frame
# pointers and where it has none; and the samples add up. How often each function is met is for e2e/samples.sh: here
# the CPU time of a thread has in it what the emulation waits for a CPU. The rest is in the kernel: computing looks at
# a clock, which on arm64 is a system call, below the vDSO, which has no rules there: what called it is guessed.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
programs="chainload chainload-nofp" wakes='worker_wakes_client;'
! is_plain || programs=chainload wakes= # by frame pointers, which pass over who calls the C library
for program in $programs; do
	load=$build/$program
	timeout 100 "$cap" -o "$tmp/trace" -- "$load" shares --seconds 30 --work 7000,3000,1 --rounds 100 >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- $load shares" 0 $?
	walk_to "$tmp/folded" --state running -t "$(tid worker)" "$tmp/trace"
	all=$(weight_of . "$tmp/folded")
	computes=$(weight_of ';worker_(sorts|hashes)[; ]' "$tmp/folded")
	expect_at_least "ns on the CPU in functions that compute, of $all" $((all * 7 / 10)) "$computes" "$tmp/folded"
	walk_to "$tmp/folded" -t "$(tid client)" "$tmp/trace"
	grep -q ";${wakes}worker_runs;thread_main;.*;worker;\[running\];.*thread_main;worker_runs;worker_sorts" "$tmp/folded" ||
		fail "no stacks above [running]
$(cat "$tmp/folded")"
	read_info "$tmp/trace"
	grep -q '^more_accounted: yes$' "$tmp/info" || fail "the samples do not add up
$(cat "$tmp/info")"
	echo "note: ${load##*/}: on the CPU $all ns, of which computing $computes"
done
