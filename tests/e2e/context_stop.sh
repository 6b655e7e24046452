#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A stopped process (state T) is a wait, and whoever continues it is its waker.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" stopped stop --rounds 3 --sleep 20000
grep ';do_signal_stop;.*;--;' "$tmp/folded" | skeleton '^(stopped_works|stopper_continues)$' >"$tmp/chains"
grep -q '^stopped;stopped_works;--;stopper_continues;stopper;' "$tmp/chains" || fail "no chain with its functions
$(cat "$tmp/chains")"
by_threads <"$tmp/folded" >"$tmp/chains"
stopper='stopped;--;stopper'
# One of the three rounds: on a busy machine it takes a while until it gets the CPU on which it stops.
least=19000000 most=$(($(told stopper waited_ns) + 3 * 200000))
for what in "$stopper;" "$stopper;--;\\[timer\\]"; do
	got=$(weight_of "^$what" "$tmp/chains")
	expect_at_least "time from stop to continue, $what" $least "$got" "$tmp/chains"
	expect_at_most "time from stop to continue, $what" $most "$got" "$tmp/chains"
done
walk_to "$tmp/stopped" -t "$(tid stopped)" --state=T "$tmp/trace"
# the signal may meet it where its own function is not on the stack as yet
expect "the same by its state" "$(weight_of "^stopped;.*stopper;" "$tmp/chains")" "$(weight_of ';--;' "$tmp/stopped")"

# one that was stopped before the recording began and is not continued in it
sleep 60 &
sleeper=$!
started="$started $sleeper"
for _ in $(seq 100); do
	grep -q '^sleep$' /proc/$sleeper/comm && break
	sleep 0.05
done
kill -STOP $sleeper
for _ in $(seq 100); do
	grep -q ') T ' /proc/$sleeper/stat && break
	sleep 0.05
done
timeout 300 "$cap" -o "$tmp/trace" 0.5 2>"$tmp/err"
expect_exit "chaincap 0.5" 0 $?
walk_to "$tmp/stopped" -t $sleeper --state=T "$tmp/trace"
grep -q '^sleep;.*;do_signal_stop;\(.*;\)*\[not woken\] ' "$tmp/stopped" ||
	fail "a stopped process is not shown as such
$(cat "$tmp/stopped")"
