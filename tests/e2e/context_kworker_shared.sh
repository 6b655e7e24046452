#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel workers that serve several: reader waits for typist, which works all the time, and not for noisy,
# whose bytes for somebody else the same workers pass on each 2 ms.
. "$(dirname "$0")/lib.sh"
needs_bpf
few_unknown=10
record_thread "$tmp/trace" "$tmp/folded" reader terminals --rounds 20 --work 20000
# The first byte may have been written where the recorder did not know typist's code yet: that link has no frames of it.
grep ';reader_waits;.*;--;' "$tmp/folded" |
	skeleton '^(reader_waits|flush_to_ldisc|noisy_types)$' | sed 's/kworker\/[^;]*/kworker/g' >"$tmp/chains"
all=$(weight_of ';reader_waits;' "$tmp/chains")
# From when typist has written on: the worker has no CPU, or passes on something of noisy's first.
own=$(weight_of ';flush_to_ldisc;kworker;\[run' "$tmp/chains")
typist=$(weight_of ';flush_to_ldisc;kworker;--;typist;' "$tmp/chains")
noisy=$(weight_of ';noisy_types;' "$tmp/chains")
expect_at_least "typist's part, of what is not the worker's own" $(((all - own) * 9 / 10)) "$typist" "$tmp/chains"
expect_at_least "typist's work, and what is the worker's own" $(($(told typist cpu_ns) * 8 / 10)) $((typist + own)) "$tmp/chains"
# A byte of typist's may be passed on with one of noisy's: those are microseconds.
expect_at_most "noisy's part" $((all / 100)) "$noisy" "$tmp/chains"
