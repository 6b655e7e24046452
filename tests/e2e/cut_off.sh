#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A trace that is cut off anywhere, or damaged in the middle, is read up to there: exit status 3 and a word
# about it, never a crash or a hang.
# Beside another: it is about the file.
. "$(dirname "$0")/lib.sh"
needs_bpf
record "$tmp/trace" relay --rounds 5
size=$(wc -c <"$tmp/trace")
timeout 300 "$walk" "$tmp/trace" >"$tmp/whole" 2>"$tmp/err"
expect_exit "chainwalk of the whole trace" 0 $?

trailer=32 # bytes at most, from the last block on: it only saves time
# reads WHAT FILE CODES
reads() {
	timeout 300 "$walk" "$2" >"$tmp/out" 2>"$tmp/err"
	expect_exit "$1 (of $size bytes)" "$3" $?
	[ -s "$tmp/err" ] || fail "$1: chainwalk says nothing"
}

for bytes in 1 4 8 15 16 17 31 32; do # within the header: not a trace yet
	head -c $bytes "$tmp/trace" >"$tmp/cut"
	reads "cut off after $bytes bytes" "$tmp/cut" "1 3"
done
step=$((size / 40 + 1))
bytes=$((step / 2 + 1000))
while [ $bytes -lt "$size" ]; do
	head -c $bytes "$tmp/trace" >"$tmp/cut"
	codes=3
	[ $bytes -lt $((size - trailer)) ] || codes="0 3"
	reads "cut off after $bytes bytes" "$tmp/cut" "$codes"
	bytes=$((bytes + step))
done
head -c $((size - 1)) "$tmp/trace" >"$tmp/cut"
reads "cut off by one byte" "$tmp/cut" "0 3"

bytes=$((step / 2 + 1000))
while [ $bytes -lt "$size" ]; do
	cp "$tmp/trace" "$tmp/cut"
	# sixteen bytes that cannot all be what was there
	printf 'damaged damaged!' | dd of="$tmp/cut" bs=1 seek=$bytes conv=notrunc 2>/dev/null
	reads "damaged at byte $bytes" "$tmp/cut" "0 3"
	bytes=$((bytes + step * 3))
done
