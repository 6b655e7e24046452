#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process that lives for some milliseconds has whole user stacks from its first sleep on, though it is built
# without frame pointers and nothing was known of it before.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
begin_recording "$tmp/trace" 30
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sh -c 'sleep 0.01'
done
end_recording
grep '^chaincap: user stacks:\|^chaincap: unwinding:' "$tmp/err" | sed 's/^chaincap/note/'

# Each slept in nanosleep, called by main, and main by the C library.
"$walk" --format=events -v -c '^sleep$' "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
asleep=$(awk '/clock_nanosleep/ && /libc/ { n++ } END { printf "%.0f\n", n }' "$tmp/events")
begun=$(grep -c '__libc_start_main' "$tmp/events")
expect_at_least "sleeps of processes of some milliseconds" 10 "$asleep" "$tmp/events"
expect_at_least "stacks that begin where a program does" "$asleep" "$begun" "$tmp/events"
