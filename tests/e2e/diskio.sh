#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A read that goes to the disk is ended by the device, and by no thread that happened to be on the CPU: chains end in
# the disk, its operation and the stage. So is a sync.
# Beside another: it judges how the waits of its own thread end.
. "$(dirname "$0")/lib.sh"
needs_bpf
needs_disk
# Some disks answer before whoever asks has gone to sleep, now and then or nearly always: what is not slept is no wait.
for rounds in 200 1000 5000; do
	record "$tmp/trace" diskio --dir "$dir" --rounds $rounds
	walk_to "$tmp/folded" -t "$(tid disk)" "$tmp/trace"
	grep ';disk_reads;' "$tmp/folded" >"$tmp/reads"
	slept=$(weight_of . "$tmp/reads") took=$(told disk waited_ns)
	[ "$slept" -lt $((took / 4)) ] || break
	echo "note: of $rounds reads, which took $took ns, $slept were slept"
done
grep ';--;' "$tmp/reads" >"$tmp/chains"
all=$(weight_of . "$tmp/chains")
expect_at_least "ns of disk_reads that were slept" 1 "$all" "$tmp/folded"
expect_at_least "time in disk_reads that ended in the disk, of $all ns" $((all * 8 / 10)) \
	"$(weight_of ';\[disk [^;]* read\];\[(queued|device)\] ' "$tmp/chains")" "$tmp/chains"
expect "frames of the interrupted or idle thread" "" \
	"$(grep -e swapper -e cpu_startup_entry "$tmp/folded")"
walk_to "$tmp/plain" --plain-ends -t "$(tid disk)" "$tmp/trace"
expect "ends with --plain-ends" "" "$(grep -m1 -e '\[disk' -e '\[timer\]' -e '\[network\]' "$tmp/plain")"
expect "the sum with --plain-ends" "$(weight_of . "$tmp/folded")" "$(weight_of . "$tmp/plain")"

record "$tmp/trace" diskio --sync --dir "$dir" --rounds 100
walk_to "$tmp/folded" -t "$(tid disk)" "$tmp/trace"
grep ';disk_syncs;.*;--;' "$tmp/folded" | skeleton '^disk_syncs$' >"$tmp/chains"
all=$(weight_of . "$tmp/chains")
expect_at_least "ns of disk_syncs that were slept" 1 "$all" "$tmp/folded"
expect_at_least "time in disk_syncs that ended in the disk, of $all ns" $((all / 2)) \
	"$(weight_of '\[disk [^;]*\];\[(queued|device)\] ' "$tmp/chains")" "$tmp/chains"
