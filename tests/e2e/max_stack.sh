#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where the machine lets a walk find few frames only (kernel.perf_event_max_stack) chaincap says so, and
# marks the kernel stacks that were cut: those of events, and those of threads that are asleep all along. With the
# default it says nothing.
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
# Asleep in a way in which nobody else is: it opens a pipe that nobody writes to.
mkfifo "$tmp/fifo"
sh -c 'read -r line <"$0"' "$tmp/fifo" &
opener=$!
started="$started $opener"
wait_for "a thread that opens a pipe is asleep" 10 grep -q 'S (sleeping)' "/proc/$opener/status"
"$cap" -K -o "$tmp/trace" -- "$load" relay --rounds 3 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap with perf_event_max_stack=6" 0 $?
grep -q 'cut after 6 frames.*kernel.perf_event_max_stack' "$tmp/err" || fail "not said: $(cat "$tmp/err")"
"$walk" -v -K --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk --format=events" 0 $?
# "MARKED WHOLE DEEP": stacks of the thread's switches that are marked and that are not, and those with more than
# six frames. In a system call a thread has more than six, of which those of tracing itself are left out.
awk -v thread="/$(tid alpha) S -> " '
	function done() { if (on && n) { if (cut) marked++; else whole++; deep += n > 6 } }
	/^ / { done(); on = $3 == "switch" && index($0, thread); n = cut = 0; next }
	$1 == "[cut]" { cut = 1; next }
	{ n++ }
	END { done(); printf "%.0f %.0f %.0f\n", marked, whole, deep }' "$tmp/events" >"$tmp/cuts"
read -r marked whole deep <"$tmp/cuts"
expect_at_least "stacks of a thread that sleeps in system calls, marked as cut" 3 "$marked" "$tmp/events"
expect "those that are not marked, of more than six frames" "0 0" "$whole $deep"
# Each stack is in the trace once: the opener's is one more than those of events.
of_events=$(awk '
	/^ / { stack = ""; next }
	$1 == "[cut]" && !seen[stack]++ { n++ }
	{ stack = stack " " $1 }
	END { printf "%.0f\n", n }' "$tmp/events")
read_info "$tmp/trace"
expect_at_least "stacks that are marked as cut, with that of a thread that is asleep all along" $((of_events + 1)) \
	"$(info_figure stacks_cut)" "$tmp/info"
