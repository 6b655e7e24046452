#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# While client waits, worker sorts for 70 % of its CPU time and hashes for 30 %: so say the frames above
# [running], within 5 points, and those of its own running time; all lines of a thread add up to its life.
# Of n samples a share of 70 % has a standard deviation of 46 / sqrt(n) points: 5 points are four of them, which
# chance exceeds once in 16 000 times, if n is 1350 or more. The worker takes 2 s of CPU time: 2000 at 997 Hz.
# Beside another: shares of CPU time, not CPU time, are compared.
. "$(dirname "$0")/lib.sh"
needs_bpf

# share WHAT FILE PATTERN: of the weight of the lines with the pattern, in percent, those with WHAT.
share() {
	awk -v what="$1" -v pattern="$3" '
		index($0, pattern) { all += $NF; if (index($0, ";" what ";") || index($0, ";" what " ")) part += $NF }
		END { printf "%.0f\n", all ? 100 * part / all : -1 }' "$2"
}

# expect_share WHAT PERCENT GOT
expect_share() {
	[ "$3" -ge $(($2 - 5)) ] && [ "$3" -le $(($2 + 5)) ] ||
		fail "$1: expected $2 % within 5 points, got $3 %
$(cat "$tmp/folded")"
}

rounds=200
for load in "$build/chainload" "$build/chainload-nofp"; do
	timeout 300 "$cap" -F 997 -o "$tmp/trace" -- "$load" shares --seconds 600 --work 7000,3000,1 --rounds $rounds >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- $load shares" 0 $?
	walk_to "$tmp/folded" -t "$(tid client)" "$tmp/trace"
	expect_at_least "samples of the worker" 1350 \
		"$("$walk" -q --all -f events "$tmp/trace" | grep -c " sample .*/$(tid worker)\$")" "$tmp/err"
	above=';worker_wakes_client;worker_runs;thread_main;'
	grep -q "$above.*;worker;\[running\];.*thread_main;worker_runs;worker_sorts" "$tmp/folded" ||
		fail "no stacks above [running]
$(cat "$tmp/folded")"
	expect_share "sorting above [running]" 70 "$(share worker_sorts "$tmp/folded" ';worker;[running]')"
	expect_share "hashing above [running]" 30 "$(share worker_hashes "$tmp/folded" ';worker;[running]')"
	walk_to "$tmp/folded" --state running -t "$(tid worker)" "$tmp/trace"
	expect "lines that are not of running time" "" "$(grep -v '^[a-z-]*;\[on-CPU\]' "$tmp/folded")"
	expect_share "sorting on the CPU" 70 "$(share worker_sorts "$tmp/folded" 'worker;[on-CPU]')"
	for thread in worker client; do
		walk_to "$tmp/folded" --state all --not-woken -t "$(tid $thread)" "$tmp/trace"
		life=$("$walk" -q -f threads --unit ns -t "$(tid $thread)" "$tmp/trace" |
			awk -v name=$thread '$3 == name { print $9 }')
		expect "all lines of $thread" "$life" \
			"$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$tmp/folded")"
	done
	"$walk" -q -f info "$tmp/trace" >"$tmp/info"
	grep -q '^more_accounted: yes$' "$tmp/info" || fail "the samples do not add up
$(cat "$tmp/info")"
done
