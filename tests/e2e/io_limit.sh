#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A control group that may ask a disk 20 times a second: its waits are told as the limit's, not as the disk's, and each of
# its requests is its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
needs_disk
number=$(stat -c '%Hd:%Ld' "$dir" 2>/dev/null)
[ -e "/sys/dev/block/$number" ] || skip "$dir is on no block device"
# The limit is that of the whole disk.
[ ! -e "/sys/dev/block/$number/partition" ] || number=$(cat "/sys/dev/block/$number/../dev")
group='' limits=
for folder in $(awk '$3 == "cgroup2" || ($3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/) { print $2 }' /proc/mounts); do
	if [ -e "$folder/blkio.throttle.write_iops_device" ]; then
		limits=blkio.throttle.write_iops_device limit="$number 20"
	elif grep -qw io "$folder/cgroup.subtree_control" 2>/dev/null; then
		limits=io.max limit="$number wiops=20"
	else
		continue
	fi
	group=$folder/chain-e2e.$$
	mkdir "$group" && break
done
[ "$group" ] || skip "no control group hierarchy with an I/O controller"
quota_end() { rmdir "$group" 2>/dev/null || { sleep 0.5; rmdir "$group"; }; }
echo "$limit" >"$group/$limits" 2>"$tmp/err" || skip "cannot limit $number (CONFIG_BLK_DEV_THROTTLING): $(cat "$tmp/err")"

first_screen sh -c 'echo $$ >"$0/cgroup.procs" && exec dd if=/dev/zero of="$1" bs=4k count=40 oflag=direct' \
	"$group" "$dir/chain-e2e.$$"
rm -f "$dir/chain-e2e.$$"
# At 20 a second 40 take two seconds, of which the disk has milliseconds.
shows "dd/[0-9]+ slept .*held back: disk [^ ]+ write: the I/O limit of its control group /${group##*/} was used up" 80
timeout 300 "$walk" -q -c '^dd$' -f io "$tmp/trace" >"$tmp/io" 2>"$tmp/err"
expect_exit "chainwalk -f io" 0 $?
# If it is done before dd sleeps, it is not known whose it is.
expect_at_least "writes of dd" 36 "$(awk '$2 == "write" { sum += $3 } END { printf "%.0f", sum }' "$tmp/io")" "$tmp/io"
walk_to "$tmp/folded" -c '^dd$' "$tmp/trace"
held=$(weight_of ';\[disk [^;]* write\];\[throttled [^;]*\] [0-9]+$' "$tmp/folded")
device=$(weight_of ';\[disk [^;]* write\];\[(queued|device)\] [0-9]+$' "$tmp/folded")
echo "note: dd waited $held ns for the limit and $device ns for the disk"
expect_at_least "time for which the limit held back writes" 1000000000 "$held" "$tmp/folded"
