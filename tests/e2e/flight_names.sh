#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A trace of the flight recorder that waits for names, because readers of files do not answer, has two seconds left
# once the next one is wanted: it has no names, and the next one is written.
# Beside another: it judges its own recorder.
. "$(dirname "$0")/lib.sh"
needs_bpf
# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"

fly "$tmp/trace" --flight 5s --names 60min
"$load" relay --rounds 3 >/dev/null || fail "the load does not run"
stopped=$(children "$recorder" chaincap-reader) # 15 characters
[ "$stopped" ] || fail "no process that starts readers"
for pid in $stopped; do
	kill -STOP "$pid"
done
kill -USR1 "$recorder"
writes() {
	[ "$(children "$recorder" chaincap-writer)" ]
}
wait_for "the first trace is being written" 10 writes
kill -USR1 "$recorder"
wait_for "the first trace" 6 written "$tmp/trace"
grep -q 'were not looked up in time' "$tmp/err.cap" || fail "not said: $(cat "$tmp/err.cap")"
wait_for "the second trace is being written" 10 writes
for pid in $stopped; do
	kill -CONT "$pid"
done
wait_for "the second trace" 10 written "$tmp/trace.1"
end_recording
for trace in "$tmp/trace" "$tmp/trace.1" "$tmp/trace.2"; do
	expect_whole "$trace"
done
"$walk" -q -c alpha "$tmp/trace.1" >"$tmp/folded"
grep -q ';bravo_wakes_alpha;' "$tmp/folded" || fail "no names once readers answer again: $(head -3 "$tmp/folded")"
