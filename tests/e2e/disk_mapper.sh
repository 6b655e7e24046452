#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A device-mapper device passes what it is asked for on to the disk below it. Chains and tables name the one that the
# thread asked, by the name that somebody gave it, and its counts agree with the kernel's.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../disks.sh"
needs_bpf
command -v dmsetup >/dev/null || skip "dmsetup is not installed"
grep -qw device-mapper /proc/devices || modprobe -q dm_mod 2>/dev/null ||
	skip "this kernel has no device-mapper (CONFIG_BLK_DEV_DM)"
truncate -s 64M "$tmp/image"
make_loop "$tmp/image"
# 60000 sectors, from sector 4096 of the disk below on. Without udev, as on a machine just booted, nobody would
# answer who waits for it.
dmsetup --noudevsync create "chain-e2e-$$" --table "0 60000 linear $loop 4096" 2>"$tmp/err" || fail "dmsetup: $(cat "$tmp/err")"
mapped=chain-e2e-$$
dmsetup mknodes "$mapped"
record_asked "/dev/mapper/$mapped" "/sys/block/dm-$(dmsetup info -c --noheadings -o minor "$mapped")"
# The kernel counts what device-mapper is asked for, which may be several requests of the disk below.
expect_counts "$mapped" 2,4,6
expect "requests under the name of the disk below" "" "$(grep -m1 " disk ${loop#/dev/} " "$tmp/events")"
