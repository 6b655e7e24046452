#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Nobody reads the pipe that a trace is written into: the recorder waits, what it loses is counted, and
# after SIGHUP it ends as soon as the rest is read. With SECONDS the trace ends in time all the same.
# Beside another: the trace begins and ends at the time that was asked for, whoever is there.
. "$(dirname "$0")/lib.sh"
needs_bpf
mkfifo "$tmp/fifo"

# read_late SECONDS: $reader opens the pipe at once, and reads $tmp/trace from it so much later.
read_late() {
	{ sleep "$1"; cat; } <"$tmp/fifo" >"$tmp/trace" &
	reader=$!
	started="$started $reader"
}

busy 600
started="$started $!"
read_late 3
"$cap" --buffer-size 64K -o - >"$tmp/fifo" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
sleep 2
kill -HUP $recorder
sleep 0.2
kill -0 $recorder 2>/dev/null || fail "the recorder has ended before its trace was read"
wait $recorder
expect_exit "chaincap after SIGHUP" 0 $?
wait $reader
expect_whole "$tmp/trace"
expect_at_least "events lost while nobody read" 1 "$lost" "$tmp/info"

read_late 3
"$cap" --buffer-size 64K -o - 1.5 >"$tmp/fifo" 2>"$tmp/err"
expect_exit "chaincap 1.5" 0 $?
wait $reader
expect_whole "$tmp/trace"
expect_at_least "the trace's ns" 1500000000 "$(duration "$tmp/trace")"
expect_at_most "the trace's ns" 1501000000 "$(duration "$tmp/trace")"
