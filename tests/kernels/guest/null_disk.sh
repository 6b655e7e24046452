# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # what tests/e2e/lib.sh has; for who sources this
# A block device in memory whose requests take a known time; to be sourced after lib.sh.

# null_disk NANOSECONDS: $disk is its name; a timer's interrupt completes each request after so long.
null_disk() {
	for module in configfs null_blk; do
		[ -e "/sys/module/$module" ] || fail "no $module: see run.sh"
	done
	config=/sys/kernel/config
	[ -d $config/nullb ] || mount -t configfs configfs $config || fail "no configfs"
	ls /sys/block >"$tmp/others"
	mkdir $config/nullb/known || fail "null_blk makes no device"
	echo 16 >$config/nullb/known/size # MB
	echo 1 >$config/nullb/known/memory_backed
	echo 2 >$config/nullb/known/irqmode
	echo "$1" >$config/nullb/known/completion_nsec
	echo 1 >$config/nullb/known/power || fail "null_blk does not begin"
	disk=$(cd /sys/block && for d in *; do grep -qxF "$d" "$tmp/others" || echo "$d"; done)
	[ -b "/dev/$disk" ] || fail "no block device: $disk"
}
