#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A small buffer and a recorder that is stopped for a while: events are lost, and every one is counted.
# Beside another: accounts hold whatever is lost.
. "$(dirname "$0")/lib.sh"
needs_bpf
busy 600
started="$started $!"
"$cap" -o "$tmp/trace" --buffer-size 64K 3 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
wait_for "the recorder is at work" 10 has_bytes "$tmp/trace" 2000
kill -STOP $recorder
sleep 0.5
kill -CONT $recorder
wait $recorder
expect_exit "chaincap --buffer-size 64K, stopped for half a second" 0 $?
read_info "$tmp/trace"
expect_at_least "events lost" 1000 "$lost" "$tmp/info"
expect "events in the log and lost" "$counted" $((events + lost))
grep "^$tmp/trace: " "$tmp/err" | tr -d ',' | grep -q -w "$lost" || fail "the closing line does not say that $lost were lost:
$(cat "$tmp/err")"
timeout 300 "$walk" "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk of a trace with losses" 0 $?
grep -q '\[unknown\] ' "$tmp/folded" || fail "half a second was lost, but nothing is [unknown]"
