#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a partition is asked for is shown under the disk that it is on, and agrees with the kernel's counts.
# Beside another: it judges what is asked of a device of its own.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../disks.sh"
needs_bpf
truncate -s 64M "$tmp/image"
make_loop "$tmp/image"
disk=${loop#/dev/}
# 65536 sectors from sector 2048 on; a table of partitions would need a kernel that knows its kind.
addpart "$loop" 1 2048 65536 2>"$tmp/err" || skip "no partitions here: $(cat "$tmp/err")"
wait_for "the partition of $loop" 5 test -b "${loop}p1"
record_asked "${loop}p1" "/sys/block/$disk/${disk}p1"
expect_counts "$disk"
expect "requests under the name of the partition" "" "$(grep -m1 " disk ${disk}p1 " "$tmp/events")"
