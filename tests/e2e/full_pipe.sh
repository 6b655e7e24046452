#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Nobody reads the pipe that a trace is written into: the recorder waits, what it loses is counted, and
# after SIGHUP it ends as soon as the rest is read. With SECONDS the trace ends in time all the same.
# Beside another: the trace begins and ends at the time that was asked for, whoever is there.
. "$(dirname "$0")/lib.sh"
needs_bpf
mkfifo "$tmp/fifo"

# read_late: $reader opens the pipe at once, and reads $tmp/trace from it when there is a file $tmp/read.
read_late() {
	rm -f "$tmp/read"
	{ until [ -e "$tmp/read" ]; do sleep 0.1; done; cat; } <"$tmp/fifo" >"$tmp/trace" &
	reader=$!
	started="$started $reader"
}
# How often the busy threads have switched so far; have_switched N: so often.
switches() { cat "/proc/$relay/task/"*/status | awk '/_ctxt_switches/ { n += $2 } END { print n }'; }
have_switched() { [ "$(switches)" -ge "$1" ]; }

busy 600
relay=$!
started="$started $relay"
read_late
"$cap" -v --buffer-size 64K -o - >"$tmp/fifo" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
# However slow the machine is, more than what there is room for.
wait_for "chaincap records" 60 grep -q 'ring buffers' "$tmp/err"
wait_for "300000 switches" 10 have_switched $(($(switches) + 300000))
kill -HUP $recorder
sleep 0.2
kill -0 $recorder 2>/dev/null || fail "the recorder has ended before its trace was read"
touch "$tmp/read"
wait $recorder
expect_exit "chaincap after SIGHUP" 0 $?
wait $reader
expect_whole "$tmp/trace"
expect_at_least "events lost while nobody read" 1 "$lost" "$tmp/info"

read_late
{ sleep 3; touch "$tmp/read"; } &
started="$started $!"
"$cap" --buffer-size 64K -o - 1.5 >"$tmp/fifo" 2>"$tmp/err"
expect_exit "chaincap 1.5" 0 $?
wait $reader
expect_whole "$tmp/trace"
expect_at_least "the trace's ns" 1500000000 "$(duration "$tmp/trace")"
expect_at_most "the trace's ns" 1501000000 "$(duration "$tmp/trace")"
