#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How long the recorder says that it had a CPU itself, also with real-time priority, for which the kernel keeps no account
# of when a thread came on its CPU: not since before the CPU's last switch, by the trace's own events, which is all of
# it together no longer than all CPUs had.
# Beside another: it judges only what the recorder says of itself.
. "$(dirname "$0")/lib.sh"
needs_bpf
chrt -r 1 true 2>"$tmp/err" || skip "no real-time priority here: $(cat "$tmp/err")"

# too_long TRACE: by how many ns its times reach to before the CPU's last switch, of how many.
too_long() {
	"$walk" -q --all -f events "$1" 2>/dev/null | awk '
		{ split($1, at, "."); ns = at[1] * 1000000000 + substr(at[2] "000000000", 1, 9); cpu = $2 }
		$3 == "recorder" {
			had = $(NF - 1)
			since = last[cpu] == ns ? before[cpu] : last[cpu]
			all += had
			if (since && ns - had < since) over += since - (ns - had)
		}
		$3 == "recorder" || $3 == "switch" {
			if (last[cpu] != ns) { before[cpu] = last[cpu]; last[cpu] = ns }
		}
		END { printf "%.0f %.0f\n", over, all }'
}

for class in -o -r; do
	for try in 1 2 3; do
		priority=$([ $class = -r ] && echo 1 || echo 0)
		timeout 300 chrt $class "$priority" "$cap" -q -o "$tmp/trace" -- sleep 0.5 >"$tmp/out" 2>"$tmp/err"
		expect_exit "chrt $class chaincap -- sleep" 0 $?
		too_long "$tmp/trace" >"$tmp/over"
		read -r over all <"$tmp/over"
		expect_at_least "ns for which it had a CPU" 1 "$all"
		# Of a switch that the host hides, and a thread's first time on a CPU, the kernel's account says nothing.
		expect_at_most "chrt $class, try $try: ns from before the CPU's last switch, of $all" 10000000 "$over"
	done
done
