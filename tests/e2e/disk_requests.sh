#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What disks are asked for: chains end in the disk, its operation and the stage; what was done agrees with the
# kernel's own counts of a device that nobody else uses, and how long it took with what bpftrace measures.
. "$(dirname "$0")/lib.sh"
needs_bpf
needs_disk

record "$tmp/trace" diskio --dir "$dir" --rounds 200
disk_tid=$(tid disk)
walk_to "$tmp/folded" --state blocked -t "$disk_tid" "$tmp/trace"
grep ';disk_reads;.*;--;' "$tmp/folded" >"$tmp/reads"
all=$(weight_of . "$tmp/reads")
expect_at_least "ns in disk_reads" 1000000 "$all" "$tmp/folded"
expect_at_least "time in disk_reads that ended in a disk's read, of $all ns" $((all * 8 / 10)) \
	"$(weight_of ';\[disk [^;]* read\];\[(queued|device)\] ' "$tmp/reads")" "$tmp/reads"
walk_to "$tmp/plain" --state blocked --plain-ends -t "$disk_tid" "$tmp/trace"
expect "ends with --plain-ends" "" "$(grep -m1 -e '\[disk' -e '\[timer\]' -e '\[network\]' "$tmp/plain")"
expect "the sum with --plain-ends" "$(weight_of . "$tmp/folded")" "$(weight_of . "$tmp/plain")"
"$cap" --no-block -o "$tmp/none" -- "$load" diskio --dir "$dir" --rounds 20 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap --no-block" 0 $?
"$walk" -f events "$tmp/none" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk -f events" 0 $?
expect_at_least "events with --no-block" 100 "$(wc -l <"$tmp/events")" "$tmp/err"
expect "disk requests with --no-block" "" "$(grep -m1 -e ' asks ' -e ' done ' "$tmp/events")"

# ---- a device of our own -----------------------------------------------------------------------
truncate -s 64M "$tmp/image"
loop=$(losetup -f --show "$tmp/image" 2>"$tmp/err") || {
	echo "note: no loop device here: $(cat "$tmp/err")"
	exit 0
}
trap 'losetup -d "$loop"; clean_up' EXIT
name=${loop#/dev/}
counts() { awk '{ print $1, $3, $5, $7, $12, $14 }' "/sys/block/$name/stat"; }
work() {
	dd if=/dev/zero of="$loop" bs=64k count=100 oflag=direct conv=notrunc,fsync 2>"$tmp/err" &&
		dd if="$loop" of=/dev/null bs=4k count=300 iflag=direct 2>"$tmp/err" &&
		dd if="$loop" of=/dev/null bs=1M count=30 2>"$tmp/err" &&
		blkdiscard -o 1M -l 4M "$loop" 2>"$tmp/err"
}
udevadm settle 2>/dev/null
sleep 0.5
number=$(($(stat -c '0x%t' "$loop") << 20 | $(stat -c '0x%T' "$loop")))
if command -v bpftrace >/dev/null; then
	bpftrace -e "
		tracepoint:block:block_rq_issue /args->dev == $number/ { @at[args->sector] = nsecs; }
		tracepoint:block:block_rq_complete /args->dev == $number && @at[args->sector]/ {
			@n = count(); @ns = sum(nsecs - @at[args->sector]); delete(@at[args->sector]); }
		END { clear(@at); }" >"$tmp/bpftrace" 2>&1 &
	bpftrace=$!
	started="$started $bpftrace"
	for _ in $(seq 100); do
		grep -q Attach "$tmp/bpftrace" && break
		sleep 0.1
	done
	is_running "$bpftrace" || fail "bpftrace: $(cat "$tmp/bpftrace")"
	sleep 1
fi
begin_recording "$tmp/trace"
before=$(counts)
work || fail "the work on $loop: $(cat "$tmp/err")"
after=$(counts)
sleep 0.5
end_recording
"$walk" -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
grep " done .* disk $name " "$tmp/events" >"$tmp/done"
# requests and sectors: read, written (flushes count as writes of nothing), discarded
got=$(awk '{
	for (i = 1; $i != "disk"; i++) ;
	op = $(i + 2) == "flush" ? "write" : $(i + 2)
	n[op]++; bytes[op] += $(i + 3)
} END { printf "%.0f %.0f %.0f %.0f %.0f %.0f", n["read"], bytes["read"] / 512, n["write"] + n["zero"],
	(bytes["write"] + bytes["zero"]) / 512, n["discard"], bytes["discard"] / 512 }' "$tmp/done")
expected=$(echo "$before $after" | awk '{ for (i = 1; i <= 6; i++) printf "%.0f%s", $(i + 6) - $i, i < 6 ? " " : "" }')
expect "requests and sectors of $loop (reads, writes, discards)" "$expected" "$got"
expect_at_least "requests" 400 "$(wc -l <"$tmp/done")"
expect "requests of $name that nobody is known to have asked for" "" "$(grep -m1 ' ? \| swapper' "$tmp/done")"
echo "note: requests and sectors of $loop: $got"
[ -n "${bpftrace:-}" ] || { echo "note: bpftrace is not here to compare with"; exit 0; }
kill -INT "$bpftrace"
wait "$bpftrace"
theirs=$(awk '/^@n:/ { n = $2 } /^@ns:/ { ns = $2 } END { printf "%.0f %.0f", n, n ? ns / n : 0 }' "$tmp/bpftrace")
ours=$(awk '{
	for (i = 1; i < NF && $i != "for"; i++) ;
	if ($i == "for") { n++; ns += $(i + 1) }
} END { printf "%.0f %.0f", n, n ? ns / n : 0 }' "$tmp/done")
expect_at_least "requests with a time at the device, of ${theirs% *} of bpftrace's" $((${theirs% *} * 95 / 100)) "${ours% *}" "$tmp/bpftrace"
# Two recorders are not called at the same time: some microseconds for each.
expect_at_least "mean time at the device, ns, beside bpftrace's" $((${theirs#* } * 8 / 10 - 10000)) "${ours#* }"
expect_at_most "mean time at the device, ns, beside bpftrace's" $((${theirs#* } * 12 / 10 + 10000)) "${ours#* }"
echo "note: at the device $ours (requests, mean ns), by bpftrace $theirs"
