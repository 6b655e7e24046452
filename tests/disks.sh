# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # what tests/e2e/lib.sh has
# What the end-to-end tests with a block device of their own share; sourced after lib.sh.

# make_loop [OPTION...] FILE: $loop, a loop device on it, which goes with the test; or skips.
loop='' mapped=''
make_loop() {
	[ -e /dev/loop-control ] || modprobe loop 2>/dev/null
	loop=$(losetup -f --show "$@" 2>"$tmp/err") || skip "no loop device here: $(cat "$tmp/err")"
	trap 'drop_devices; clean_up' EXIT
}
drop_devices() {
	[ -z "$mapped" ] || dmsetup --noudevsync remove --retry "$mapped"
	[ ! -b "${loop}p1" ] || delpart "$loop" 1
	losetup -d "$loop"
}

# record_asked DEVICE FOLDER: to $tmp/trace, while the device is read, written, synced and discarded, past the page
# cache and through it. Counts of FOLDER/stat from before and after go to $tmp/counts, events to $tmp/events.
record_asked() {
	udevadm settle 2>/dev/null
	timeout 300 "$cap" -o "$tmp/trace" -- sh -e -c '
		cat "$2/stat"
		dd if=/dev/zero of="$1" bs=64k count=100 oflag=direct conv=notrunc,fsync
		dd if="$1" of=/dev/null bs=4k count=300 iflag=direct
		dd if="$1" of=/dev/null bs=1M count=20
		blkdiscard -o 1M -l 4M "$1"
		cat "$2/stat"' sh "$1" "$2" >"$tmp/counts" 2>"$tmp/err"
	expect_exit "chaincap beside the work on $1" 0 $?
	"$walk" -q -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
	expect_exit "chainwalk -f events" 0 $?
}

# expect_counts NAME [FIELDS]: what the trace has of the device under that name is what the kernel counted; it is in
# $tmp/done then. FIELDS: of reads, sectors read, writes, sectors written, discards, sectors discarded; else all.
expect_counts() {
	grep " done .* disk $1 " "$tmp/events" >"$tmp/done"
	# flushes count as writes of nothing
	got=$(awk '{
		for (i = 1; $i != "disk"; i++) ;
		op = $(i + 2) == "flush" ? "write" : $(i + 2)
		n[op]++; bytes[op] += $(i + 3)
	} END { printf "%.0f %.0f %.0f %.0f %.0f %.0f", n["read"], bytes["read"] / 512, n["write"] + n["zero"],
		(bytes["write"] + bytes["zero"]) / 512, n["discard"], bytes["discard"] / 512 }' "$tmp/done")
	expected=$(awk 'NR == 1 { for (i = 1; i <= NF; i++) was[i] = $i }
		NR == 2 { printf "%.0f %.0f %.0f %.0f %.0f %.0f", $1 - was[1], $3 - was[3], $5 - was[5], $7 - was[7],
			$12 - was[12], $14 - was[14] }' "$tmp/counts")
	# The kernel does not run a program for a request that is done while it runs for another one; these are counted.
	lost=$("$walk" -q -f info "$tmp/trace" |
		awk '$1 == "lost:" || $1 == "more_lost:" { n += $2 } END { printf "%.0f\n", n }')
	fewer=$(echo "$got $expected" | awk '{ printf "%.0f\n", $7 + $9 + $11 - $1 - $3 - $5 }')
	if [ "$lost" -gt 0 ]; then
		expect_at_least "requests of $1 that were not lost, in all $got" 0 "$fewer" "$tmp/counts"
		expect_at_most "requests of $1 that were lost, in all $got" "$lost" "$fewer" "$tmp/counts"
	else
		expect "requests and sectors of $1 (reads, writes, discards)" \
			"$(echo "$expected" | cut -d ' ' -f "${2:-1-6}")" "$(echo "$got" | cut -d ' ' -f "${2:-1-6}")"
	fi
	expect_at_least "requests of $1" 400 "$(wc -l <"$tmp/done")"
	expect "requests of $1 that nobody is known to have asked for" "" "$(grep -m1 ' ? \| swapper' "$tmp/done")"
	echo "note: requests and sectors of $1: $got, lost: $lost"
}

# limit_writes N: $group, a control group that may ask the disk of $dir (needs_disk) N times a second to write; or $why_not.
# shellcheck disable=SC2034 # for who calls it
limit_writes() {
	number=$(stat -c '%Hd:%Ld' "$dir" 2>/dev/null)
	[ -e "/sys/dev/block/$number" ] || { why_not="$dir is on no block device"; return 1; }
	# The limit is that of the whole disk.
	[ ! -e "/sys/dev/block/$number/partition" ] || number=$(cat "/sys/dev/block/$number/../dev")
	for folder in $(awk '$3 == "cgroup2" || ($3 == "cgroup" && $4 ~ /(^|,)blkio(,|$)/) { print $2 }' /proc/mounts); do
		if [ -e "$folder/blkio.throttle.write_iops_device" ]; then
			limits=blkio.throttle.write_iops_device limit="$number $1"
		elif grep -qw io "$folder/cgroup.subtree_control" 2>/dev/null; then
			limits=io.max limit="$number wiops=$1"
		else
			continue
		fi
		group=$folder/chain-e2e.$$
		mkdir "$group" && break
		group=''
	done
	[ "$group" ] || { why_not="no control group hierarchy with an I/O controller"; return 1; }
	quota_end() { rmdir "$group" 2>/dev/null || { sleep 0.5; rmdir "$group"; }; }
	echo "$limit" >"$group/$limits" 2>"$tmp/err" && return
	why_not="cannot limit $number (CONFIG_BLK_DEV_THROTTLING): $(cat "$tmp/err")"
	return 1
}
