#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names are looked up at low priority, but the trace is finished within two seconds of the end of the
# recording, also where three others want each CPU: 4 programs of 100 thousand functions each. Where the rest
# of the machine is busy, too, they take the longer by as much as any other program does, which is measured.
. "$(dirname "$0")/../e2e/lib.sh"
needs_bpf
tools=$(cd "$(dirname "$0")/../tools" && pwd)
command -v cc >/dev/null || skip "no C compiler, to make a program of 100 thousand functions"
awk 'BEGIN {
	print ".text"
	for (i = 0; i < 100000; i++)
		printf ".type function_%.0f, %%function\nfunction_%.0f:\n.skip 8\n.size function_%.0f, 8\n", i, i, i
	print ".section .note.GNU-stack,\"\""
}' >"$tmp/functions.s"
cc -O2 -D_GNU_SOURCE -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread -o "$tmp/n_big1" \
	"$tools/names_load.c" "$tmp/functions.s" 2>"$tmp/err" || fail "cc: $(cat "$tmp/err")"
for i in 1 2 3 4; do
	[ $i = 1 ] || cp "$tmp/n_big1" "$tmp/n_big$i"
	echo "\"$tmp/n_big$i\" wait 20 1000 &"
done >"$tmp/load"
echo wait >>"$tmp/load"

# record_load: records it; $finished is the time from the end to a finished trace, in seconds.
record_load() {
	timeout 60 "$cap" -v -o "$tmp/trace" -- sh "$tmp/load" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- 4 programs" 0 $?
	finished=$(sed -n 's/.*finished \([0-9.]*\) s after the end$/\1/p' "$tmp/err")
	[ -n "$finished" ] || fail "-v does not say when it was finished: $(cat "$tmp/err")"
}

# slowdown: by how much a program that computes takes longer now than the CPU time it gets.
slowdown() {
	begin=$(date +%s%N)
	cpu=$(sh -c 'awk "BEGIN { for (i = 0; i < 4000000; i++) x += i }"; times' |
		awk 'END { split($1, time, "[ms]"); printf "%.3f\n", time[1] * 60 + time[2] }')
	awk -v wall=$(($(date +%s%N) - begin)) -v cpu="$cpu" 'BEGIN { printf "%.1f", wall / 1e9 / (cpu + 0.001) }'
}

record_load
echo "note: finished $finished s after the end, machine as it is"
loops=''
for _ in $(seq $((3 * $(nproc)))); do
	sh -c 'while :; do :; done' &
	loops="$loops $!"
done
started="$started $loops"
for _ in 1 2 3; do
	record_load
	slow=$(slowdown)
	echo "note: finished $finished s after the end, with 3 busy loops for each CPU; any program is slowed down $slow times"
	most=$(awk -v slow="$slow" 'BEGIN { printf "%.1f", (slow > 5) ? 2 * slow / 5 : 2 }')
	awk -v s="$finished" -v most="$most" 'BEGIN { exit !(s <= most) }' && break
done
# shellcheck disable=SC2086 # a list
kill $loops
started=''
expect_at_most "seconds from the end to a finished trace" "$most" "$finished" "$tmp/err"
# A stack is cut where a file is not opened, or a rule not read, in time. With the sanitizers and these loops the
# readers of rules were late for hundreds of stacks, and the four programs had no user frames.
only_plain "names of programs that ran for half a second"
timeout 60 "$walk" -v -U --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk --format=events" 0 $?
for i in 1 2 3 4; do
	grep -q " local_sleep+.*/n_big$i)" "$tmp/events" || fail "n_big$i has no names"
done
