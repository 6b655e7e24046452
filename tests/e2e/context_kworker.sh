#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel worker is a thread: what typist writes to a terminal reaches reader through one, and the
# chain goes on from the worker to typist, and from there to typist's timer.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=10
few_unknown=10
record_thread "$tmp/trace" "$tmp/folded" reader terminal --rounds $rounds --work 2000 --sleep 10000
grep ';reader_waits;.*;--;' "$tmp/folded" |
	skeleton '^(reader_waits|flush_to_ldisc|typist_types)$' | sed 's/kworker\/[^;]*/kworker/g' >"$tmp/chains"
typist='reader;reader_waits;--;flush_to_ldisc;kworker;--;typist_types;typist'
running=$(weight "$typist;[running]" "$tmp/chains")
expect_at_most "typist running, and held" "$(told typist held_ns)" "$running" "$tmp/chains"
# The worker serves others, too. While they let it wait, have woken it, or it has no CPU, what typist does
# explains nothing; without them it explains all.
others=$(grep -v ';typist_types;' "$tmp/chains" | weight_of ';flush_to_ldisc;kworker;' -)
expect_at_least "typist's work, and what is the worker's own" $(($(told typist cpu_ns) * 9 / 10)) \
	$((running + others)) "$tmp/chains"
expect_at_least "typist's work in one round" 2000000 "$running" "$tmp/chains"
# reader may come back to its wait when typist already sleeps
timer=$(weight "$typist;--;[timer]" "$tmp/chains")
expect_at_least "typist's timer, and what is the worker's own" $((rounds * 10000000 / 3)) $((timer + others)) "$tmp/chains"
expect_at_most "typist's timer" $((rounds * 20000000)) "$timer" "$tmp/chains"
