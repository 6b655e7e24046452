#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Nobody reads the pipe that a trace is written into: the recorder waits, what it loses is counted, and
# after SIGHUP it ends as soon as the rest is read. With SECONDS the trace ends in time all the same.
. "$(dirname "$0")/lib.sh"
needs_bpf
mkfifo "$tmp/fifo"

# read_late SECONDS: $reader opens the pipe at once, and reads $tmp/trace from it so much later.
read_late() {
	{ sleep "$1"; cat; } <"$tmp/fifo" >"$tmp/trace" &
	reader=$!
	started="$started $reader"
}

busy 30
started="$started $!"
read_late 5
"$cap" --buffer-size 64K -o - >"$tmp/fifo" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
sleep 4
kill -HUP $recorder
sleep 0.2
kill -0 $recorder 2>/dev/null || fail "the recorder has ended before its trace was read"
wait $recorder
expect_exit "chaincap after SIGHUP" 0 $?
wait $reader
expect_whole "$tmp/trace"
expect_at_least "events lost while nobody read" 1 "$lost" "$tmp/info"

read_late 4
"$cap" --buffer-size 64K -o - 3 >"$tmp/fifo" 2>"$tmp/err"
expect_exit "chaincap 3" 0 $?
wait $reader
expect_whole "$tmp/trace"
expect_at_least "the trace's ns" 3000000000 "$(duration "$tmp/trace")"
expect_at_most "the trace's ns" 3001000000 "$(duration "$tmp/trace")"
