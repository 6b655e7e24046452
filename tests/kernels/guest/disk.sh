#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests to a block device on this kernel too: a device in memory whose requests take a known time. Waits for it
# end in the device, which had them for that time, and what was done is what the kernel counts.
. "$(dirname "$0")/../../e2e/lib.sh"
# shellcheck source=tests/kernels/guest/null_disk.sh
. "$(dirname "$0")/null_disk.sh"
needs_more "requests to disks"
rounds=20 latency_ns=20000000
null_disk $latency_ns

cat >"$tmp/work" <<END
dd if=/dev/zero of=/dev/$disk bs=16k count=$rounds oflag=direct conv=notrunc 2>"$tmp/err" &&
	exec dd if=/dev/$disk of=/dev/null bs=4k count=$rounds iflag=direct 2>"$tmp/err"
END
counts() { awk '{ printf "%.0f %.0f %.0f %.0f\n", $1, $3, $5, $7 }' "/sys/block/$disk/stat"; }
# Whoever else looks at a new device has done so.
sleep 1
before=$(counts)
timeout 60 "$cap" -F 0 -o "$tmp/trace" -- bash "$tmp/work" >"$tmp/out" 2>"$tmp/err.cap"
status=$?
cat "$tmp/err.cap" >>"$tmp/err"
expect_exit "chaincap -- dd" 0 $status
after=$(counts)
expect_whole "$tmp/trace"

walk_to "$tmp/folded" --state blocked --objects "$tmp/trace"
for op in read write; do
	end=";\[file /dev/$disk\];.*;\[disk $disk $op\];"
	device=$(weight_of "$end\[device\] " "$tmp/folded")
	expect_at_least "$op: ns that the device had the requests" $((rounds * latency_ns * 9 / 10)) "$device" "$tmp/folded"
	# Each one waits for an interrupt that may come late.
	expect_at_most "$op: the same" $((rounds * latency_ns * 3)) "$device" "$tmp/folded"
	grep -qE "^dd;.*;(__|__libc_)?$op$end\[device\] " "$tmp/folded" || fail "$op: not below dd's own call
$(cat "$tmp/folded")"
done

"$walk" -q -f events "$tmp/trace" 2>"$tmp/err" | grep " done .* disk $disk " >"$tmp/done"
got=$(awk '{
	for (i = 1; $i != "disk"; i++) ;
	n[$(i + 2)]++; bytes[$(i + 2)] += $(i + 3)
} END { printf "%.0f %.0f %.0f %.0f", n["read"], bytes["read"] / 512, n["write"], bytes["write"] / 512 }' "$tmp/done")
expected=$(echo "$before $after" | awk '{ for (i = 1; i <= 4; i++) printf "%.0f%s", $(i + 4) - $i, i < 4 ? " " : "" }')
expect "requests and sectors of $disk (reads, writes)" "$expected" "$got"
expect_at_least "requests" $((2 * rounds)) "$(wc -l <"$tmp/done")" "$tmp/done"
echo "note: requests and sectors of $disk: $got"
