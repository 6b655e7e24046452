#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A stopped process (state T) is a wait, and whoever continues it is its waker.
. "$(dirname "$0")/lib.sh"
needs_bpf
record_thread "$tmp/trace" "$tmp/folded" stopped stop --rounds 3 --sleep 20000
grep ';do_signal_stop;.*;--;' "$tmp/folded" | skeleton '^(stopped_works|stopper_continues)$' >"$tmp/chains"
stopper='stopped;stopped_works;--;stopper_continues;stopper'
expect_about "stopped while stopper slept" 60000000 "$(weight "$stopper;--;[interrupt]" "$tmp/chains")" "$tmp/chains"
expect_near "all of the time from stop to continue" "$(told stopper waited_ns)" "$(weight_of "^$stopper;" "$tmp/chains")" \
	3 "$tmp/chains"
walk_to "$tmp/stopped" -t "$(tid stopped)" --state=T "$tmp/trace"
expect_near "the same by its state" "$(told stopper waited_ns)" "$(weight_of ';--;' "$tmp/stopped")" 3 "$tmp/stopped"
