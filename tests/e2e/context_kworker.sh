#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel worker is a thread: what typist writes to a terminal reaches reader through one, and the
# chain goes on from the worker to typist, and from there to typist's timer.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=10
record_thread "$tmp/trace" "$tmp/folded" reader terminal --rounds $rounds --work 2000 --sleep 10000
grep ';reader_waits;.*;--;' "$tmp/folded" |
	skeleton '^(reader_waits|flush_to_ldisc|typist_types)$' | sed 's/kworker\/[^;]*/kworker/g' >"$tmp/chains"
typist='reader;reader_waits;--;flush_to_ldisc;kworker;--;typist_types;typist'
expect_work "typist's work" $((rounds * 2000000)) "$(told typist wall_ns)" "$(weight "$typist;[running]" "$tmp/chains")" \
	$rounds "$tmp/chains"
# reader may come back to its wait when typist already sleeps
timer=$(weight "$typist;--;[interrupt]" "$tmp/chains")
expect_at_least "typist's timer" $((rounds * 10000000 / 3)) "$timer" "$tmp/chains"
expect_at_most "typist's timer" $((rounds * 20000000)) "$timer" "$tmp/chains"
