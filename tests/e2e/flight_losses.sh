#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that are lost while a flight recorder runs are accounted for in what it writes: in each trace
# kernel = log + lost, for the window alone, whatever was lost or forgotten before it.
# Beside another: accounts hold whatever is lost.
. "$(dirname "$0")/lib.sh"
needs_bpf
busy 600
started="$started $!"
fly "$tmp/trace" --flight 2s --buffer-size 64K
sleep 1
kill -STOP $recorder
sleep 0.5
kill -CONT $recorder
sleep 0.5
kill -USR1 $recorder
wait_for "a trace with losses" 30 written "$tmp/trace"
expect_whole "$tmp/trace"
expect_at_least "events lost" 1000 "$lost" "$tmp/info"
timeout 300 "$walk" "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk of a trace with losses" 0 $?
grep -q '\[unknown\] ' "$tmp/folded" || fail "half a second was lost, but nothing is [unknown]"

# The stop lies before this window; buffers this small may lose something all the same.
sleep 3
kill -USR1 $recorder
wait_for "a trace after the losses" 30 written "$tmp/trace.1"
first=$lost
expect_whole "$tmp/trace.1"
echo "note: lost with the recorder stopped for 0.5 s: $first, in a later window: $lost"
end_recording
expect_whole "$tmp/trace.2"
expect "complaints about the accounts" "" "$(grep 'counts differ' "$tmp/err.cap")"
