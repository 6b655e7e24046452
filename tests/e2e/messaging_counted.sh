#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf bench sched messaging: what the kernel counted is in the log or counted as lost; 12 bytes an event
# at most.
. "$(dirname "$0")/lib.sh"
needs_bpf
if perf bench sched messaging -g 1 -l 10 >/dev/null 2>&1; then
	set -- perf bench sched messaging -g 6 -l 1000
else # many threads, one after the other
	set -- "$load" convoy --threads 160 --work 0 --rounds 2000 --seconds 600
fi
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- "$@" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- $*" 0 $?
read_info "$tmp/trace"
expect_at_least "events" 10000 "$events" "$tmp/info"
expect "events in the log and lost" "$counted" $((events + lost))
expect_at_most "bytes an event, all included" 12 "$(bytes_per_event "$tmp/trace")" "$tmp/info"
