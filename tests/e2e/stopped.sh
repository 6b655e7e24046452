#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A recorder that is stopped (Ctrl-Z, SIGTSTP) counts what it loses meanwhile, says so, and goes on after
# SIGCONT. One that is stopped over its end has the time that it was asked for. SIGHUP ends it in order.
# Beside another: the trace begins and ends at the time that was asked for, whoever is there.
. "$(dirname "$0")/lib.sh"
needs_bpf

# state: of the recorder, as ps shows it; what it did when it was told to stop.
state() { sed 's/.*) \(.\).*/\1/' "/proc/$recorder/stat"; }
is_stopped() { [ "$(state)" = T ]; }

busy 600
started="$started $!"
begin_recording "$tmp/trace" --buffer-size 1M
sleep 0.5
kill -TSTP $recorder
wait_for "the recorder stops" 5 is_stopped
sleep 1
kill -CONT $recorder
sleep 0.5
kill -HUP $recorder
wait $recorder
expect_exit "chaincap after SIGTSTP, SIGCONT and SIGHUP" 0 $?
expect_whole "$tmp/trace"
expect_at_least "events lost while it was stopped" 1000 "$lost" "$tmp/info"
grep -q "chaincap: .* $lost lost" "$tmp/err.cap" || fail "the loss is not said: $(cat "$tmp/err.cap")"
# Losses stand in the middle, with events before and after them.
"$walk" -q --format=events "$tmp/trace" >"$tmp/events"
awk '$3 == "lost" { lost += $4; next } !lost { before++ } lost { after++ }
	END { exit !(before > 1000 && after > 1000) }' "$tmp/events" ||
	fail "it did not go on: $(grep -n ' lost ' "$tmp/events" | head -n 3)"

"$cap" -o "$tmp/trace" 2 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
sleep 1.5
kill -TSTP $recorder
sleep 2
kill -CONT $recorder
wait $recorder
expect_exit "chaincap 2, stopped over its end" 0 $?
expect_whole "$tmp/trace"
expect_at_least "the trace's ns" 2000000000 "$(duration "$tmp/trace")"
expect_at_most "the trace's ns" 2001000000 "$(duration "$tmp/trace")"
