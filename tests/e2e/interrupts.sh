#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How much of a thread's running time went to interrupts and softirqs: what bpftrace measures between the same
# tracepoints, here of threads that send to each other over loopback, each message with a softirq.
. "$(dirname "$0")/lib.sh"
needs_bpf
can_compare bpftrace || skip "$why_not"
# @in: what is being handled (1 a softirq, 2 a device's interrupt, 4 x86's local timer), as they nest.
# @n counts what is measured, outermost only. @on: the thread that was switched to last. On some virtual machines no tool
# traces the switches from certain threads of the host's agent (record_thread in lib.sh): what was measured until the next
# switch is theirs, not that of the thread that leaves the CPU then.
timer=
! bpftrace -l 'tracepoint:irq_vectors:local_timer_exit' 2>/dev/null | grep -q . || timer='
tracepoint:irq_vectors:local_timer_entry { if (@in[cpu] == 0) { @since[cpu] = nsecs; } @in[cpu] = @in[cpu] | 4; }
tracepoint:irq_vectors:local_timer_exit /@in[cpu] & 4/ {
	@in[cpu] = @in[cpu] & 3;
	if (@in[cpu] == 0) { @took[cpu] += nsecs - @since[cpu]; @times[cpu] += 1; }
}'
cat >"$tmp/judge" <<JUDGE
BEGIN { printf("ready\n"); }
tracepoint:irq:softirq_entry { if (@in[cpu] == 0) { @since[cpu] = nsecs; } @in[cpu] = @in[cpu] | 1; }
tracepoint:irq:softirq_exit /@in[cpu] & 1/ {
	@in[cpu] = @in[cpu] & 6;
	if (@in[cpu] == 0) { @took[cpu] += nsecs - @since[cpu]; @times[cpu] += 1; }
}
tracepoint:irq:irq_handler_entry { if (@in[cpu] == 0) { @since[cpu] = nsecs; } @in[cpu] = @in[cpu] | 2; }
tracepoint:irq:irq_handler_exit /@in[cpu] & 2/ {
	@in[cpu] = @in[cpu] & 5;
	if (@in[cpu] == 0) { @took[cpu] += nsecs - @since[cpu]; @times[cpu] += 1; }
}$timer
tracepoint:sched:sched_switch {
	if (@on[cpu] == args->prev_pid) {
		@ns[args->prev_comm] += @took[cpu];
		@n[args->prev_comm] += @times[cpu];
	}
	@on[cpu] = args->next_pid;
	@took[cpu] = 0;
	@times[cpu] = 0;
}
END { clear(@in); clear(@since); clear(@on); clear(@took); clear(@times); }
JUDGE
# The kernel's account of how long the judge's programs run.
stats=/proc/sys/kernel/bpf_stats_enabled
before=$(cat $stats 2>/dev/null) && echo 1 >$stats && trap 'echo "$before" >$stats; clean_up' EXIT
bpftrace -q "$tmp/judge" >"$tmp/judged" 2>"$tmp/err" &
judge=$!
started="$started $judge"
wait_for "bpftrace begins" 30 grep -q ready "$tmp/judged"
timeout 300 "$cap" -q -o "$tmp/trace" -- "$load" relay --hops tcp,tcp,tcp --seconds 600 --rounds 500 --work 10 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- $load relay" 0 $?
"${BPFTOOL:-/usr/sbin/bpftool}" prog show >"$tmp/programs" 2>"$tmp/err"
end_bpftrace $judge
"$walk" -q -f threads --unit ns "$tmp/trace" >"$tmp/threads"

# column NAME: the threads' figures in that column, by the right end of its heading.
column() {
	awk -v name="$1" 'NR == 1 { end = index($0, name) + length(name) - 1; next }
		$3 ~ /^(alpha|bravo|charlie|delta)$/ { line = substr($0, 1, end); sub(/.* /, "", line); print $3, line }' "$tmp/threads"
}
column INTERRUPTS | sort >"$tmp/ours"
# Both have a program at each end of an interrupt, one after the other, so they are apart by what one program takes,
# which is more where the CPU has others' code in its caches: a microsecond each time, or as long as the kernel says
# that two of the judge's took. And a tick at the ends of the recording, which the judge sees as a whole.
each=$(awk '/ name (softirq|irq_handler|local_timer)_/ { for (i = 1; i < NF; i++) {
		if ($i == "run_time_ns") ns += $(i + 1)
		if ($i == "run_cnt") n += $(i + 1)
	} }
	END {
		each = n ? 2 * ns / n : 0
		printf "%.0f\n", each < 1000 ? 1000 : each
	}' "$tmp/programs")
awk -F'[][]' '/^@n?s?\[/ { sub(/: /, "", $3); sum[$1 " " $2] += $3 }
	END { for (n in sum) printf "%s %.0f\n", n, sum[n] }' "$tmp/judged" >"$tmp/theirs"
awk -v each="$each" 'FNR == NR { theirs[$1 " " $2] = $3; next } {
	ns = theirs["@ns " $1]; n = theirs["@n " $1]
	printf "%s: %.0f ns here, %.0f ns in %.0f times in bpftrace, whose programs take %.0f ns\n", $1, $2, ns, n, each
	off = $2 - ns
	if (n < 300 || ns < 1000000 || off > n * each + ns * 0.05 || -off > n * each + ns * 0.05) bad++
	seen++
} END { exit !(seen == 4 && !bad) }' "$tmp/theirs" "$tmp/ours" >"$tmp/compared" ||
	fail "time in interrupts differs
$(cat "$tmp/compared" "$tmp/threads")"
cat "$tmp/compared" | sed 's/^/note: /'

"$walk" -q -f info "$tmp/trace" >"$tmp/info"
grep -q '^more_accounted: yes$' "$tmp/info" || fail "the events do not add up
$(cat "$tmp/info")"
# On the chains of those who waited for them: a part of what they ran.
"$walk" -q -f tree --top 20 -c alpha "$tmp/trace" >"$tmp/tree"
grep -q 'ran [0-9.]* [mnu]*s ([0-9.]* [mnu]*s of it in interrupts)' "$tmp/tree" || fail "nothing in the tree
$(cat "$tmp/tree")"

timeout 300 "$cap" -q --no-irq -o "$tmp/without" -- "$load" relay --rounds 5 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap --no-irq" 0 $?
"$walk" -q -f threads "$tmp/without" >"$tmp/threads"
expect "threads' interrupts with --no-irq" "alpha -" "$(column INTERRUPTS | grep alpha)"
expect "events with --no-irq" 0 "$("$walk" -q --all -f events "$tmp/without" | grep -c ' interrupts ')"
