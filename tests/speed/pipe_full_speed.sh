#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf bench sched pipe at full speed on one CPU: nothing is lost, 12 bytes an event at most.
. "$(dirname "$0")/../e2e/lib.sh"
needs_bpf
if perf bench sched pipe -l 10 >/dev/null 2>&1; then
	set -- perf bench sched pipe -l 200000
else # the same, by our own hand
	set -- "$load" pingpong --hops pipe --work 0 --rounds 200000 --seconds 20
fi
timeout 60 "$cap" -o "$tmp/trace" -- taskset -c 0 "$@" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- taskset -c 0 $*" 0 $?
read_info "$tmp/trace"
expect_at_least "events of 200000 round trips" 600000 "$events" "$tmp/info"
expect "events lost" 0 "$lost"
expect "events in the log and lost" "$counted" $((events + lost))
expect_at_most "bytes an event, all included" 12 "$(bytes_per_event "$tmp/trace")" "$tmp/info"
