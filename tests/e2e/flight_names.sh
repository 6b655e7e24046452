#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A trace of the flight recorder whose readers of files are stopped is written all the same, without names of
# functions; the next one has them, once they go on.
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
wait_for "the first trace" 10 written "$tmp/trace"
for pid in $stopped; do
	kill -CONT "$pid"
done
"$load" relay --rounds 3 >/dev/null || fail "the load does not run"
kill -USR1 "$recorder"
wait_for "the second trace" 10 written "$tmp/trace.1"
end_recording
for trace in "$tmp/trace" "$tmp/trace.1" "$tmp/trace.2"; do
	expect_whole "$trace"
done
"$walk" -q -c alpha "$tmp/trace" >"$tmp/folded"
! grep ';bravo_wakes_alpha;' "$tmp/folded" || fail "names, though nobody could read files"
"$walk" -q -c alpha "$tmp/trace.1" >"$tmp/folded"
grep -q ';bravo_wakes_alpha;' "$tmp/folded" || fail "no names once readers answer again: $(head -3 "$tmp/folded")"
