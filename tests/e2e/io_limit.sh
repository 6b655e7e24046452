#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A control group that may ask a disk 20 times a second: its waits are told as the limit's, not as the disk's, and each of
# its requests is its own.
# Beside another: it judges what a control group of its own waits for.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../disks.sh"
needs_bpf
needs_disk
limit_writes 20 || skip "$why_not"

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
