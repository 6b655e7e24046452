#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of realtime classes: who had the CPU is told by the name at each time, also of one that renames itself and runs
# another program without leaving its CPU; and a program of SCHED_DEADLINE waits for its own next period.
. "$(dirname "$0")/lib.sh"
needs_bpf
build_slow realtime
for what in fifo deadline; do
	"$tmp/realtime" $what >"$tmp/told" 2>"$tmp/err"
	[ -s "$tmp/told" ] || skip "no $what here: $(cat "$tmp/err")"
done

# The time for which handler had no CPU as that program had it.
had() {
	weight_of ";\\[(runnable|preempted)\\];$1 [0-9]+\$" "$tmp/folded"
}

first_screen "$tmp/realtime" fifo
walk_to "$tmp/folded" --state=all --who-ran -c '^handler$' "$tmp/trace"
echo "note: $(cat "$tmp/told") us: init-phase $(had init-phase), control-phase $(had control-phase), realtime $(had realtime) ns"
# Whoever else has the CPU after that is no matter. The kernel names a program by its file.
expect_near "handler waited for init-phase" 150000000 "$(had init-phase)" 1 "$tmp/folded"
expect_near "handler waited for control-phase" 150000000 "$(had control-phase)" 1 "$tmp/folded"
expect_near "handler waited for realtime, as control-phase is called then" 150000000 "$(had realtime)" 1 "$tmp/folded"

first_screen "$tmp/realtime" deadline
walk_to "$tmp/folded" --state=all --who-ran -c '^controller$' "$tmp/trace"
runtime=$(weight_of ';\[throttled SCHED_DEADLINE\] [0-9]+$' "$tmp/folded")
took=$(awk '$1 == "controller" { printf "%.0f\n", 1000 * $2 }' "$tmp/told")
echo "note: controller took $took ns for 60000000 ns of the CPU; its runtime was used up for $runtime ns"
# All but what it ran.
expect_near "time for which its runtime was used up" $((took - 60000000)) "$runtime" 10 "$tmp/folded"
shows 'controller/[0-9]+ was throttled.*: its own runtime \(SCHED_DEADLINE\) was used up' 80
