#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who had the CPU before a thread's first run, also if the thread was moved before that: a program that
# nothing of its kind can preempt starts children on its own CPU, and moves each to another one 10 ms later.
# On a busy machine the kernel gives CPUs for moments to those that starve (the deadline server of fair tasks, 6.12): so
# the program says for how long it ran itself, and leaves out children that have run before they are moved.
# Beside another: the time on its CPU is the program's, whatever else runs.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
cat >"$tmp/starts.py" <<'END'
import os, time

cpus = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpus[0]})
os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
children = waited = ran = 0
for _ in range(10):
    begins, tell = os.pipe()
    child = os.fork()
    if not child:
        os.write(tell, b"%d" % time.monotonic_ns())
        os._exit(0)
    forked, cpu = time.monotonic_ns(), time.thread_time_ns()
    while time.monotonic_ns() < forked + 10_000_000:
        pass
    moved, cpu = time.monotonic_ns(), time.thread_time_ns() - cpu
    os.sched_setaffinity(child, {cpus[1]})
    os.waitpid(child, 0)
    if int(os.read(begins, 32)) >= moved:
        children, waited, ran = children + 1, waited + moved - forked, ran + cpu
    os.close(begins)
    os.close(tell)
print(children, waited, ran)
END
timeout 300 "$cap" -o "$tmp/trace" -- python3 "$tmp/starts.py" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- python3 starts.py" 0 $?
walk_to "$tmp/all" --state=runnable --depth 0 --who-ran --min-wait 10ms -c '^python3$' "$tmp/trace"
read -r children waited ran <"$tmp/out"
expect_at_least "children that were moved before they ran" 5 "$children"
# Of other waits the program's own stack is known.
grep '^python3;\[unknown stack\];' "$tmp/all" >"$tmp/folded"
all=$(weight_of '\[runnable\]' "$tmp/folded")
expect_at_least "time before the first runs, ns" "$waited" "$all" "$tmp/folded"
expect_at_least "of it with the program on the CPU, ns" $((ran * 95 / 100)) "$(weight_of '\[runnable\];python3 ' "$tmp/folded")" "$tmp/folded"
# Where switches are untraced (see record_thread in lib.sh) it is rightly not known.
untraced=$(holes "$tmp/trace")
[ "$untraced" -gt 0 ] && echo "note: untraced switches: $untraced" ||
	expect_at_most "of it with nobody known, ns" 0 "$(weight_of '\[runnable\] [0-9]+$' "$tmp/folded")" "$tmp/folded"
