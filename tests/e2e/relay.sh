#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# alpha's wait is explained by bravo, charlie, delta and the timer, in that order, each as wide as it
# was told to be, whatever the threads wait on.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=5
bravo='alpha;--;bravo'
charlie="$bravo;--;charlie"
delta="$charlie;--;delta"

for hop in futex pipe eventfd unix tcp; do
	# What it needs of its files is in memory then: nobody waits for the disk in the recording.
	"$load" relay --hops $hop --rounds 1 >"$tmp/out" || fail "$hop: $(cat "$tmp/out")"
	record_thread "$tmp/trace" "$tmp/folded" alpha \
		relay --hops $hop --work 1500,2500,3500 --rounds $rounds
	grep -q '^alpha;.*thread_main;alpha_runs;alpha_waits;[^;]*;\(\[[a-z]*\];\)\{0,1\}-;.*;bravo_wakes_alpha;bravo_runs;thread_main;' \
		"$tmp/folded" || fail "$hop: stacks are not whole at the joint
$(cat "$tmp/folded")"
	grep ';alpha_waits;.*;--;' "$tmp/folded" | skeleton '^(alpha_waits|[a-z]*_wakes_[a-z]*)$' >"$tmp/chains"
	grep -q '^alpha;alpha_waits;--;bravo_wakes_alpha;bravo;--;charlie_wakes_bravo;charlie;--;delta_wakes_charlie;delta;\[running\]' \
		"$tmp/chains" || fail "$hop: no chain with its functions
$(cat "$tmp/chains")"
	by_threads <"$tmp/folded" >"$tmp/chains"
	expect_work "$hop: bravo" bravo "$(weight "$bravo;[running]" "$tmp/chains")" "$tmp/chains"
	expect_work "$hop: charlie" charlie "$(weight "$charlie;[running]" "$tmp/chains")" "$tmp/chains"
	expect_work "$hop: delta" delta "$(weight "$delta;[running]" "$tmp/chains")" "$tmp/chains"
	# timer_ns is from before alpha sleeps until delta runs again: on a busy machine delta waited for a
	# CPU during some of that.
	timer=$(weight "$delta;--;[timer]" "$tmp/chains")
	expect_at_most "$hop: the timer" "$(told timer_ns)" "$timer" "$tmp/chains"
	expect_at_least "$hop: the timer, and delta waiting for a CPU" $(($(told timer_ns) * 9 / 10)) \
		$((timer + $(weight "$delta;[runnable]" "$tmp/chains"))) "$tmp/chains"
	expect_waits "$hop: all of alpha's waits" alpha "$(weight_of '^alpha;--;bravo;' "$tmp/chains")" $rounds "$tmp/trace"
	expect "$hop: other ends than these" "" \
		"$(grep -v -e '\[running\] ' -e '\[runnable\] ' -e '\[timer\] ' "$tmp/chains")"
	grep -q ';hrtimer_wakeup;.*;\[timer\] ' "$tmp/folded" ||
		fail "$hop: the timer's own frames are missing
$(cat "$tmp/folded")"
	expect "$hop: frames of the interrupted or idle thread" "" \
		"$(grep -e swapper -e cpu_startup_entry "$tmp/folded")"
done
