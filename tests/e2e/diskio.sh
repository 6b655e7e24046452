#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A read that goes to the disk is ended by the device, and by no thread that happened to
# be on the CPU.
. "$(dirname "$0")/lib.sh"
needs_bpf
needs_disk
record "$tmp/trace" diskio --dir "$dir" --rounds 200
walk_to "$tmp/folded" -t "$(tid disk)" "$tmp/trace"
grep ';disk_reads;.*;--;' "$tmp/folded" | skeleton '^disk_reads$' >"$tmp/chains"
all=$(weight_of . "$tmp/chains")
expect_at_least "time in disk_reads that ended in the disk, of $all ns" $((all * 8 / 10)) \
	"$(weight_of '\[disk [^;]*\];\[(queued|device)\] ' "$tmp/chains")" "$tmp/chains"
grep ';disk_reads;' "$tmp/folded" >"$tmp/reads"
expect_at_least "of the time that disk measured for reads in which it slept" $(($(told disk waited_ns) / 4)) \
	"$(weight_of . "$tmp/reads")" "$tmp/reads"
expect "frames of the interrupted or idle thread" "" \
	"$(grep -e swapper -e cpu_startup_entry "$tmp/folded")"

record "$tmp/trace" diskio --sync --dir "$dir" --rounds 100
walk_to "$tmp/folded" -t "$(tid disk)" "$tmp/trace"
grep ';disk_syncs;.*;--;' "$tmp/folded" | skeleton '^disk_syncs$' >"$tmp/chains"
all=$(weight_of . "$tmp/chains")
expect_at_least "time in disk_syncs that ended in the disk, of $all ns" $((all / 2)) \
	"$(weight_of '\[disk [^;]*\];\[(queued|device)\] ' "$tmp/chains")" "$tmp/chains"
