#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who had the CPU before a thread's first run, also if the thread was moved before that: a program that
# nothing of its kind can preempt starts children on its own CPU, and moves each to another one 10 ms later.
# Beside another: the time on its CPU is the program's, whatever else runs.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
cat >"$tmp/starts.py" <<'END'
import os, time

cpus = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpus[0]})
os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
for _ in range(10):
    child = os.fork()
    if not child:
        os._exit(0)
    until = time.monotonic() + 0.01
    while time.monotonic() < until:
        pass
    os.sched_setaffinity(child, {cpus[1]})
    os.waitpid(child, 0)
END
timeout 300 "$cap" -o "$tmp/trace" -- python3 "$tmp/starts.py" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- python3 starts.py" 0 $?
walk_to "$tmp/all" --state=runnable --depth 0 --who-ran --min-wait 10ms -c '^python3$' "$tmp/trace"
# Of other waits the program's own stack is known.
grep '^python3;\[unknown stack\];' "$tmp/all" >"$tmp/folded"
all=$(weight_of '\[runnable\]' "$tmp/folded")
expect_at_least "time before the first runs, ns" 100000000 "$all" "$tmp/folded"
expect_at_least "of it with the program on the CPU, ns" 95000000 "$(weight_of '\[runnable\];python3 ' "$tmp/folded")" "$tmp/folded"
# Where switches are untraced (see record_thread in lib.sh) it is rightly not known.
untraced=$(holes "$tmp/trace")
[ "$untraced" -gt 0 ] && echo "note: untraced switches: $untraced" ||
	expect_at_most "of it with nobody known, ns" 0 "$(weight_of '\[runnable\] [0-9]+$' "$tmp/folded")" "$tmp/folded"
