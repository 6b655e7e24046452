#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ksoftirqd and kernel workers are threads: a read from a loop device is ended by ksoftirqd, which a worker woke.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ -e /dev/loop-control ] || skip "no loop devices (/dev/loop-control)"
[ "$(nproc --all)" -gt 1 ] || skip "with one CPU a loop device's requests are not completed by a softirq"
record_thread "$tmp/trace" "$tmp/folded" loopdev loopdev --dir "$tmp" --rounds 50
grep ';loopdev_reads;.*;--;' "$tmp/folded" |
	skeleton '^(loopdev_reads|run_ksoftirqd|loop_process_work)$' |
	sed 's/kworker\/[^;]*/kworker/g; s/ksoftirqd\/[0-9]*/ksoftirqd/g' >"$tmp/chains"
all=$(weight_of . "$tmp/chains")
ksoftirqd='loopdev;loopdev_reads;--;run_ksoftirqd;ksoftirqd'
expect_at_least "reads ended by ksoftirqd, of $all ns" $((all * 6 / 10)) \
	"$(weight_of "^$ksoftirqd;" "$tmp/chains")" "$tmp/chains"
expect_at_least "of them, time that the worker worked" 1 \
	"$(weight "$ksoftirqd;--;loop_process_work;kworker;[running]" "$tmp/chains")" "$tmp/chains"
expect_at_least "of them, time that ksoftirqd worked" 1 "$(weight "$ksoftirqd;[running]" "$tmp/chains")" "$tmp/chains"
